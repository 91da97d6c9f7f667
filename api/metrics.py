"""Figures for Prometheus: requests, refusals, moves, streams, connections to the database."""

from __future__ import annotations

import time
from pathlib import Path

from flask import Blueprint, Flask, Response, current_app, g, request
from prometheus_client import CONTENT_TYPE_LATEST, Counter, Gauge, Histogram

from eventstore import metrics
from eventstore.figures import MOVES, told_by_database
from eventstore.health import HealthRows
from eventstore.pool import Pool

from .auth import Access
from .operation import Call, operation
from .services import services

__all__ = ["MOVES", "STREAMS", "observe_pool", "register"]

blueprint = Blueprint("metrics", __name__)

MEDIA_TYPE = "text/plain"

REQUESTS = Histogram(
    "abbot_request_seconds",
    "Until a request was answered, or its stream began.",
    ["method", "route", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
REFUSALS = Counter("abbot_refusals", "Requests that were answered with a problem.", ["code"])
STREAMS = Gauge("abbot_streams_open", "Streams open.", multiprocess_mode="livesum")
CONNECTIONS = Gauge(
    "abbot_pool_connections",
    "The processes' connections to the database, and who waits for one.",
    ["state"],
    multiprocess_mode="livesum",
)

METHODS = frozenset({"GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS"})


def register(app: Flask, data: Path | None) -> None:
    """Count the requests of `app`, and serve `/metrics`; `data`: whose figures are added up."""
    app.config["ABBOT_DATA_DIR"] = data

    @app.after_request
    def _count(response: Response) -> Response:
        method = request.method if request.method in METHODS else "other"
        route = request.url_rule.rule if request.url_rule else "none"
        seconds = time.perf_counter() - g.began
        REQUESTS.labels(method, route, str(response.status_code)).observe(seconds)
        if code := g.get("problem_code"):
            REFUSALS.labels(code).inc()
        return response

    app.register_blueprint(blueprint)


@blueprint.get("/metrics")
@operation("getMetrics", access=Access.OPEN, answers={}, offered=(MEDIA_TYPE,))
def get_metrics(call: Call) -> Response:
    """Get the figures, for Prometheus."""
    call.validate()
    rows = HealthRows(services().store.pool)
    data = current_app.config["ABBOT_DATA_DIR"] or Path()
    body = metrics.exposition(data, lambda: told_by_database(rows))
    response = current_app.response_class(body)
    response.headers["Content-Type"] = CONTENT_TYPE_LATEST
    return response


def observe_pool(pool: Pool) -> None:
    """Note how many connections this process has, and how many requests wait for one."""
    stats = pool.get_stats()
    size, idle = stats.get("pool_size", 0), stats.get("pool_available", 0)
    CONNECTIONS.labels("busy").set(size - idle)
    CONNECTIONS.labels("idle").set(idle)
    CONNECTIONS.labels("waiting").set(stats.get("requests_waiting", 0))
