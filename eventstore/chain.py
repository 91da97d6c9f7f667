"""Checking the chain of hashes that each game's events form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from domain.events import Recorded

from .recorded import ZERO_HASH, body_of, hash_after


class Fault(NamedTuple):
    """The first event that is wrong, and why."""

    version: int
    reason: str


def verify(
    events: Iterable[Recorded], *, game_id: str, after: int = 0, prev_hash: str = ZERO_HASH
) -> Fault | None:
    """The first fault of consecutive `events` of a game, or None if every hash is right.

    The events must go on from the version `after`, whose hash is `prev_hash`.
    """
    version, at = after, ""
    for event in events:
        version += 1
        if event.version != version:
            return Fault(version, f"version {event.version} stands where {version} belongs")
        if event.game_id != game_id:
            return Fault(version, "the event names another game")
        if event.prev_hash != prev_hash:
            return Fault(version, "the previous hash is not that of the event before")
        if hash_after(prev_hash, body_of(event)) != event.hash:
            return Fault(version, "the hash is not that of the event")
        if event.at < at:
            return Fault(version, "the time is earlier than that of the event before")
        prev_hash, at = event.hash, event.at
    return None
