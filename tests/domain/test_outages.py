"""What a running turn gets back for outages: what it lost while it had time left, once."""

from __future__ import annotations

import pytest

from domain.commands import ExtendTurn
from domain.outages import Outage, owed
from domain.times import from_micros, to_micros

from .test_table import three

TURN = 60
"""Seconds of a turn of `three`, which is not the first of its round."""


def moment(game, seconds):
    """The recorded time so many seconds after the running turn began."""
    return from_micros(to_micros(game.turn.at) + round(seconds * 1_000_000))


def outage(game, began, ended):
    return Outage(moment(game, began), moment(game, ended))


@pytest.mark.parametrize(
    ("outages", "seconds"),
    [
        ([], 0),
        ([(-20, 0)], 0),
        ([(-20, 7)], 7),
        ([(-20, 7.000001)], 8),
        ([(10, 30)], 20),
        ([(10, 10.4)], 1),
        ([(59.999999, 500)], 441),
        ([(60, 90)], 0),
        ([(90, 95)], 0),
        # What was given back keeps the turn running, so it can lose that too.
        ([(10, 40), (70, 75)], 35),
        ([(70, 75), (10, 40)], 35),
        ([(10, 12.5), (20, 22.5)], 5),
        ([(10, 40), (90, 95)], 30),
    ],
)
def test_what_is_owed(outages, seconds):
    game = three(turn=2).game
    assert game.due_seconds == TURN
    assert owed(game, [outage(game, *each) for each in outages]) == seconds


def test_it_is_given_back_once_and_explains_when_the_turn_is_due():
    table = three(turn=2)
    game = table.game
    outages = [outage(game, 10, 30.5)]
    events = table.do(ExtendTurn(game.round, 2, owed(game, outages)))
    assert [(event.type, event.data) for event in events] == [
        ("turn.extended", {"seat": game.turn.seat, "seconds": 21, "reason": "outage"})
    ]
    assert events[0].by == {"kind": "clock", "seat": game.turn.seat}
    assert table.game.due_at == moment(table.game, TURN + 21)
    assert owed(table.game, outages) == 0
    assert owed(table.game, [*outages, outage(game, 75, 80)]) == 5
    assert owed(table.game, [*outages, outage(game, 81, 90)]) == 0


def test_another_turn_gets_nothing():
    table = three(turn=2)
    assert table.do(ExtendTurn(table.game.round, 3, 20)) == []
    assert table.do(ExtendTurn(table.game.round + 1, 2, 20)) == []


def test_no_turn_is_owed_nothing():
    table = three()
    far = [Outage("2000-01-01T00:00:00.000000Z", "2100-01-01T00:00:00.000000Z")]
    assert owed(table.game, far) > 0
    table.resign(0)
    table.resign(1)
    assert owed(table.game, far) == 0
