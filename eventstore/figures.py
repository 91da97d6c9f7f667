"""Figures that API and workers count alike, and those that the database tells."""

from __future__ import annotations

import time
from collections.abc import Iterator

import psycopg
from prometheus_client import Counter
from prometheus_client.metrics_core import GaugeMetricFamily

from .errors import Unavailable
from .health import HealthRows

MOVES = Counter("abbot_moves", "Turns played, by whom: player, bot, or the clock.", ["by"])

TOLD_SECONDS = 1.0
"""So long is the database waited for in all; a scrape does not wait much longer."""


class Heartbeats:
    """When a process of the API last said that it takes moves, as far as this process knows. It
    takes a database to ask, and none to go on counting since."""

    def __init__(self) -> None:
        self._newest: float | None = None

    def heard(self, age: float = 0.0) -> None:
        """Somebody has said so, `age` seconds ago."""
        at = time.monotonic() - age
        self._newest = at if self._newest is None else max(at, self._newest)

    def age(self) -> float | None:
        """Seconds since then; None if this process knows of none."""
        return None if self._newest is None else time.monotonic() - self._newest


HEARTBEATS = Heartbeats()


def told_by_database(rows: HealthRows) -> Iterator[GaugeMetricFamily]:
    """The state of the service as a whole, the same whichever process is asked."""
    try:
        told = rows.told(TOLD_SECONDS)
    except (Unavailable, psycopg.Error):
        yield _gauge("abbot_database_up", "Whether the database answers.", 0)
        if (age := HEARTBEATS.age()) is not None:
            yield _heartbeat(age)
        return
    yield _gauge("abbot_database_up", "Whether the database answers.", 1)
    yield _gauge("abbot_overdue_turns", "Turns due and not settled yet.", told.overdue)
    yield _gauge(
        "abbot_overdue_seconds", "For how long the longest overdue turn has been due.", told.oldest
    )
    yield _gauge(
        "abbot_queue_unclaimed", "Due turns and bots' moves that no node has claimed.",
        told.unclaimed,
    )  # fmt: skip
    yield _gauge("abbot_worker_nodes", "Worker nodes that live.", told.nodes)
    yield _gauge("abbot_worker_nodes_with_broker", "Those that reach it.", told.with_broker)
    yield _gauge("abbot_outages", "Outages of the service so far.", told.outages)
    yield _gauge(
        "abbot_feed_waiting", "Appends that have no position in the feed yet.", told.waiting
    )
    yield _gauge(
        "abbot_feed_unsigned", "Events in the feed that no checkpoint covers yet.", told.unsigned
    )
    yield _gauge(
        "abbot_webhooks_waiting", "Webhooks that are due and that no node calls.", told.webhooks
    )
    yield _gauge(
        "abbot_webhooks_late_seconds",
        "For how long the first of them has been due.",
        told.webhooks_late,
    )
    if told.heartbeat_age is not None:
        HEARTBEATS.heard(told.heartbeat_age)
        yield _heartbeat(told.heartbeat_age)


def _heartbeat(age: float) -> GaugeMetricFamily:
    return _gauge(
        "abbot_heartbeat_age_seconds",
        "Since a process of the API last said that it takes moves.",
        age,
    )


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, value=value)
