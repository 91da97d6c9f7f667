"""Rulings x options x seat counts: random games, each step checked against a second referee.

What holds of every step: exactly the events that the second referee expects, every card where it
was said to be, one seat to move with the moves that it may make and no other, a fold of the record
equal to the live game; and every game ends.

100 games a cell; `ABBOT_GAMES` sets another number, and `ABBOT_LONG=1` plays 2,000.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from domain.game import Game, fold, listed_moves

from .games import CELLS, RandomGame, cell_name
from .naive import jcs
from .positions import dump
from .whereabouts import Whereabouts

LONG = os.environ.get("ABBOT_LONG") == "1"
GAMES = int(os.environ.get("ABBOT_GAMES", "2000" if LONG else "100"))
MOST_STEPS = 3 * 9 * 500 * 5


def spelled_out(listed: list[dict]) -> list[dict]:
    """The listed moves with every choice made, without the turn they name: the canonical list."""
    moves = []
    for entry in listed:
        move = {name: part for name, part in entry["move"].items() if name not in ("round", "turn")}
        moves += [{**move, "take": unit} for unit in entry.get("take_from", [])] or [move]
        moves += [{**move, "wish": symbol} for symbol in entry.get("wish_from", [])]
    return sorted(moves, key=jcs)


class Checks:
    """Everything that is checked along one game."""

    def __init__(self, play: RandomGame) -> None:
        self.play = play
        self.places = Whereabouts(play.table.game.ruleset)

    def after(self, events: list) -> None:
        for event in events:
            self.places.follow(event)
        if self.play.referee.over:
            return
        if self.play.rng.random() < 0.5:
            self.play.check_legal()
        if self.play.rng.random() < 0.05:
            self.play.check_accepted()
            self.play.check_refused(tries=6)
            self.check_listed()
            self.check_views()
        if self.play.rng.random() < 0.006:
            self.check_fold()

    def check_listed(self) -> None:
        game, referee = self.play.table.game, self.play.referee
        listed = listed_moves(game, referee.mover)
        assert spelled_out(listed) == referee.moves()
        for entry in listed:
            assert entry["move"]["round"] == game.round
            assert entry["move"]["turn"] == game.turn.number
            assert entry["rules"]
            due = referee.with_call(entry["move"]).get("call")
            assert entry.get("call_due") == due
        for seat in game.seats:
            if seat != referee.mover:
                assert listed_moves(game, seat) == []

    def check_views(self) -> None:
        """The counts and cards that each seat sees are where the events put them."""
        places, table = self.places, self.play.table
        for seat in table.game.active:
            seen = table.seen(seat)
            assert sorted(seen["you"]["hand"]) == sorted(places.hands[seat])
            sizes = {entry["seat"]: entry["hand_size"] for entry in seen["seats"]}
            assert all(sizes[other] == len(places.hands[other]) for other in table.game.active)
            laid = seen["table"]
            if "top" in laid:
                assert laid["top"] == places.discards[-1]
                assert laid["draw_pile"] == len(places.pile)
                assert laid["discard_pile"] == len(places.discards)
            else:
                assert sorted(laid["discarded"]) == sorted(places.discards)
                arena = laid.get("arena") or {"units": []}
                assert sorted(arena["units"]) == sorted(places.arena)

    def check_fold(self) -> None:
        """A fold of the record is the live game, and plays on in its place."""
        table = self.play.table
        folded = fold(table.game.game_id, table.log)
        assert dump(folded) == dump(table.game) == dump(table.game.copy())
        table.game = folded


@pytest.mark.parametrize("cell", CELLS, ids=cell_name)
def test_random_games(cell):
    for seed in range(GAMES):
        play = RandomGame(*cell, seed=seed)
        checks = Checks(play)
        for step, events in enumerate(play.play()):
            checks.after(events)
            assert step < MOST_STEPS
        checks.check_fold()
        assert play.table.game.over
        assert play.table.game.turn is None or play.table.game.due_at is None


@pytest.mark.parametrize("cell", CELLS[::3], ids=cell_name)
def test_a_fold_can_start_at_any_deal(cell):
    """What outlives a round is in the deal: the events before it only told of earlier rounds."""
    for seed in range(5):
        play = RandomGame(*cell, seed=("deal", seed))
        for _ in play.play():
            pass
        table = play.table
        opening = [event for event in table.log if event.version <= play.version_started + 1]
        deals = [event.version for event in table.log if event.type == "round.dealt"]
        for version in deals[1:]:
            story = [*opening, *table.log[version - 1 :]]
            renumbered = [replace(event, version=n) for n, event in enumerate(story, 1)]
            assert lasting(fold(table.game.game_id, renumbered)) == lasting(table.game)


def lasting(game: Game) -> dict:
    """A game without the version numbers in it."""
    seen = dump(game)
    for part in (seen, *(part for part in seen.values() if isinstance(part, dict))):
        part.pop("version", None)
        part.pop("touched", None)
    return seen

