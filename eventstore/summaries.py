"""What must stand beside a game's record: its summary, its seats, its deadlines.

All of it is written with the events, and follows from them: so it can be checked, and made anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from domain.events import Recorded
from domain.game import Game
from domain.state import ABANDONED, FINISHED
from domain.times import plus_seconds

from .appending import _seats as seat_rows
from .appending import _table as table_settings

FIXED = ("ruleset", "ruleset_version", "visibility", "sandbox", "created_at")
"""Columns of `games` that only the owner of the tables may change."""


def summary(game: Game, events: Sequence[Recorded]) -> dict[str, Any]:
    """The row of `games` that the whole record `events`, folded to `game`, leads to; the secret and
    the game before a rematch are in no event until the end."""
    turn = game.turn
    return {
        "ruleset": game.ruleset,
        "ruleset_version": game.ruleset_version,
        "visibility": game.visibility,
        "sandbox": game.sandbox,
        "created_at": events[0].at,
        "updated_at": events[-1].at,
        "status": game.status,
        "version": game.version,
        **table_settings(game),
        "late_until": late_until(game, events[-1].at),
        "turn_seat": None if turn is None else turn.seat,
        "turn_player": None if turn is None else game.seats[turn.seat].player_id,
        "started_version": _latest(events, "game.started"),
        "round_version": _latest(events, "round.dealt"),
    }


def late_until(game: Game, ended_at: str) -> str | None:
    """Until when spectators are not told that the match is over; None where they are at once."""
    if game.status not in (FINISHED, ABANDONED) or not game.spectator_delay_seconds:
        return None
    return plus_seconds(game.real_time(ended_at), game.spectator_delay_seconds)


def _latest(events: Sequence[Recorded], kind: str) -> int | None:
    return next((event.version for event in reversed(events) if event.type == kind), None)


def seats(game: Game) -> list[dict[str, Any]]:
    """The rows of `seats`, by seat."""
    return sorted(seat_rows(game), key=lambda row: int(row["seat"]))


def wrong_columns(row: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """What of a row is not as it must be, in words."""
    for name, value in expected.items():
        if row.get(name) != value:
            yield f"{name} is {row.get(name)!r} and must be {value!r}"


def wrong_seats(rows: Sequence[Mapping[str, Any]], game: Game) -> Iterator[str]:
    """The same for a game's seats."""
    present = {int(row["seat"]): row for row in rows}
    expected = {int(row["seat"]): row for row in seats(game)}
    for seat in sorted(present.keys() | expected.keys()):
        if seat not in expected:
            yield f"seat {seat} is there and must not be"
        elif seat not in present:
            yield f"seat {seat} is not there"
        else:
            wrong = wrong_columns(present[seat], expected[seat])
            yield from (f"seat {seat}: {each}" for each in wrong)


def deadlines(game: Game) -> dict[str, dict[str, Any]]:
    """The rows of `deadlines` by kind: a running turn has one, and that of a computer player one
    more for its move, whose time is not in the record."""
    turn = game.turn
    if turn is None:
        return {}
    running = {"round": game.round, "turn": turn.number}
    assert game.due_at is not None
    # By the real clock, whatever the game's own says.
    due_at = game.real_time(game.due_at)
    due: dict[str, dict[str, Any]] = {"turn": {**running, "due_at": due_at}}
    if game.seats[turn.seat].bot is not None and turn.seat not in game.away:
        due["bot"] = running
    return due


def wrong_deadlines(rows: Sequence[Mapping[str, Any]], game: Game) -> Iterator[str]:
    """The same for a game's deadlines. One for a computer player's move that came to nothing may be
    left over while the game runs."""
    present = {str(row["kind"]): row for row in rows}
    expected = deadlines(game)
    for kind in sorted(present.keys() - expected.keys()):
        if game.turn is None or kind == "turn":
            yield f"a deadline ({kind}) is left over"
    for kind, values in expected.items():
        if kind not in present:
            yield f"the running turn has no deadline ({kind})"
        else:
            wrong = wrong_columns(present[kind], values)
            yield from (f"deadline ({kind}): {each}" for each in wrong)
            if present[kind].get("stuck"):
                yield f"deadline ({kind}): it is claimed for longer than any node claims one"
