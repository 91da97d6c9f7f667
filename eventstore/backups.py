"""What a backup holds, seen in the database that it is made of or was restored to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import psycopg

from . import sql_backup as sql
from .partitions import Partitions


class Content(NamedTuple):
    """How much there is of what matters; `position` is the feed's newest, `waiting` the events that
    have none yet."""

    games: int
    events: int
    position: int
    waiting: int
    checkpoints: int
    players: int


@contextlib.contextmanager
def snapshot(url: str) -> Iterator[tuple[str, Content]]:
    """The name of a snapshot that pg_dump can use while the block runs, and what is in it."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        connection.execute(sql.UNLIMITED)
        row = connection.execute(sql.EXPORT_SNAPSHOT).fetchone()
        assert row is not None
        yield str(row[0]), _content(connection)


def content(url: str) -> Content:
    """What there is now."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        connection.execute(sql.UNLIMITED)
        return _content(connection)


def server_version(url: str) -> int:
    """The server's major version."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        return connection.info.server_version // 10000


def is_empty(url: str) -> bool:
    """Whether the database has no table of anybody's."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        return connection.execute(sql.RELATIONS).fetchone() == (0,)


def may_create(url: str) -> bool:
    """Whether the role may make tables."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        return connection.execute(sql.MAY_CREATE).fetchone() == (True,)


def webhook_keys(url: str) -> set[str]:
    """The ids of the keys that webhooks' secrets are sealed with."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        return {str(key_id) for (key_id,) in connection.execute(sql.WEBHOOK_KEYS)}


def elsewhere(url: str) -> list[str]:
    """The months whose tables were dropped, as archives have them."""
    with psycopg.connect(url, connect_timeout=10) as connection:
        return [each.name for each in Partitions(connection).all() if each.size is None]


def analyze(url: str) -> None:
    """Have the planner know the tables, as a dump does not hold what it knew."""
    with psycopg.connect(url, connect_timeout=10, autocommit=True) as connection:
        connection.execute("SET statement_timeout = 0")
        connection.execute("ANALYZE")


def _content(connection: psycopg.Connection[tuple[int, ...]]) -> Content:
    row = connection.execute(sql.CONTENT).fetchone()
    assert row is not None
    return Content(*map(int, row))
