"""A position folded from its round on is the one folded from the whole record."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from domain.commands import BotMove, ComeBack, Command, Context, ExpireTurn, MakeMove, Resign
from domain.events import Recorded
from domain.game import Game, bind, decide, differences, evolve, fold, fold_round
from domain.refusals import STALE_TURN, TURN_EXPIRED, Refused

from .games import CELLS, RandomGame, cell_name
from .positions import SECRET, dump, started

GAMES = int(os.environ.get("ABBOT_GAMES", "100")) // 100 or 1
"""Of each cell; each is compared at every version."""


def _parts(log: list[Recorded], version: int) -> list[Recorded]:
    """What a load reads of the first `version` events."""
    began = dealt = None
    for event in log[:version]:
        if event.type == "game.started":
            began = event.version
        elif event.type == "round.dealt":
            dealt = event.version
    if began is None or dealt is None:
        return log[:version]
    return log[:began] + log[dealt - 1 : version]


def _answer(game: Game, command: Command) -> Any:
    """All that deciding `command` leads to, or what its refusal says."""
    if isinstance(command, MakeMove):
        command = bind(game, command)
    try:
        decision = decide(game, command, Context(SECRET, "2027-01-01T00:00:00.000000Z"))
    except Refused as refused:
        return refused.code, refused.detail, refused.rule, refused.facts, refused.errors
    return decision.events, dump(decision.game)


def _commands(play: RandomGame, game: Game, dice: random.Random) -> list[Command]:
    """Moves that are legal, illegal, late, early and of former turns; leaving and coming back."""
    seat = dice.choice(list(game.seats))
    player = game.seats[seat].player_id
    if game.turn is None or player is None:
        return [ExpireTurn(game.round, 1)]
    rounds = range(game.known_from, game.round + 2)
    move = dice.choice(play.referee.moves()) if dice.random() < 0.5 else play.random_move()
    mover = game.turn.seat
    return [
        MakeMove(player, move),
        MakeMove(player, move, dice.choice(rounds), dice.randint(1, game.turn.number + 1)),
        BotMove(mover, move, game.round, game.turn.number),
        Resign(player),
        ComeBack(player),
        ExpireTurn(game.round, game.turn.number),
    ]


@pytest.mark.parametrize("cell", CELLS, ids=cell_name)
def test_both_ways_of_folding_agree_at_every_version(cell: tuple[str, int, dict[str, Any]]) -> None:
    ruleset, seats, options = cell
    for seed in range(GAMES):
        play = RandomGame(ruleset, seats, options, seed=f"resumed {seed}")
        dice = random.Random(f"{cell_name(cell)} {seed}")
        game_id, log = play.table.game.game_id, play.table.log
        whole, part = fold(game_id, log), fold(game_id, log)
        for step, events in enumerate(play.play()):
            for event in events:
                evolve(whole, event)
                if event.type == "round.dealt":
                    part = fold_round(game_id, _parts(log, event.version))
                else:
                    evolve(part, event)
                assert differences(whole, part) == [], event
                assert part.known_from == max(1, part.round)
            if step % 25 == 0 or play.referee.over:
                part = fold_round(game_id, _parts(log, len(log)))
                assert differences(whole, part) == []
                assert dump(part) == dump(whole)
                for command in [] if play.referee.over else _commands(play, part, dice):
                    assert _answer(part, command) == _answer(whole, command), command


def test_a_difference_is_named() -> None:
    table = started("halleluja", 3)
    one, other = table.game, table.game.copy()
    assert differences(one, other) == []
    other.scores = {**other.scores, 1: 7}
    other.play.pending = 4
    other.ran_out = {0: frozenset({(1, 1)})}
    assert differences(one, other) == ["scores", "ran_out", "play.pending"]


def test_only_an_earlier_rounds_expired_turns_are_not_known() -> None:
    """Which is why whoever loads asks for the whole record when a move names an earlier round."""
    table = started("vallelujah", 3, options={"away_after": 100})
    assert table.game.turn is not None
    player = table.player(table.game.turn.seat)
    table.expire()
    while table.game.round == 1:
        table.expire()
    late = MakeMove(player, {"type": "lead", "units": ["coral-1"]}, 1, 1)
    whole = fold(table.game.game_id, table.log)
    part = fold_round(table.game.game_id, _parts(table.log, len(table.log)))
    assert (whole.known_from, part.known_from) == (1, 2)
    assert differences(whole, part) == []
    assert _answer(whole, late)[0] == TURN_EXPIRED
    assert _answer(part, late)[0] == STALE_TURN


def test_events_that_are_left_out_elsewhere_do_not_fold() -> None:
    table = started("halleluja", 2)
    table.expire()
    with pytest.raises(ValueError, match="does not follow"):
        fold_round(table.game.game_id, table.log[:3] + table.log[4:])
    with pytest.raises(ValueError, match="does not follow"):
        fold_round(table.game.game_id, table.log[:-2] + table.log[-1:])
