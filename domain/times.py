"""Times as the record writes them: RFC 3339, UTC, six decimals, `Z`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(text: str) -> int:
    """Microseconds since 1970 of a recorded time; ValueError for anything else."""
    return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> str:
    """The recorded form of `micros` microseconds since 1970."""
    moment = _EPOCH + timedelta(microseconds=micros)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"


def plus_seconds(text: str, seconds: float) -> str:
    """The recorded time `seconds` after `text`, to the microsecond."""
    return from_micros(to_micros(text) + round(seconds * 1_000_000))
