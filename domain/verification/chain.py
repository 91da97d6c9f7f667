"""The chain of hashes over a record's events."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from ..canonical import canonical
from ..events import Recorded
from ..times import is_time
from .checks import CHAIN, Check

ZERO_HASH = "00" * 32
"""The hash before the first event."""

_HASH = re.compile(r"[0-9a-f]{64}")


def hash_of(event: Recorded) -> str:
    """The hash that `event` must have: SHA-256 over the hash before it and its canonical JSON."""
    members = {
        "at": event.at,
        "by": event.by,
        "data": event.data,
        "game_id": event.game_id,
        "type": event.type,
        "version": event.version,
    }
    return hashlib.sha256(bytes.fromhex(event.prev_hash) + canonical(members)).hexdigest()


def check_chain(events: Sequence[Recorded], hidden: frozenset[int]) -> Check:
    """Every event follows the one before: its number, its game, its time, the hash before it and
    its own. Of the events `hidden`, parts of which are not there, the own hash is left out."""
    prev_hash, at = ZERO_HASH, ""
    for number, event in enumerate(events, 1):
        fault = _fault(event, number, events[0].game_id, prev_hash, at)
        if fault is None and number not in hidden and hash_of(event) != event.hash:
            fault = "the hash is not that of the event"
        if fault is not None:
            return Check(CHAIN, False, fault, number)
        prev_hash, at = event.hash, event.at
    if hidden:
        return Check(
            CHAIN,
            None,
            f"{len(events)} events follow one another; the hashes of {len(hidden)} with hidden "
            "parts can be computed once the game is over",
        )
    return Check(CHAIN, True, f"{len(events)} events, the last hash is {prev_hash}")


def _fault(event: Recorded, number: int, game_id: str, prev_hash: str, at: str) -> str | None:
    if event.version != number:
        return f"version {event.version} stands where {number} belongs"
    if event.game_id != game_id:
        return f"the event is of another game, {event.game_id}"
    if event.prev_hash != prev_hash:
        return "the previous hash is not that of the event before"
    if not _HASH.fullmatch(event.hash):
        return "the hash is not 32 bytes in lower-case hex"
    if not is_time(event.at):
        return "the time is not RFC 3339 in UTC with six decimals"
    if event.at < at:
        return "the time is earlier than that of the event before"
    return None
