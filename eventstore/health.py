"""How the service is: its schema, its worker nodes, what is due and not settled."""

from __future__ import annotations

import functools
import re
import time
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

import psycopg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from . import sql, sql_health, sql_webhooks
from .database import Database
from .errors import Unavailable
from .pool import Pool, Row, answering_within

SEEN_SECONDS = 5.0
"""How often a worker node says that it lives."""

ALIVE_SECONDS = 20.0
"""A node that has not said so for longer counts no more."""

FORGET_SECONDS = 86_400.0
"""A node that has not said so for longer is forgotten."""

MOST_COUNTED = 100_000
"""Due rows are counted up to so many."""

MIGRATIONS = Path(__file__).resolve().parent.parent / "migrations" / "versions"


class Readiness(NamedTuple):
    """What a process needs to serve: whether the schema is this release's (or a later one's), and
    how many worker nodes live and reach the broker."""

    schema: bool
    nodes: int
    with_broker: int


class Told(NamedTuple):
    """Figures about the service as a whole."""

    overdue: int
    """Turns that are due and have not been settled."""
    unclaimed: int
    """Due rows, bots' moves too, that no node has claimed."""
    oldest: float
    """Seconds since the longest overdue turn was due, 0 if there is none."""
    nodes: int
    with_broker: int
    outages: int
    heartbeat_age: float | None
    """Seconds since a process of the API has last said that it takes moves."""
    waiting: int
    """Appends that have no position in the feed yet."""
    unsigned: int
    """Positions of the feed that no checkpoint covers yet."""
    webhooks: int
    """Webhooks that are due and that no node calls."""
    webhooks_late: float
    """Seconds since the first of them was due."""


class HealthRows:
    """Reads how the service is, and writes that a node lives."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._database = Database(pool)

    def seen(self, node: str, broker: bool) -> None:
        """The node lives; `broker`: it reaches the broker."""
        self._database.run(sql_health.SEEN, {"node": node, "broker": broker})

    def gone(self, node: str) -> None:
        """The node has been stopped."""
        self._database.run(sql_health.GONE, {"node": node})

    def forget_nodes(self) -> None:
        """Forget nodes that have not been seen for a day."""
        self._database.run(sql_health.FORGET_NODES, {"seconds": FORGET_SECONDS})

    def readiness(self, seconds: float) -> Readiness:
        """Asked within `seconds`; Unavailable if that is not to be had."""
        until = time.monotonic() + seconds
        row = self._asked(until, sql_health.READINESS, {"alive": ALIVE_SECONDS})
        return Readiness(serves(row[0]), row[1], row[2])

    def told(self, seconds: float) -> Told:
        """The figures as of now, asked within `seconds` in all; Unavailable as for `readiness`.
        Three statements."""
        until = time.monotonic() + seconds
        now = self._asked(until, sql.CLOCK, {})[0]
        parameters = {"now": now, "limit": MOST_COUNTED, "alive": ALIVE_SECONDS}
        overdue, unclaimed, oldest, *rest = self._asked(until, sql_health.TOLD, parameters)
        webhooks = self._asked(until, sql_webhooks.LATE, parameters)
        return Told(overdue, unclaimed, oldest or 0.0, *rest, *webhooks)

    def _asked(self, until: float, statement: LiteralString, parameters: dict[str, Any]) -> Row:
        """The one row that is asked for, if it comes by `until`; Unavailable if not."""
        while True:
            left = max(0.05, until - time.monotonic())
            try:
                with self._pool.connection(left) as connection, answering_within(connection, left):
                    row = connection.execute(statement, parameters, binary=True).fetchone()
                assert row is not None
                return row
            except (PoolTimeout, TooManyRequests, PoolClosed, psycopg.Error) as error:
                # After a restart of the server the first connections of the pool are dead.
                if time.monotonic() >= until:
                    raise Unavailable("the database cannot be reached in time") from error
                time.sleep(0.05)


def serves(revision: str | None) -> bool:
    """Whether this release works on a database at `revision`: its own head, or a later one, as
    migrations add before they take away and nodes are replaced one by one."""
    head = code_head()
    if revision is None:
        return False
    return revision == head or (revision.isdigit() and int(revision) > int(head))


@functools.cache
def code_head() -> str:
    """The newest revision of this checkout's migrations."""
    revisions: set[str] = set()
    before: set[str] = set()
    for path in MIGRATIONS.glob("*.py"):
        found = dict(
            re.findall(r'^(revision|down_revision) = "(\w+)"', path.read_text("utf-8"), re.M)
        )
        revisions.add(found["revision"])
        before |= {found[name] for name in ("down_revision",) if name in found}
    (head,) = revisions - before
    return head
