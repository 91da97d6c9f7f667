"""Figures that API and workers count alike, and those that the database tells."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from prometheus_client import Counter
from prometheus_client.metrics_core import GaugeMetricFamily

from .errors import Unavailable
from .health import HealthRows

MOVES = Counter("abbot_moves", "Turns played, by whom: player, bot, or the clock.", ["by"])

TOLD_SECONDS = 3.0
"""So long is the database waited for; a scrape does not wait much longer."""


def told_by_database(rows: HealthRows) -> Iterator[GaugeMetricFamily]:
    """The state of the service as a whole, the same whichever process is asked."""
    try:
        told = rows.told(TOLD_SECONDS)
    except (Unavailable, psycopg.Error):
        yield _gauge("abbot_database_up", "Whether the database answers.", 0)
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
        yield _gauge(
            "abbot_heartbeat_age_seconds",
            "Since a process of the API last said that it takes moves.",
            told.heartbeat_age,
        )


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, value=value)
