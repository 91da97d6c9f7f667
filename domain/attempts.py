"""Refused moves: which are kept, and what tells later whether the refusal was right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .commands import MakeMove
from .events import Recorded
from .refusals import GAME_NOT_ACTIVE, ILLEGAL_MOVE, NOT_YOUR_TURN, STALE_TURN, TURN_EXPIRED
from .state import Game

KEPT = frozenset({ILLEGAL_MOVE, NOT_YOUR_TURN, STALE_TURN, TURN_EXPIRED, GAME_NOT_ACTIVE})
"""The codes of the refusals that the referee gives of a move in a match. What is no move at all
(`validation`), is by someone without a seat in play (`forbidden`) or fails before it is judged
(If-Match) is none of them."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A refused move of a seated player.

    `at` is the record's clock when it was received, `version` the position that it was judged on,
    `due_at` the deadline of the turn that it was meant for, or of the one that ran. `bound` is the
    turn that it was tied to when it was received.
    """

    attempt_id: str
    seat: int
    player_id: str
    at: str
    version: int
    due_at: str | None
    move: dict[str, Any]
    bound: dict[str, Any]
    code: str
    rule: str | None
    detail: str

    def command(self) -> MakeMove:
        """The move as the referee judged it."""
        move = {name: value for name, value in self.move.items() if name not in ("round", "turn")}
        return MakeMove(
            self.player_id,
            move,
            self.bound.get("round"),
            self.bound.get("turn"),
            self.bound.get("touched"),
        )


def as_posted(command: MakeMove) -> dict[str, Any]:
    """The move as its player sent it."""
    named = {"round": command.round, "turn": command.turn}
    return command.move | {name: value for name, value in named.items() if value is not None}


def binding(command: MakeMove) -> dict[str, Any]:
    """What a move is tied to, for `Attempt.bound`."""
    named = {"round": command.round, "turn": command.turn, "touched": command.touched}
    return {name: value for name, value in named.items() if value is not None}


def deadline(
    game: Game, events: Iterable[Recorded], seat: int, code: str, command: MakeMove
) -> str | None:
    """The deadline that the refusal of `command` is to be held against: of the turn of `seat` that
    ran out, where it came too late, else of the running turn. `events` lead to `game`."""
    if code != TURN_EXPIRED:
        return game.due_at
    due: str | None = None
    number, round_number = 0, 0
    for event in events:
        if event.type == "turn.expired" and event.data["seat"] == seat:
            named = command.round in (None, round_number) and command.turn in (None, number)
            due = event.data["due_at"] if named else due
        if event.type == "round.dealt":
            round_number = event.data["round"]
        if "turn" in event.data:
            number = event.data["turn"]["number"]
    return due
