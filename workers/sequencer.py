"""The sequencer: gives the events of all games their positions in the feed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery import bootsteps
from celery.signals import worker_shutting_down

from eventstore.feed import BATCH_APPENDS, Feed
from eventstore.standings import Standings
from workers.leading import Leading

SHORTEST_SECONDS = 0.02
"""Between two batches, so that one commit serves many appends."""

LONGEST_SECONDS = 0.2
"""Between two looks at an outbox that has been empty for a while."""

STOP_SECONDS = 5.0


class Sequencer:
    """One batch at each step, and the wait after it: short after something came, then longer.

    `told` is called after each batch, for the readers in this process.
    """

    def __init__(self, feed: Callable[[], Feed], told: Callable[[], None] = lambda: None) -> None:
        self._feed = feed
        self._told = told
        self._pause = SHORTEST_SECONDS

    def step(self) -> float:
        """Move one batch; the seconds to wait before the next."""
        appends, _ = self._feed().sequence()
        if not appends:
            self._pause = min(2 * self._pause, LONGEST_SECONDS)
            return self._pause
        self._told()
        self._pause = SHORTEST_SECONDS
        return 0.0 if appends == BATCH_APPENDS else SHORTEST_SECONDS
