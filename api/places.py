"""How many may wait in this process at a time: streams and waits take a place each."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

from domain.wording import Sentence

from .problems import Problem

RETRY_SECONDS = 5


class Places:
    """Places for those who wait: `most` in all, `each` for one player, `address` for those
    without a token at one address. Without a token one may take no more than half of all, so that
    spectators never keep players out."""

    def __init__(self, most: int, each: int, address: int) -> None:
        self._most = most
        self._each = each
        self._address = address
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()
        self._anonymous = 0
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

    def take(
        self, player_id: str | None, *, address: str | None = None, stream: bool = False
    ) -> Callable[[], None]:
        """Take a place; call what is returned to give it back, once or more often.

        429 for a player who has taken all of theirs, and without a token for an `address` where
        they are taken; 503 where there is none left.
        """
        anonymous = player_id is None
        owner = address if anonymous else player_id
        with self._lock:
            self._require_room(owner, anonymous=anonymous)
            if owner is not None:
                self._taken[owner] += 1
            self._count += 1
            self._anonymous += anonymous
            self._streams += stream
        returned = False

        def give_back() -> None:
            nonlocal returned
            with self._lock:
                if returned:
                    return
                returned = True
                if owner is not None:
                    self._taken[owner] -= 1
                    if not self._taken[owner]:
                        del self._taken[owner]
                self._count -= 1
                self._anonymous -= anonymous
                self._streams -= stream

        return give_back

    def _require_room(self, owner: str | None, *, anonymous: bool) -> None:
        most = self._address if anonymous else self._each
        if owner is not None and self._taken[owner] >= most:
            template = (
                "From your address without a token {most} streams and waits are open; that is the "
                "most at a time."
                if anonymous
                else "You have {most} streams and waits open; that is the most at a time."
            )
            raise Problem(
                "rate-limited",
                Sentence(template, most=most),
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        spectators_full = anonymous and self._anonymous >= max(1, self._most // 2)
        if self._count >= self._most or spectators_full:
            raise Problem(
                "unavailable",
                "Too many are waiting here at the moment; try again.",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
