"""UUID version 7 (RFC 9562, section 5.7): ids that sort by the time they were made."""

from __future__ import annotations

import datetime
import os
import threading
import time
import uuid

_VERSION = 7 << 76
_VARIANT = 2 << 62
_FRACTION_BITS = 12
_RANDOM_BITS = 62
_MILLISECONDS = 80
"""The lowest bit of the time."""
_MOST_AHEAD = 10_000 << _FRACTION_BITS
"""Of a clock that was set back by more than ten seconds the new time is believed."""


class _Clock:
    """Unix time in 4096ths of a millisecond, which never stands still for those of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        # A thread that held the lock is not there in a child, and so never gives it back.
        os.register_at_fork(after_in_child=self._unlock)

    def _unlock(self) -> None:
        self._lock = threading.Lock()

    def tick(self) -> int:
        milliseconds, nanoseconds = divmod(time.time_ns(), 1_000_000)
        now = milliseconds << _FRACTION_BITS | (nanoseconds << _FRACTION_BITS) // 1_000_000
        with self._lock:
            if now <= self._last < now + _MOST_AHEAD:
                now = self._last + 1
            self._last = now
        return now


_clock = _Clock()


def uuid7() -> str:
    """A new id, later than all that this process has made before: 48 bits of Unix time in
    milliseconds, 12 of their fraction (section 6.2, method 3), 62 random bits from the system."""
    milliseconds, fraction = divmod(_clock.tick(), 1 << _FRACTION_BITS)
    random = int.from_bytes(os.urandom(8), "big") >> 64 - _RANDOM_BITS
    number = milliseconds << _MILLISECONDS | _VERSION | fraction << 64 | _VARIANT | random
    return str(uuid.UUID(int=number))


def least_uuid7(moment: datetime.datetime) -> str:
    """The smallest id that could be made at `moment`."""
    number = int(moment.timestamp() * 1000) << _MILLISECONDS
    return str(uuid.UUID(int=number | _VERSION | _VARIANT))
