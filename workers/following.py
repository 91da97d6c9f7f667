"""The threads of a node around the feed: the sequencer, and who builds the standings from it."""

from __future__ import annotations

from typing import Any

from celery import bootsteps
from celery.signals import worker_shutting_down

from eventstore.feed import Feed
from eventstore.standings import BATCH_EVENTS, Standings
from workers.leading import Leading
from workers.resources import Resources
from workers.sequencer import Sequencer

STOP_SECONDS = 5.0

LOOK_SECONDS = 1.0
"""A reader that nobody woke looks at the feed this often: the sequencer is on another node then."""

SPACING_SECONDS = 0.1
"""One that is woken more often takes what came meanwhile in one go."""


class FeedService:
    """Both threads of one node, started and stopped as one. Each has a lease of its own: a reader
    that is stuck holds nothing up."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self.standings = Leading("standings", self._feed, self._count, spacing=SPACING_SECONDS)
        self.sequencer = Leading(
            "sequencer", self._feed, Sequencer(self._feed, self.standings.wake).step
        )
        self._threads = (self.sequencer, self.standings)

    def _feed(self) -> Feed:
        return Feed(self._resources.store().pool)

    def _count(self) -> float:
        counted = Standings(self._resources.store().pool).step()
        return 0.0 if counted == BATCH_EVENTS else LOOK_SECONDS

    def start(self) -> None:
        """Start the threads."""
        worker_shutting_down.connect(self._shutting_down)
        for thread in self._threads:
            thread.start()

    def _shutting_down(self, **_: object) -> None:
        for thread in self._threads:
            thread.stop()

    def stop(self) -> None:
        """Finish the steps that are being done, within a bound, and let others take over."""
        self._shutting_down()
        for thread in self._threads:
            thread.join(STOP_SECONDS)

    terminate = stop


class FeedStep(bootsteps.StartStopStep):
    """Starts the threads once the pool has forked; they need no broker."""

    name = "abbot-feed"
    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> FeedService:
        """The service that Celery starts and stops with the worker."""
        return FeedService(worker.app.resources)
