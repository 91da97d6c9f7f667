"""Bring a database to the newest schema. `upgrade` is all that starters and tests need."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from eventstore.partitions import MONTHS_AHEAD
from migrations.privileges import grant, limit

LOCK = 7_226_801_946_310_245
"""The advisory lock that makes two starters migrate one after the other; any fixed number."""


class MigrationError(RuntimeError):
    """The database cannot be migrated; the text says what to do."""


def upgrade(owner_url: str, app_role: str, app_url: str | None = None) -> None:
    """Migrate to the head and give `app_role` its rights. Nothing happens if all is so already.

    `owner_url` must reach the server itself, not a pooler, as the role that owns the tables. The
    role's timeouts are set by the owner if it may, else by the role itself over `app_url`. Raises
    MigrationError if the application's role does not exist, and psycopg.Error for the rest.
    """
    with psycopg.connect(owner_url, connect_timeout=10) as waiting:
        # The lock is held by an open transaction of its own, as a migration may commit in between.
        waiting.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        waiting.execute("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0")
        waiting.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        if not waiting.execute(
            "SELECT true FROM pg_roles WHERE rolname = %s", (app_role,)
        ).fetchone():
            raise MigrationError(f"the application's role {app_role} does not exist on the server")
        engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: psycopg.connect(owner_url, connect_timeout=10),
            poolclass=NullPool,
        )
        with engine.connect() as connection:
            config = _config()
            config.attributes["connection"] = connection
            config.attributes["app_role"] = app_role
            command.upgrade(config, "head")
            connection.commit()
        with psycopg.connect(owner_url, connect_timeout=10) as owner:
            grant(owner, app_role)
            limited = limit(owner, app_role)
        with psycopg.connect(owner_url, connect_timeout=10) as owner:
            make_ahead(owner)
        if not limited and app_url is not None and app_url != owner_url:
            with psycopg.connect(app_url, connect_timeout=10) as application:
                limit(application, app_role)


def make_ahead(owner: psycopg.Connection[Any]) -> None:
    """Have the next months' partitions; whoever is too busy now does it the next time."""
    with contextlib.suppress(psycopg.errors.LockNotAvailable):
        owner.execute("SELECT make_partitions(%s)", (MONTHS_AHEAD,))


def head() -> str:
    """The newest revision in this checkout."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    assert revision is not None
    return revision


def current(url: str) -> str | None:
    """The revision that the database is at, None before the first run."""
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: psycopg.connect(url, connect_timeout=10),
        poolclass=NullPool,
    )
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    return config
