"""Whoever follows the feed looks its events up one by one, whatever the planner believes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, LiteralString

import psycopg
import pytest

from eventstore import sql_checkpoints, sql_standings, sql_watching, sql_webhooks
from eventstore.ids import uuid7
from tests.databases import Scratch, scratch_database

EVENTS = 30_000

FILL = """
SET session_replication_role = replica;
INSERT INTO events (game_id, version, body, hash)
    SELECT %(game_id)s::uuid, n, repeat('x', 300), sha256('') FROM generate_series(1, %(events)s) n;
INSERT INTO feed SELECT n, %(game_id)s::uuid, n FROM generate_series(1, %(events)s) n;
UPDATE pg_class SET relpages = 1, reltuples = 1000000 WHERE relname IN ('feed', 'deliveries');
"""
"""With what the planner goes by where it has no statistics: rows to a page, here far too many."""

READERS: dict[str, tuple[LiteralString, dict[str, object]]] = {
    "standings": (sql_standings.ENDS, {"first": 5000, "last": 5010}),
    "checkpoints": (sql_checkpoints.CHANGED_HEADS, {"after": 5000, "until": 5010}),
    "heads": (sql_checkpoints.STORED_HEADS, {"game_ids": [uuid7()] * 9, "versions": [1] * 9}),
    "fan-out": (sql_webhooks.SEATED, {"first": 5000, "last": 5010}),
    "deliveries": (sql_webhooks.DUE, {"webhook_id": uuid7(), "now": "now", "limit": 10}),
    "streams": (sql_watching.NEWS, {"games": [uuid7()] * 9, "versions": [1] * 9, "limit": 100}),
}


@pytest.fixture(scope="module")
def unknown() -> Iterator[Scratch]:
    """Many events, and a planner that expects more of whatever names some of them."""
    with scratch_database() as scratch:
        with connected(scratch.admin_url) as connection:
            tables = connection.execute(
                "SELECT format('ALTER TABLE %s SET (autovacuum_enabled = false)', oid::regclass)"
                " FROM pg_class"
                " WHERE relkind = 'r' AND (relname LIKE 'events%' OR relname = 'feed')"
            ).fetchall()
            for (statement,) in tables:
                connection.execute(statement)
            connection.execute(FILL, {"game_id": uuid7(), "events": EVENTS})
        yield scratch


def connected(url: str) -> psycopg.Connection[Any]:
    return psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor)


@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_never_reads_all_events(unknown: Scratch, reader: str, mode: str) -> None:
    statement, parameters = READERS[reader]
    numbers = {name: f"${number}" for number, name in enumerate(parameters, 1)}
    text = re.sub(r"%\((\w+)\)s", lambda found: numbers[found[1]], statement)
    given = ", ".join(["%s"] * len(parameters))
    with connected(unknown.app_url) as connection:
        connection.execute("SELECT set_config('plan_cache_mode', %s, false)", (mode,))
        connection.execute(f"PREPARE reader AS {text}".encode())
        rows = connection.execute(
            f"EXPLAIN EXECUTE reader({given})".encode(), list(parameters.values())
        ).fetchall()
    plan = "\n".join(row[0] for row in rows)
    scans = re.findall(r" on events_\w+ .*\n\s*(.*)", plan)
    assert scans, plan
    ways = ("Index Cond: (game_id = ", "Index Cond: ((game_id = ", "Recheck Cond: ((game_id = ")
    assert all(detail.startswith(ways) for detail in scans), plan
