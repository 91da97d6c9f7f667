"""Playing matches between bots, by the engine and without a server.

Everything follows from the plan and a match's number: the secret, the seats' dice and the times
are drawn from the plan's seed, so the same plan plays the same matches in any number of processes.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from domain import bots
from domain.commands import (
    BotMove,
    Command,
    Context,
    CreateGame,
    MakeMove,
    SeatBot,
    StartGame,
)
from domain.events import Event
from domain.game import Game, decide, new_game, view
from domain.redaction import Viewer
from domain.times import from_micros, to_micros

Observer = Callable[[str, list[Event], str], None]
"""Told the match's id, and the events and the time of each append."""

SECOND = 1_000_000
_BEGINNING = to_micros("2026-01-01T00:00:00.000000Z")
_APART = 3600 * SECOND
"""Between the starts of two matches."""
_LONGEST_THOUGHT = 20.0
"""Seconds that a bot takes at most in the record; never more than half of its time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is played. `kinds` names a bot for each seat; with each match they move on by one
    seat, so that in many matches each of them has sat everywhere equally often."""

    ruleset: str
    kinds: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    turn_seconds: int = 60

    def seated(self, number: int) -> tuple[str, ...]:
        """The bots by seat in match `number`."""
        shift = number % len(self.kinds)
        return self.kinds[shift:] + self.kinds[:shift]


@dataclass(frozen=True, slots=True)
class Round:
    """How a round went. `winner` is None where it was void; `ended` is `emptied`, `limit`,
    `void-repetition` or `void-limit`."""

    first: int
    winner: int | None
    ended: str
    moves: int
    turns: int


@dataclass(frozen=True, slots=True)
class Match:
    """How a match went. `winner` is None where it was drawn; `ended` is the reason of its last
    event."""

    game_id: str
    kinds: tuple[str, ...]
    rounds: tuple[Round, ...]
    winner: int | None
    ended: str


def play(plan: Plan, number: int, observe: Observer | None = None) -> Match:
    """Play match `number` of the plan to its end. `Refused` if its table cannot be opened."""
    return _Table(plan, number, observe).play()


class _Table:
    """One match in play, with its secret, its clock and its bots' dice.

    Every table has a player as host, so the bot of seat 0 plays for one.
    """

    def __init__(self, plan: Plan, number: int, observe: Observer | None) -> None:
        self.plan = plan
        self.kinds = plan.seated(number)
        self.observe = observe
        # All of the plan, so that no two records are of one match's id.
        drawn = random.Random(f"{json.dumps(asdict(plan), sort_keys=True)}/{number}")
        self.clock = _BEGINNING + number * _APART
        self.game = new_game(_uuid7(self.clock, drawn))
        self.host = _uuid7(self.clock, drawn)
        self.context = Context(drawn.randbytes(32))
        self.dice = [random.Random(drawn.getrandbits(64)) for _ in self.kinds]
        self.thoughts = random.Random(drawn.getrandbits(64))

    def play(self) -> Match:
        plan = self.plan
        options = dict(plan.options)
        self._do(CreateGame(self.host, plan.ruleset, options, plan.turn_seconds, len(self.kinds)))
        for kind in self.kinds[1:]:
            self._do(SeatBot(self.host, kind))
        self._do(StartGame(self.host))
        rounds: list[Round] = []
        first, moves, turns = self.game.first, 0, 0
        while (turn := self.game.turn) is not None:
            moves, turns = moves + 1, turn.number
            for event in self._do(self._move(self.game, turn.seat, turn.number)):
                if event.type in ("round.won", "round.void"):
                    rounds.append(_round(event, first, moves, turns))
                    moves = 0
                elif event.type == "round.dealt":
                    first = event.data["first"]
        result = self.game.result
        assert result is not None
        return Match(
            self.game.game_id, self.kinds, tuple(rounds), result.get("winner"), result["reason"]
        )

    def _move(self, game: Game, seat: int, number: int) -> Command:
        shown = view(game, Viewer(seat))
        listed = shown["you"]["legal_moves"]
        move = bots.choose(self.kinds[seat], shown, listed, self.dice[seat])
        if seat == game.host:
            return MakeMove(self.host, move, game.round, number)
        return BotMove(seat, move, game.round, number)

    def _do(self, command: Command) -> list[Event]:
        events, self.game = decide(self.game, command, self.context)
        if self.observe is not None:
            # The clock is in the record only: nothing here runs out of time.
            longest = min(_LONGEST_THOUGHT, self.plan.turn_seconds / 2)
            self.clock += round(self.thoughts.uniform(0.2, longest) * SECOND)
            at = from_micros(self.clock)
            self.game.stamp(at)
            self.observe(self.game.game_id, events, at)
        return events


def _round(event: Event, first: int, moves: int, turns: int) -> Round:
    reason = event.data["reason"]
    if event.type == "round.void":
        return Round(first, None, f"void-{reason}", moves, turns)
    return Round(first, event.data["seat"], reason, moves, turns)


def _uuid7(micros: int, drawn: random.Random) -> str:
    """An id of the time `micros` (RFC 9562, section 5.7) from the match's own randomness."""
    number = micros // 1000 << 80 | 7 << 76 | drawn.getrandbits(12) << 64
    return str(uuid.UUID(int=number | 2 << 62 | drawn.getrandbits(62)))
