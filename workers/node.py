"""How a node is put together: Celery's consumer without what we don't need, and our timer."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Any

from celery import bootsteps
from celery.signals import worker_shutting_down
from celery.worker.consumer import Consumer as CeleryConsumer
from celery.worker.state import maybe_shutdown
from kombu import Connection

from eventstore import metrics
from eventstore.health import HealthRows
from workers.beacon import Beacon
from workers.chores import ChoreRunner
from workers.figures import Exporter
from workers.outbox import CeleryOutbox
from workers.publisher import Batch, Publisher
from workers.settings import metrics_address
from workers.settling import settle
from workers.timer import Timer

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0
BEACON_SECONDS = 2.0
LONGEST_RECONNECT_SECONDS = 2.0


class Consumer(CeleryConsumer):
    """Celery's consumer without the chatter between nodes.

    They need not know each other. The delayed delivery that Celery sets up for quorum queues is
    left out as well: it declares dozens of queues, and deadlines are rows here.
    """

    class Blueprint(CeleryConsumer.Blueprint):
        default_steps = [
            step
            for step in CeleryConsumer.Blueprint.default_steps
            if not step.endswith(":DelayedDelivery")
        ]

    def __init__(self, *args: Any, worker_options: dict[str, Any] | None = None, **kw: Any) -> None:
        quiet = {"without_gossip": True, "without_mingle": True, "without_heartbeat": True}
        super().__init__(*args, worker_options={**(worker_options or {}), **quiet}, **kw)

    def ensure_connected(self, conn: Connection) -> Connection:
        """Connect, however long it takes. Celery's own pauses between tries grow to 30 seconds,
        for which a node would be of no use after the broker is back."""

        def told(error: Exception, _interval: float) -> None:
            self.broker_connection_retry_attempt += 1
            if self.broker_connection_retry_attempt == 1:
                log.warning("No connection to the broker (%s); trying on.", type(error).__name__)

        conn.ensure_connection(
            told,
            interval_start=0.2,
            interval_step=0.2,
            interval_max=LONGEST_RECONNECT_SECONDS,
            callback=maybe_shutdown,
        )
        self.first_connection_attempt = False
        self.broker_connection_retry_attempt = 0
        return conn


class TimerService:
    """Timer, publisher and chores of one node, started and stopped as one."""

    def __init__(self, worker: Any) -> None:
        app = worker.app
        resources = app.resources
        self._worker = worker
        self._data = resources.settings.data_dir
        self._publisher = Publisher(lambda: CeleryOutbox(app))
        self._timer = Timer(
            resources.deadlines,
            self._offer,
            lambda dues: settle(resources.executor(), dues),
            processes=worker.concurrency,
        )
        self._chores = ChoreRunner(resources)

        def rows() -> HealthRows:
            return HealthRows(resources.store().pool)

        self._beacon = Beacon(rows, self._reaches_broker)
        address = metrics_address()
        self._exporter = None if address is None else Exporter(address, self._data, rows)

    def _reaches_broker(self) -> bool:
        consumer = getattr(self._worker, "consumer", None)
        connected = consumer is not None and consumer.connection is not None
        return connected and self._publisher.up

    def _offer(self, batches: Sequence[Batch]) -> bool:
        """Hand batches to the pool, if it takes any: it does while this node is connected."""
        consumer = getattr(self._worker, "consumer", None)
        if consumer is None or consumer.connection is None:
            return False
        return self._publisher.offer(batches)

    def start(self) -> None:
        """Start the threads."""
        metrics.forget_dead(self._data, metrics.WORKERS)
        worker_shutting_down.connect(self._shutting_down)
        self._publisher.start()
        self._timer.start()
        self._chores.start()
        self._beacon.start()
        if self._exporter is not None:
            self._exporter.start()

    def _shutting_down(self, **_: object) -> None:
        self._timer.stop()
        self._chores.stop()

    def stop(self) -> None:
        """Claim nothing more and finish what is being settled here, within a bound in all."""
        until = time.monotonic() + STOP_SECONDS
        self._timer.stop()
        self._chores.stop()
        self._timer.join(until - time.monotonic())
        self._chores.join(max(0.0, until - time.monotonic()))
        self._beacon.stop()
        self._beacon.join(BEACON_SECONDS)
        if self._exporter is not None:
            self._exporter.stop()
        self._publisher.stop()

    terminate = stop


class TimerStep(bootsteps.StartStopStep):
    """Starts the timer once the pool has forked, and before Celery reaches for the broker.

    Celery announces a worker as ready only when the broker has answered. A node that starts while
    the broker is away must settle turns all the same.
    """

    name = "abbot-timer"
    requires = ("celery.worker.components:Pool",)

    def create(self, worker: Any) -> TimerService:
        """The service that Celery starts and stops with the worker."""
        return TimerService(worker)
