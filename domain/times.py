"""Times as the record writes them: RFC 3339, UTC, six decimals, `Z`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(text: str) -> int:
    """Microseconds since 1970 of a recorded time; ValueError for anything else."""
    return (datetime.fromisoformat(text) - _EPOCH) // _MICROSECOND


def is_time(text: object) -> bool:
    """Whether `text` is a time as the record writes them: one that exists, in that very form."""
    try:
        return isinstance(text, str) and from_micros(to_micros(text)) == text
    except (ValueError, OverflowError, TypeError):
        return False


def from_micros(micros: int) -> str:
    """The recorded form of `micros` microseconds since 1970."""
    return _text(_EPOCH + timedelta(microseconds=micros))


def plus_seconds(text: str, seconds: float) -> str:
    """The recorded time `seconds` after `text`, to the microsecond."""
    if type(seconds) is int:
        later = timedelta(0, seconds)
    else:
        later = timedelta(microseconds=round(seconds * 1_000_000))
    # Each move asks for this, and without a zone it takes half the time.
    moment = datetime.fromisoformat(text.removesuffix("Z"))
    if moment.tzinfo is not None:
        raise ValueError(f"no recorded time: {text}")
    return (moment + later).isoformat("T", "microseconds") + "Z"


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
