"""An append on its way to the database, and its answer on the way back."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import orjson

from . import sql
from .appending import Append, Appended
from .pool import BoundedConnection
from .prepared import Encoder, Prepared
from .recorded import HASH_BYTES


def _digits(value: int) -> bytes:
    return b"%d" % value


def _json(value: Any) -> bytes:
    return orjson.dumps(value)


def _number(value: float) -> bytes:
    return repr(value).encode()


def _interval(value: datetime.timedelta) -> bytes:
    return b"%d days %d seconds %d microseconds" % (value.days, value.seconds, value.microseconds)


ENCODERS: Mapping[str, Encoder] = {
    "game_id": str.encode,
    "version": _digits,
    "prev_hash": bytes.fromhex,
    # JSON has no raw line feed, and one text is quicker to send than an array of texts.
    "rests": b"\n".join,
    "guard": str.encode,
    "due": str.encode,
    "token_id": str.encode,
    "key": str.encode,
    "path": str.encode,
    "body_hash": bytes,
    "keep": _interval,
    "status": str.encode,
    "turn_seat": _digits,
    "turn_player": str.encode,
    "started_version": _digits,
    "round_version": _digits,
    "clock": str.encode,
    "round": _digits,
    "turn": _digits,
    "clock_from": str.encode,
    "clock_seconds": _digits,
    "bot": str.encode,
    "bot_seconds": _number,
    "table": _json,
    "secret": bytes,
    "seats": _json,
    "ahead_ms": _digits,
}
"""For each field of an `Append`, what makes bytes of it."""

STATEMENT = Prepared(
    "abbot_append", sql.APPEND, ENCODERS, binary=frozenset({"prev_hash", "body_hash", "secret"})
)
_values = attrgetter(*STATEMENT.parameters)


def send(connection: BoundedConnection, append: Append) -> Appended:
    """Run the append: one round trip. psycopg.Error as it comes."""
    result = STATEMENT.run(connection, _values(append))
    status, at, hashes, first, last = (result.get_value(0, column) for column in range(5))
    return Appended(
        "" if status is None else status.decode(),
        None if at is None else at.decode(),
        _hashes(hashes),
        None if first is None else int.from_bytes(first, "big"),
        None if last is None else int.from_bytes(last, "big"),
    )


_ARRAY_HEADER = 20
_ELEMENT = 4 + HASH_BYTES
"""Bytes of PostgreSQL's representation of bytea[] (`array_send`): its dimensions, and then for each
element four of length before it. An empty array is shorter than a header."""


def _hashes(array: bytes | None) -> tuple[str, ...]:
    if array is None:
        return ()
    starts = range(_ARRAY_HEADER + _ELEMENT - HASH_BYTES, len(array), _ELEMENT)
    return tuple(array[start : start + HASH_BYTES].hex() for start in starts)
