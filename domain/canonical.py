"""Canonical JSON (RFC 8785, JCS) for the float-free values that records are made of."""

from __future__ import annotations

import json
from typing import Any

_encode = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    check_circular=False,
).encode


def canonical(value: Any) -> bytes:
    """The RFC 8785 bytes of `value`.

    Holds for what records contain: objects with ASCII keys, arrays, text, booleans and integers
    within 2^53. Floats are not part of any record and are not accepted by the event store.
    """
    return _encode(value).encode()
