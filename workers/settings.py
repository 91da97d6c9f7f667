"""The numbers a worker node runs by, and the one setting that only workers have."""

from __future__ import annotations

import os
from collections.abc import Mapping

from eventstore.settings import SettingsError

LEASE_SECONDS = 5.0
"""How long a claimed row is left to its claimer before any node may claim it again."""

CLAIM_ROWS = 500
"""The most rows claimed at once."""

BATCH_ROWS = 50
"""The most rows in one task."""

LEAST_ROWS = 10
"""Expired turns are not spread over more tasks than make so many in each: a task costs more than a
turn in it."""

SPACING_SECONDS = 0.04
"""Between two claims of a node, so that what is due meanwhile goes together."""

LONGEST_SLEEP_SECONDS = 1.0
"""A row that is written now is seen this much later at the latest; a turn lasts 3 s or more."""

TASK_SECONDS = 60
"""A task that runs longer has hung: its process is killed and replaced."""


def queue_name(environ: Mapping[str, str] = os.environ) -> str:
    """The broker's queue that the nodes of one installation share: `ABBOT_WORKER_QUEUE`."""
    return environ.get("ABBOT_WORKER_QUEUE") or "abbot.turns"


def metrics_address(environ: Mapping[str, str] = os.environ) -> tuple[str, int] | None:
    """Where a node serves its figures: `ABBOT_WORKER_METRICS`, `address:port` or a port of this
    machine alone; None where it is not set. SettingsError for what is neither."""
    given = environ.get("ABBOT_WORKER_METRICS", "").strip()
    if not given:
        return None
    address, _, port = given.rpartition(":")
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise SettingsError(f"ABBOT_WORKER_METRICS: {given!r} is neither address:port nor a port")
    return address.strip("[]") or "127.0.0.1", int(port)


SETTLE_TASK = "abbot.settle"
"""The name that messages carry; nodes of two releases run side by side while one is rolled out."""
