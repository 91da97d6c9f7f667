"""The timer's own connection to the broker."""

from __future__ import annotations

from celery import Celery
from kombu import Producer

from workers import broker
from workers.publisher import BOUND_SECONDS, Batch
from workers.settings import SETTLE_TASK


class CeleryOutbox:
    """One connection to the broker for the timer's own tasks."""

    def __init__(self, app: Celery) -> None:
        options = broker.publisher_options(app.conf.broker_url, BOUND_SECONDS)
        self._app = app
        # No heartbeat: nothing reads from this connection between two publishes.
        self._connection = app.connection_for_write(
            heartbeat=0, connect_timeout=BOUND_SECONDS, transport_options=options
        )
        self._producer: Producer = app.amqp.Producer(self._connection, auto_declare=False)

    def send(self, batch: Batch) -> None:
        """Publish one task; raises when the broker did not take it."""
        self._app.send_task(
            SETTLE_TASK,
            args=[batch],
            argsrepr=f"[{len(batch)} turns]",
            producer=self._producer,
            retry=False,
            timeout=BOUND_SECONDS,
            confirm_timeout=BOUND_SECONDS,
        )

    def ping(self) -> None:
        """Declare the queue, which the broker has to answer."""
        queue = self._app.amqp.queues[self._app.conf.task_default_queue]
        queue(self._producer.channel).declare()

    def discard(self) -> None:
        """Close the socket without a goodbye that a hung broker would not answer."""
        self._connection.collect(socket_timeout=0.1)
