"""Scratch databases for tests: one of its own for each test process, gone afterwards."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from eventstore.pool import Pool, open_pool
from migrations.run import upgrade

POOLS: list[Pool] = []
"""Those that several tests share. A test that cuts all connections leaves dead ones in them, which
`tests/conftest.py` replaces before the next."""

DEFAULT_URL = "postgresql://postgres@127.0.0.1:5432/postgres"


def server_url() -> str:
    """A superuser's URL on the server that tests may make databases on."""
    return os.environ.get("ABBOT_TEST_DATABASE_URL") or DEFAULT_URL


@dataclass(frozen=True)
class Scratch:
    """An empty database that is migrated, its two roles, and how to reach it as each."""

    name: str
    admin_url: str
    owner_url: str
    app_url: str
    clocked_url: str
    """As the application, on a clock that `advance` moves."""
    owner_role: str
    app_role: str

    def execute(self, statement: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Run a statement as the superuser, past every right of the roles."""
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def unguarded(self, table: str = "events") -> Iterator[None]:
        """Past the triggers of a table and its partitions, as only who owns the server can."""
        triggers = self.execute(
            "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger"
            " WHERE NOT tgisinternal AND tgrelid IN (SELECT relid FROM pg_partition_tree(%s)"
            " UNION SELECT %s::regclass)",
            (table, table),
        )
        for relation, name, _ in triggers:
            self.execute(f"ALTER TABLE ONLY {relation} DISABLE TRIGGER {name}")
        try:
            yield
        finally:
            for relation, name, state in triggers:
                how = {"A": "ENABLE ALWAYS", "O": "ENABLE", "D": "DISABLE"}[state]
                self.execute(f"ALTER TABLE ONLY {relation} {how} TRIGGER {name}")

    def blocked(self) -> int:
        """How many statements of the application wait for a lock."""
        ((count,),) = self.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND usename = %s AND wait_event_type = 'Lock'",
            (self.app_role,),
        )
        return int(count)

    def forget_processes(self) -> None:
        """No process has ever served on this database: what is left of those of an earlier test
        would tell of an outage, or of nodes, that this test knows nothing of."""
        self.execute("DELETE FROM service_time; DELETE FROM outages; DELETE FROM nodes")

    def advance(self, seconds: float) -> None:
        """Move the clock of the sessions on `clocked_url` forward (or back, if negative)."""
        self.execute("UPDATE clock.offset SET seconds = seconds + %s", (seconds,))


@contextmanager
def shared_pool(url: str) -> Iterator[Pool]:
    """Connections for tests that come one after the other."""
    with open_pool(url, 10) as pool:
        POOLS.append(pool)
        try:
            yield pool
        finally:
            POOLS.remove(pool)


_CLOCK = """
CREATE SCHEMA clock;
CREATE TABLE clock.offset (seconds double precision NOT NULL);
INSERT INTO clock.offset VALUES (0);
CREATE FUNCTION clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    'SELECT pg_catalog.clock_timestamp() + make_interval(secs => seconds) FROM clock.offset';
GRANT USAGE ON SCHEMA clock TO PUBLIC;
GRANT SELECT ON clock.offset TO PUBLIC;
"""
"""A clock that sessions see in place of the system's whose search path begins with it."""


@contextmanager
def scratch_database(*, migrated: bool = True) -> Iterator[Scratch]:
    """A database of its own, made for this block and dropped after it."""
    name = f"abbot_test_{os.getpid()}_{secrets.token_hex(4)}"
    owner, app = f"{name}_owner", f"{name}_app"
    password = secrets.token_hex(12)
    _on_server(
        *(
            sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(
                sql.Identifier(role), sql.Literal(password)
            )
            for role in (owner, app)
        ),
        sql.SQL("CREATE DATABASE {} OWNER {} ENCODING 'UTF8' TEMPLATE template0").format(
            sql.Identifier(name), sql.Identifier(owner)
        ),
    )
    scratch = Scratch(
        name=name,
        admin_url=_url(dbname=name),
        owner_url=_url(dbname=name, user=owner, password=password),
        app_url=_url(dbname=name, user=app, password=password),
        clocked_url=_url(
            dbname=name,
            user=app,
            password=password,
            options="-csearch_path=clock,pg_catalog,public",
        ),
        owner_role=owner,
        app_role=app,
    )
    try:
        scratch.execute(_CLOCK)
        if migrated:
            upgrade(scratch.owner_url, app, scratch.app_url)
        yield scratch
    finally:
        _on_server(
            sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)),
            *(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)) for role in (owner, app)),
        )


def _on_server(*statements: sql.Composed) -> None:
    with psycopg.connect(server_url(), autocommit=True) as server:
        for statement in statements:
            server.execute(statement)


def _url(**changes: str) -> str:
    return make_conninfo(**{**conninfo_to_dict(server_url()), **changes})
