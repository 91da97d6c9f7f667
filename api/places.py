"""How many may wait in this process at a time: streams and waits take a place each."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from .problems import Problem

RETRY_SECONDS = 5


class Places:
    """Places for those who wait: `most` in all, `each` for one player. Without a token one may
    take no more than half of all, so that spectators never keep players out."""

    def __init__(self, most: int, each: int) -> None:
        self._most = most
        self._each = each
        self._lock = threading.Lock()
        self._taken: Counter[str | None] = Counter()
        self._streams = 0
        self._count = 0

    @property
    def streams(self) -> int:
        """Streams that are open now."""
        return self._streams

    @property
    def taken(self) -> int:
        """Places that are taken now, by streams and waits."""
        return self._count

    def take(self, player_id: str | None, *, stream: bool = False) -> Callable[[], None]:
        """Take a place; call what is returned to give it back, once or more often.

        429 for a player who has taken all of theirs, 503 where there is none left.
        """
        with self._lock:
            if player_id is not None and self._taken[player_id] >= self._each:
                raise Problem(
                    "rate-limited",
                    f"You have {self._each} streams and waits open; that is the most at a time.",
                    headers={"Retry-After": str(RETRY_SECONDS)},
                )
            spectators_full = player_id is None and self._taken[None] >= max(1, self._most // 2)
            if self._count >= self._most or spectators_full:
                raise Problem(
                    "unavailable",
                    "Too many are waiting here at the moment; try again.",
                    headers={"Retry-After": str(RETRY_SECONDS)},
                )
            self._taken[player_id] += 1
            self._count += 1
            self._streams += stream
        returned = False

        def give_back() -> None:
            nonlocal returned
            with self._lock:
                if returned:
                    return
                returned = True
                self._taken[player_id] -= 1
                if not self._taken[player_id]:
                    del self._taken[player_id]
                self._count -= 1
                self._streams -= stream

        return give_back
