"""Records to verify: random games, chained as the store chains them, and ways to falsify them."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from domain.canonical import canonical
from domain.events import Recorded
from domain.redaction import Viewer, redact
from domain.times import from_micros, to_micros
from domain.verification import Check, verify
from tests.domain import positions
from tests.domain.gallery import random_games
from tests.domain.games import RandomGame

MOMENT = 0.001
"""Seconds from one decision of a random game to the next: no turn of three seconds runs out."""


def play_out(game: RandomGame) -> list[Recorded]:
    """The chained record of the game, played to its end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(positions, "SECOND", round(MOMENT * 1_000_000))
        for _ in game.play():
            pass
    return chained(game.table.log)


def finished(count: int) -> list[list[Recorded]]:
    """Records of games of both kinds, at each number of seats, with all that can go wrong."""
    return [play_out(game) for game in random_games(count)]


def chained(events: Sequence[Recorded]) -> list[Recorded]:
    """The events numbered and hashed anew, as who could write the record would do it."""
    done: list[Recorded] = []
    before = "00" * 32
    for version, event in enumerate(events, 1):
        members = {
            "game_id": event.game_id, "version": version, "type": event.type, "at": event.at,
            "by": event.by, "data": event.data,
        }  # fmt: skip
        own = hashlib.sha256(bytes.fromhex(before) + canonical(members)).hexdigest()
        done.append(replace(event, version=version, prev_hash=before, hash=own))
        before = own
    return done


def changed(events: list[Recorded], index: int, change: Callable[[Any], Any]) -> list[Recorded]:
    """The record with `change` made to a copy of one event's data, and chained anew."""
    data = copy.deepcopy(events[index].data)
    change(data)
    return chained([*events[:index], replace(events[index], data=data), *events[index + 1 :]])


def at(event: Recorded, micros: int) -> Recorded:
    """The event so much later."""
    return replace(event, at=from_micros(to_micros(event.at) + micros))


def as_seen(events: Sequence[Recorded], seat: int | None) -> list[Recorded]:
    """The record of a running game as the seat, or a spectator, may see it."""
    shown = [redact(event, Viewer(seat), over=False) for event in events]
    return [Recorded(**each) for each in shown]


def by_name(checks: Sequence[Check]) -> dict[str, Check]:
    return {check.check: check for check in checks}


def wrong(events: Sequence[Recorded], **more: Any) -> list[tuple[str, int | None]]:
    """The names of the checks that fail, with the event that they name."""
    return [(check.check, check.version) for check in verify(events, **more) if check.ok is False]
