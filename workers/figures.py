"""Figures of the workers for Prometheus, and the port where a node without an API serves them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from prometheus_client import CONTENT_TYPE_LATEST, Counter, Histogram

from domain.events import Recorded
from domain.times import to_micros
from eventstore import metrics
from eventstore.figures import MOVES, told_by_database
from eventstore.health import HealthRows

__all__ = ["CHORES", "MOVES", "SETTLED", "Exporter", "observe_delivery", "observe_expiry"]

log = logging.getLogger(__name__)

LATENESS = Histogram(
    "abbot_turn_lateness_seconds",
    "How long after it was due an expired turn was recorded.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120),
)
SETTLED = Counter("abbot_due_rows", "Due rows by what became of them.", ["kind", "outcome"])
CHORES = Counter("abbot_chores", "Recurring work by what became of it.", ["chore", "outcome"])

DELIVERIES = Counter(
    "abbot_webhook_attempts", "Calls of webhooks by what came of them.", ["outcome"]
)
DELIVERY_SECONDS = Histogram(
    "abbot_webhook_seconds",
    "How long calls of webhooks took.",
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30),
)


def observe_delivery(delivered: bool, seconds: float) -> None:
    """Note that a webhook was called."""
    DELIVERIES.labels("delivered" if delivered else "failed").inc()
    DELIVERY_SECONDS.observe(seconds)


def observe_expiry(events: list[Recorded]) -> None:
    """Note how late the expiry among the events of an append was."""
    for event in events:
        if event.type == "turn.expired":
            LATENESS.observe((to_micros(event.at) - to_micros(event.data["due_at"])) / 1e6)
            MOVES.labels("clock").inc()


class Exporter:
    """Serves `/metrics` of all processes under the data folder, as the API does."""

    def __init__(
        self, address: tuple[str, int], data: Path, rows: Callable[[], HealthRows]
    ) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != "/metrics":
                    self.send_error(404)
                    return
                body = metrics.exposition(data, lambda: told_by_database(rows()))
                self.send_response(200)
                self.send_header("Content-Type", CONTENT_TYPE_LATEST)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nobody need read of it."""

        self._server = ThreadingHTTPServer(address, Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]

    def start(self) -> None:
        """Serve from a thread of its own."""
        Thread(target=self._server.serve_forever, name="abbot-metrics", daemon=True).start()

    def stop(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()
