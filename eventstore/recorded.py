"""Between events and rows: an event's row is its canonical JSON (RFC 8785) and its hash.

orjson with sorted keys writes the same bytes as RFC 8785 for what events contain: objects with
ASCII keys, arrays, text, booleans, null and integers within 2^53. What else there is in Python
(floats, other keys, lone surrogates) is refused here, before it can be stored.
"""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

from domain.events import Event, Recorded

from .errors import Broken

ZERO_HASH = "00" * 32
"""The hash before the first event."""

HASH_BYTES = 32
_MEMBERS = {"at", "by", "data", "game_id", "type", "version"}
_LARGEST = (1 << 53) - 1


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of `value`; TypeError or ValueError for what no event may contain."""
    _check(value)
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _check(value: Any) -> None:
    kind = type(value)
    if kind is dict:
        for key, item in value.items():
            if type(key) is not str or not key.isascii():
                raise TypeError("only ASCII text can be a key in the record")
            # Whoever is not called for a number is done sooner.
            of = type(item)
            if not (of is str or (of is int and -_LARGEST <= item <= _LARGEST)):
                _check(item)
    elif kind is list or kind is tuple:
        for item in value:
            if type(item) is not str:
                _check(item)
    elif kind is int:
        if not -_LARGEST <= value <= _LARGEST:
            raise ValueError("an integer beyond 2^53 - 1 cannot be recorded")
    elif not (kind is str or kind is bool or value is None):
        raise TypeError(f"{kind.__name__} cannot be recorded")


def rest(game_id: str, event: Event | Recorded) -> bytes:
    """The event's canonical JSON without `{"at":"…",`, which the append puts before it.

    `at` sorts before every other member of an event, so what follows it is known beforehand.
    """
    members = {
        "by": event.by,
        "data": event.data,
        "game_id": game_id,
        "type": event.type,
        "version": event.version,
    }
    return canonical(members)[1:]


def body(at: str, rest_of_body: bytes) -> bytes:
    """The canonical JSON of an event that was stored at `at`."""
    return b'{"at":"' + at.encode() + b'",' + rest_of_body


def body_of(event: Recorded) -> bytes:
    """The canonical JSON of a recorded event: the bytes under its hash."""
    return canonical(
        {
            "at": event.at,
            "by": event.by,
            "data": event.data,
            "game_id": event.game_id,
            "type": event.type,
            "version": event.version,
        }
    )


def hash_after(prev_hash: str, event_body: bytes) -> str:
    """SHA-256 over the previous hash's bytes and the body, in hex."""
    return hashlib.sha256(bytes.fromhex(prev_hash) + event_body).hexdigest()


def parsed(bodies: bytes) -> list[dict[str, Any]]:
    """The bodies of a JSON array of them. Raises Broken for what is no array of events."""
    try:
        members = orjson.loads(bodies)
    except orjson.JSONDecodeError as error:
        raise Broken("an event's row is not JSON") from error
    if not all(map(is_event, members)):
        raise Broken("an event's row is no event")
    return list(members)


def is_event(members: Any) -> bool:
    """Whether parsed JSON has the members of an event; what its data says is not looked at."""
    return (
        type(members) is dict
        and members.keys() >= _MEMBERS
        and type(members["version"]) is int
        and all(type(members[name]) is str for name in ("game_id", "type", "at"))
        and all(type(members[name]) is dict for name in ("by", "data"))
    )


def from_bodies(bodies: list[dict[str, Any]], hashes: bytes, prev_hash: str) -> list[Recorded]:
    """The events of consecutive rows: their parsed bodies and the concatenation of their hashes;
    `prev_hash` is the hash of the row before them, in hex."""
    text = hashes.hex()
    size = 2 * HASH_BYTES
    events = []
    for index, member in enumerate(bodies):
        own = text[index * size : (index + 1) * size]
        events.append(
            Recorded(
                member["game_id"],
                member["version"],
                member["type"],
                member["at"],
                member["by"],
                member["data"],
                prev_hash,
                own,
            )
        )
        prev_hash = own
    return events
