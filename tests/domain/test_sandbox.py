"""Sandbox games: the name deals, the host's clock goes ahead, and the record says so for ever."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from domain.commands import AdvanceClock, CreateGame, ExpireTurn, Resign
from domain.game import differences, fold, fold_round, overdue
from domain.outages import Outage, owed
from domain.sandbox import MOST_AHEAD_MS, is_deal, secret_of
from domain.times import from_micros, to_micros
from domain.verification import verify
from tests.domain.verification.records import as_seen, by_name, chained, changed, wrong

from . import naive
from .positions import GAME_ID, PLAYERS, Table, lobby, started

OTHER_ID = "019ab3c0-5d00-7000-8000-00000000000b"
DAY_MS = 24 * 3600 * 1000


def sandbox(ruleset: str = "halleluja", deal: str = "first-steps", **more) -> Table:
    """A match of two in the sandbox, just begun."""
    return started(ruleset, secret=secret_of(deal), deal=deal, **more)


def dealt(table: Table):
    event = next(event for event in table.log if event.type == "round.dealt")
    return {name: event.data[name] for name in ("first", "hands", "undealt")}


def test_the_name_deals_the_same_cards_in_any_game():
    here, there = sandbox(), sandbox(game_id=OTHER_ID)
    assert dealt(here) == dealt(there)
    assert here.game.commitment != there.game.commitment
    assert dealt(sandbox(deal="second-steps")) != dealt(here)
    assert dealt(sandbox(seeds={1: "0a"})) != dealt(here)
    assert dealt(started(secret=secret_of("first-steps"))) != dealt(here)


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_the_cards_follow_from_the_name_as_the_format_says(ruleset):
    secret = naive.deal_secret("first-steps")
    table = sandbox(ruleset)
    named = {"seeds": ["", ""], "sandbox_deal": "first-steps"}
    lot = naive.words(naive.key(secret, "", purpose="lot", round_number=0, n=0, **named))
    opener = naive.below(lot, 2)
    first = 1 - opener if ruleset == "halleluja" else opener
    stream = naive.words(naive.key(secret, "", purpose="deal", round_number=1, n=0, **named))
    whole, each = (naive.CARDS, 5) if ruleset == "halleluja" else (naive.UNITS, 9)
    hands, rest = naive.deal(stream, whole, [0, 1], first, each)
    shown = dealt(table)
    assert shown["first"] == first
    assert shown["hands"] == {str(seat): hand for seat, hand in hands.items()}
    assert shown["undealt"] == (rest[1:] if ruleset == "halleluja" else rest)


def test_the_record_and_every_view_say_what_it_is():
    table = sandbox()
    assert table.log[0].data["sandbox"] == {"deal": "first-steps"}
    assert (table.seen()["sandbox"], table.seen()["deal"]) == (True, "first-steps")
    real = started()
    assert "sandbox" not in real.log[0].data
    assert not {"sandbox", "deal"} & set(real.seen())


def test_names_of_deals():
    for name in ("a", "9", "first-steps", "x" * 64):
        assert is_deal(name)
    for name in ("", "-a", "a-", "A", "a b", "a_b", "ä", "x" * 65, "a\n"):
        assert not is_deal(name)
        refused = Table().refused(CreateGame(PLAYERS[0], "halleluja", deal=name))
        assert (refused.code, refused.errors[0]["field"]) == ("validation", "deal")


def test_the_clock_goes_ahead_and_its_turn_runs_out_by_it():
    table = sandbox(turn_seconds=14 * 24 * 3600)
    before = table.game.due_at
    table.advance(14 * DAY_MS)
    assert table.game.due_at == before
    assert not overdue(table.game, table.now)
    table.advance(5001)
    assert table.game.ahead_ms == 14 * DAY_MS + 5001
    assert overdue(table.game, table.now)
    table.do(ExpireTurn(1, 1), after=0)
    assert table.game.clock("2026-11-30T00:00:00.000000Z") == "2026-12-14T00:00:05.001000Z"
    assert [check for check in verify(chained(table.log)) if check.ok is False] == []


def test_whose_clock_it_is():
    table = sandbox()
    for player in (PLAYERS[1], PLAYERS[5]):
        assert table.refused(AdvanceClock(player, 1000, 1000)).code == "forbidden"
    assert started().refused(AdvanceClock(PLAYERS[0], 1000, 1000)).code == "forbidden"
    waiting = lobby(secret=secret_of("a"), deal="a")
    assert waiting.refused(AdvanceClock(PLAYERS[0], 1000, 1000)).code == "game-not-active"
    table.resign(1)
    assert table.game.over
    assert table.refused(AdvanceClock(PLAYERS[0], 1000, 1000)).code == "game-not-active"


def test_the_clock_never_goes_back_nor_for_ever():
    table = sandbox()
    table.advance(1000)
    for ahead, until in (
        (1000, 2000),
        (999, 2000),
        (3000, 2000),
        (MOST_AHEAD_MS + 1, MOST_AHEAD_MS + 1),
        (2000, MOST_AHEAD_MS + 1),
    ):
        assert table.refused(AdvanceClock(PLAYERS[0], ahead, until)).code == "validation"


def test_what_outlives_a_round_is_in_its_deal():
    table = sandbox("vallelujah", options={"rounds_to_win": 2})
    table.advance(10_000)
    while table.game.round == 1:
        table.move(table.game.turn.seat, **first_move(table))
    table.move(table.game.turn.seat, **first_move(table))
    deal = next(event for event in table.log if event.data.get("round") == 2)
    began = next(event for event in table.log if event.type == "game.started")
    later = [event for event in table.log if event.version >= deal.version]
    part = fold_round(GAME_ID, [*table.log[: began.version], *later])
    assert differences(part, fold(GAME_ID, table.log)) == []
    assert part.ahead_ms == 10_000


def first_move(table: Table):
    move = dict(table.legal()[0])
    return {"type": move.pop("type"), **move}


def whole_match() -> Table:
    table = sandbox(turn_seconds=60)
    table.advance(20_000)
    table.move(table.game.turn.seat, **first_move(table))
    table.advance(61_000)
    table.do(ExpireTurn(table.game.round, table.game.turn.number), after=0)
    table.do(Resign(PLAYERS[1]))
    assert table.game.over
    return table


def test_an_honest_record_passes_every_check():
    checks = verify(chained(whole_match().log))
    assert [check for check in checks if check.ok is not True] == []


def test_a_false_record_is_found():
    record = chained(whole_match().log)
    end = len(record)

    def first(kind):
        return next(i for i, event in enumerate(record) if event.type == kind)

    # Taken for a real one, its cards come from elsewhere.
    unmarked = changed(record, 0, lambda data: data.pop("sandbox"))
    assert wrong(unmarked)[0][0] == "shuffle"
    other = changed(record, 0, lambda data: data.update(sandbox={"deal": "another"}))
    assert wrong(other)[0] == ("commitment", end)
    for mark in ({}, True, {"deal": 5}, {"deal": "first-steps", "more": 1}, []):
        falsified = changed(record, 0, lambda data, mark=mark: data.update(sandbox=mark))
        assert wrong(falsified) == [("legality", 1)], mark
    clock = first("clock.advanced")
    # A turn that ran out too early or that was still played too late.
    assert "deadlines" in {name for name, _ in wrong(without(record, first("turn.expired") - 1))}
    for change in ({"ahead_ms": 0}, {"ahead_ms": -5}, {"ahead_ms": "1"}, {"until_ms": 5}):
        falsified = changed(record, clock, lambda data, change=change: data.update(change))
        assert wrong(falsified) == [("legality", clock + 1)], change
    moved = copy.deepcopy(record)
    moved[clock] = replace(moved[clock], by={"kind": "player", "seat": 1, "player_id": PLAYERS[1]})
    assert wrong(chained(moved)) == [("legality", clock + 1)]


def without(record, index):
    """Neither the event at the index, nor the time that it took."""
    ahead = record[index].data["ahead_ms"] - 20_000
    later = [
        replace(event, at=from_micros(to_micros(event.at) - ahead * 1000))
        for event in record[index + 1 :]
    ]
    return chained([*record[:index], *later])


def test_a_real_game_has_no_clock_that_moves():
    record = chained(whole_match().log)
    clock = next(i for i, event in enumerate(record) if event.type == "clock.advanced")
    real = started()
    false = chained([*real.log, replace(record[clock], version=len(real.log) + 1)])
    shown = by_name(verify(as_seen(false, None)))
    assert (shown["legality"].ok, shown["legality"].version) == (False, len(false))


def test_what_a_running_one_shows_is_followed():
    table = sandbox()
    table.advance(20_000)
    table.move(table.game.turn.seat, **first_move(table))
    table.advance(61_000)
    table.do(ExpireTurn(table.game.round, table.game.turn.number), after=0)
    running = chained(table.log)
    for seat in (None, 0, 1):
        checks = verify(as_seen(running, seat))
        assert [check for check in checks if check.ok is False] == []


def test_an_outage_gives_a_sandbox_turn_nothing_back():
    table = sandbox()
    at = to_micros(table.game.turn.at)
    outage = Outage(from_micros(at + 1_000_000), from_micros(at + 9_000_000))
    assert owed(table.game, [outage]) == 0
    real = started()
    assert owed(real.game, [outage]) == 8
