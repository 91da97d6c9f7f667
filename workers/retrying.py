"""How long to wait before something that failed is tried again."""

from __future__ import annotations

FIRST_BACKOFF_SECONDS = 0.1
_MOST_DOUBLINGS = 30


def backoff(failures: int, longest: float) -> float:
    """Seconds to wait after so many failures in a row, at least one: doubled with each, up to
    `longest`. However often it failed: two to the power of some thousand is no float."""
    return min(longest, FIRST_BACKOFF_SECONDS * 2.0 ** min(failures - 1, _MOST_DOUBLINGS))
