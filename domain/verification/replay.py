"""A record decided again: from each position its events must be exactly what the rules say.

Everything is derived anew from what was asked for: what follows from a move, each deal, reshuffle,
lot and automatic pick, salts, who did it, and each time against the turn's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .. import game as domain
from ..canonical import canonical
from ..commands import Command, Context
from ..events import CATALOGUE, PUBLIC, Event, Recorded
from ..game import Refused, decide
from .checks import DEADLINES, LEGALITY, RESULT, SHUFFLE
from .inference import command_behind, creation

_DRAWN_BY_CHANCE = {"turned_up", "first", "dealer", "turn"}
"""What of a deal is public and comes from the secret all the same."""
_PASSING_TIME = ("turn.expired", "turn.extended", "seat.away")
_MOST_SHOWN = 120

UNFOLLOWABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What following an event raises that has the form of one and makes no sense."""


class Wrong(Exception):
    """The first event that is not what it must be."""

    def __init__(self, check: str, version: int, detail: str) -> None:
        super().__init__(detail)
        self.check = check
        self.version = version
        self.detail = detail


class Replay:
    """A position that is led along a record, decision by decision; `seen` counts what was checked.

    `secret` None: nothing that comes from it can be decided, so only a lobby can.
    """

    def __init__(self, events: Sequence[Recorded], secret: bytes | None) -> None:
        self.events = events
        self.game = domain.new_game(events[0].game_id)
        self.index = 0
        self.seen: Counter[str] = Counter()
        self._context = Context(secret or bytes(32))

    def run(self, until: int | None = None) -> None:
        """Go on to the end of the record, or to the decision with the event at index `until`.
        Raises Wrong."""
        last = len(self.events) if until is None else until
        while self.index < last:
            try:
                self._step()
            except UNFOLLOWABLE as error:
                raise Wrong(
                    LEGALITY,
                    self._next.version,
                    f"{_name(self._next)} cannot be followed: {type(error).__name__} {error}",
                ) from None

    @property
    def _next(self) -> Recorded:
        return self.events[min(self.index, len(self.events) - 1)]

    def _step(self) -> None:
        game, event = self.game, self._next
        self._check_time(event)
        command: Command | None
        if self.index:
            command = command_behind(game, self.events, self.index)
        else:
            command = creation(self.events)
        if command is None:
            raise Wrong(LEGALITY, event.version, f"nothing leads to {_name(event)} here")
        try:
            decision = decide(game, command, self._context)
        except Refused as refused:
            raise Wrong(LEGALITY, event.version, f"{_name(event)}: {_sentence(refused)}") from None
        if not decision.events:
            raise Wrong(LEGALITY, event.version, f"{_name(event)} changes nothing here")
        for number, expected in enumerate(decision.events):
            self._compare(expected, event, decision.events[:number])
            self.index += 1
        decision.game.stamp(event.at)
        self.game = decision.game
        self.seen["decisions"] += 1

    def _check_time(self, event: Recorded) -> None:
        due = self.game.due_at
        if due is None or event.type == "turn.extended":
            return
        self.seen["times"] += 1
        if event.type == "turn.expired" and event.at <= due:
            raise Wrong(
                DEADLINES,
                event.version,
                f"the turn expired at {event.at}, though it was due at {due} and a move exactly "
                "then counts",
            )
        if event.type != "turn.expired" and event.at > due:
            raise Wrong(
                DEADLINES,
                event.version,
                f"{_name(event)} at {event.at} comes after the turn was due, {due}",
            )

    def _compare(self, expected: Event, first: Recorded, before: list[Event]) -> None:
        """The event at the index must be `expected`, of the same append as `first`; `before` are
        the events of the decision before it."""
        if self.index >= len(self.events):
            raise Wrong(
                LEGALITY,
                self.events[-1].version + 1,
                f"the record ends before it, though {expected.type} follows at once",
            )
        found = self.events[self.index]
        if found.type != expected.type:
            detail = f"{_name(found)} stands where {expected.type} must follow"
            raise Wrong(self._kind(expected, found, before), found.version, detail)
        if canonical(found.by) != canonical(expected.by):
            detail = f"{_name(found)} is by {_shown(expected.by)}, not by {_shown(found.by)}"
            raise Wrong(LEGALITY, found.version, detail)
        if found.at != first.at:
            detail = f"{_name(found)} happened at {first.at}, with what it follows from"
            raise Wrong(DEADLINES, found.version, detail)
        for name in sorted(expected.data.keys() | found.data.keys()):
            if not self._same(expected, found, name):
                check = self._kind(expected, found, before, name)
                raise Wrong(check, found.version, _difference(expected, found, name))
        self._count(found)

    def _same(self, expected: Event, found: Recorded, name: str) -> bool:
        if name == "commitment":
            return name in found.data and name in expected.data  # a check of its own
        if name not in expected.data or name not in found.data:
            return False
        return canonical(expected.data[name]) == canonical(found.data[name])

    def _kind(
        self, expected: Event, found: Recorded, before: list[Event], name: str | None = None
    ) -> str:
        """The check that a difference belongs to."""
        if name is not None and expected.type in CATALOGUE:
            hidden = any(
                field.name == name and field.visibility != PUBLIC
                for field in CATALOGUE[expected.type].fields
            )
            if hidden or (expected.type == "round.dealt" and name in _DRAWN_BY_CHANCE):
                return SHUFFLE
        if expected.type.startswith("game.") and self.index > 1 and expected.type != "game.started":
            return RESULT
        if expected.type in ("round.won", "round.void"):
            return RESULT
        if expected.type == "turn.expired" and name == "due_at":
            return DEADLINES
        if self._is_other_pick(expected, found, before):
            return SHUFFLE
        return LEGALITY

    def _is_other_pick(self, expected: Event, found: Recorded, before: list[Event]) -> bool:
        """Whether both are legal moves of a turn that is played by itself."""
        if expected.by.get("kind") != "clock" or expected.type in _PASSING_TIME:
            return False
        position = self.game.copy()
        for event in before:
            position = domain.evolve(position, event)
        turn = position.turn
        move = position.rules.move_of(found)
        if turn is None or move is None:
            return False
        move = {key: value for key, value in move.items() if key != "call"}
        return move in position.rules.legal_moves(position, turn.seat)

    def _count(self, event: Recorded) -> None:
        self.seen["events"] += 1
        self.seen[event.type] += 1
        self.seen["salts"] += "salt" in event.data
        by_itself = event.by.get("kind") == "clock" and event.type not in _PASSING_TIME
        self.seen["picks"] += by_itself and self.game.rules.move_of(event) is not None


def _name(event: Recorded) -> str:
    seat = event.data.get("seat")
    return f"{event.type} of seat {seat}" if type(seat) is int else str(event.type)


def _sentence(refused: Refused) -> str:
    faults = "; ".join(f"{error['field']} {error['message']}" for error in refused.errors)
    rule = f" ({refused.rule})" if refused.rule else ""
    return f"{refused.detail}{rule}" if not faults else f"{refused.detail} {faults}"


def _difference(expected: Event, found: Recorded, name: str) -> str:
    if name not in found.data:
        return f"{_name(found)} lacks {name}, {_shown(expected.data[name])}"
    if name not in expected.data:
        return f"{_name(found)} has {name} {_shown(found.data[name])}, which does not belong there"
    return (
        f"{name} of {_name(found)} is {_shown(found.data[name])}; "
        f"it must be {_shown(expected.data[name])}"
    )


def _shown(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 1] + "…"
