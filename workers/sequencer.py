"""The sequencer: gives the events of all games their positions in the feed."""

from __future__ import annotations

from collections.abc import Callable

from eventstore.feed import BATCH_APPENDS, Feed

SHORTEST_SECONDS = 0.04
"""Between two batches, so that one commit serves many appends."""

LONGEST_SECONDS = 0.2
"""Between two looks at an outbox that has been empty for a while."""


class Sequencer:
    """One batch at each step. `told` is called after each, for the readers in this process."""

    def __init__(self, feed: Callable[[], Feed], told: Callable[[], None] = lambda: None) -> None:
        self._feed = feed
        self._told = told
        self._pause = SHORTEST_SECONDS

    def step(self) -> float:
        """Move one batch; the seconds to wait before the next: few after something came, then more
        and more."""
        appends, _ = self._feed().sequence()
        if not appends:
            self._pause = min(1.5 * self._pause, LONGEST_SECONDS)
            return self._pause
        self._told()
        self._pause = SHORTEST_SECONDS
        return 0.0 if appends == BATCH_APPENDS else SHORTEST_SECONDS
