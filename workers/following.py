"""The threads of a node around the feed: the sequencer, who builds the standings from it, and who
has webhooks called."""

from __future__ import annotations

import threading
import time
from typing import Any

from celery import bootsteps
from celery.signals import worker_shutting_down

from eventstore.deliveries import BATCH_EVENTS as FANOUT_EVENTS
from eventstore.deliveries import Deliveries, Fanout
from eventstore.destinations import Destinations
from eventstore.feed import Feed
from eventstore.pool import Pool, open_pool
from eventstore.sealing import Sealer
from eventstore.standings import BATCH_EVENTS, Standings
from workers.leading import Leading
from workers.posting import Poster
from workers.resources import Resources
from workers.sending import Sender
from workers.sequencer import Sequencer

STOP_SECONDS = 5.0

LOOK_SECONDS = 1.0
"""A reader that nobody woke looks at the feed this often: the sequencer is on another node then."""

SPACING_SECONDS = 0.1
"""One that is woken more often takes what came meanwhile in one go."""


SENDER_CONNECTIONS = 2
"""Connections of the senders, apart from those of the node: turns never wait for one of them."""


class FeedService:
    """The threads of one node, started and stopped as one. Each has a lease of its own: a reader
    that is stuck holds nothing up."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._opening = threading.Lock()
        self._pool: Pool | None = None
        self.sender = self._make_sender()
        self.standings = Leading("standings", self._feed, self._count, spacing=SPACING_SECONDS)
        self.fanout = Leading("webhooks", self._feed, self._fan_out, spacing=SPACING_SECONDS)
        self.sequencer = Leading("sequencer", self._feed, Sequencer(self._feed, self._told).step)
        self._threads = (self.sequencer, self.standings, self.fanout)

    def _feed(self) -> Feed:
        return Feed(self._resources.store().pool)

    def _count(self) -> float:
        counted = Standings(self._resources.store().pool).step()
        return 0.0 if counted == BATCH_EVENTS else LOOK_SECONDS

    def _fan_out(self) -> float:
        looked_at = Fanout(self._resources.store().pool).step()
        if looked_at and self.sender is not None:
            self.sender.wake()
        return 0.0 if looked_at == FANOUT_EVENTS else LOOK_SECONDS

    def _told(self) -> None:
        self.standings.wake()
        self.fanout.wake()

    def _make_sender(self) -> Sender | None:
        settings = self._resources.settings
        if not settings.webhook_places:
            return None
        return Sender(
            self._deliveries,
            Sealer(settings.signing_keys),
            Poster(Destinations(settings.webhooks_anywhere)),
            places=settings.webhook_places,
        )

    def _deliveries(self) -> Deliveries:
        with self._opening:
            if self._pool is None:
                settings = self._resources.settings
                self._pool = open_pool(
                    settings.database_url,
                    SENDER_CONNECTIONS,
                    prepare_threshold=settings.prepare_threshold,
                    application="abbot-webhooks",
                )
        return Deliveries(self._pool)

    def start(self) -> None:
        """Start the threads."""
        worker_shutting_down.connect(self._shutting_down)
        for thread in self._threads:
            thread.start()
        if self.sender is not None:
            self.sender.start()

    def _shutting_down(self, **_: object) -> None:
        for thread in self._threads:
            thread.stop()
        if self.sender is not None:
            self.sender.stop()

    def stop(self) -> None:
        """Finish the steps that are being done, within a bound, and let others take over."""
        self._shutting_down()
        until = time.monotonic() + STOP_SECONDS
        for thread in (*self._threads, self.sender):
            if thread is not None:
                thread.join(max(0.0, until - time.monotonic()))

    terminate = stop


class FeedStep(bootsteps.StartStopStep):
    """Starts the threads once the pool has forked; they need no broker."""

    name = "abbot-feed"
    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> FeedService:
        """The service that Celery starts and stops with the worker."""
        return FeedService(worker.app.resources)
