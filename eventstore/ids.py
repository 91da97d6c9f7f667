"""UUID version 7 (RFC 9562, section 5.7): ids that sort by the time they were made."""

from __future__ import annotations

import datetime
import os
import time
import uuid

_RANDOM_BITS = 80
_VERSION = 7 << 76
_VARIANT = 2 << 62
_KEPT = ((1 << 128) - 1) & ~(0xF << 76) & ~(0x3 << 62)


def uuid7() -> str:
    """A new id: 48 bits of Unix time in milliseconds, 74 random bits from the system."""
    milliseconds = time.time_ns() // 1_000_000
    number = milliseconds << _RANDOM_BITS | int.from_bytes(os.urandom(10), "big")
    return str(uuid.UUID(int=number & _KEPT | _VERSION | _VARIANT))


def least_uuid7(moment: datetime.datetime) -> str:
    """The smallest id that could be made at `moment`."""
    number = int(moment.timestamp() * 1000) << _RANDOM_BITS
    return str(uuid.UUID(int=number | _VERSION | _VARIANT))
