"""The database that a command works on: one that is named, of a running `up`, or our own."""

from __future__ import annotations

import contextlib
import logging
import signal
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType
from typing import LiteralString

import psycopg

from api.command import running, servers
from api.command.console import CommandFailed
from api.command.supervisor import Supervisor
from eventstore.errors import Unavailable
from eventstore.pool import Pool, open_pool
from eventstore.settings import Settings

UNREACHABLE = "the database cannot be reached"

OWNERS = "this takes ABBOT_OWNER_DATABASE_URL, with the role that owns the tables"
"""What is said where a role may not do what a command needs."""

_NO_RIGHTS = (
    "the role may not do this: `./abbot migrate` gives the one of ABBOT_DATABASE_URL its rights on "
    "the tables"
)

_LOOK: LiteralString = """
SELECT to_regclass('events') IS NULL, coalesce((SELECT pg_has_role(relowner, 'USAGE')
    FROM pg_class WHERE oid = to_regclass('events')), false),
    pg_has_role('pg_read_all_data', 'USAGE')
"""

_OTHERS = (
    psycopg.errors.UndefinedTable,
    psycopg.errors.UndefinedColumn,
    psycopg.errors.UndefinedFunction,
)
"""What statements end in where the tables are those of another release."""


@contextlib.contextmanager
def reached(*, make: bool = False, owner: bool = False) -> Iterator[Settings]:
    """Settings whose database is there, with our tables, while the block runs.

    Where no URL is set and no `abbot up` runs, the embedded server is started for the occasion.
    With `make` the database may have no tables yet, and the embedded one no data; with `owner` all
    tables can be read, as by their owner. Raises CommandFailed and Stopping.
    """
    with _found(make=make) as settings:
        if make:
            yield settings
            return
        with _ours(settings.owner_database_url, owner=owner):
            yield settings


@contextlib.contextmanager
def _found(*, make: bool) -> Iterator[Settings]:
    settings = servers.read_settings()
    if not settings.database_url:
        running.apply(settings.data_dir)
        settings = servers.read_settings()
    if settings.database_url:
        yield settings
        return
    if not make and not (settings.data_dir / "postgres" / "data").exists():
        raise CommandFailed(
            f"there is no database in {settings.data_dir} yet, and ABBOT_DATABASE_URL names none"
        )
    lock = servers.lock(settings.data_dir)
    try:
        with Supervisor(settings.data_dir) as supervisor:
            supervisor.reap_earlier_run(servers.STOPS)
            postgres = servers.Servers(settings.data_dir, supervisor).start_postgres()
            with _interruptible():
                yield replace(
                    settings,
                    database_url=postgres.application_url,
                    owner_database_url=postgres.owner_url,
                )
    finally:
        lock.release()


@contextlib.contextmanager
def connected(application: str) -> Iterator[tuple[Settings, Pool]]:
    """A connection to the database that is named or of a running `up`, and its settings. Raises
    CommandFailed where there is none, when it cannot be reached, and without our tables."""
    settings = servers.read_settings()
    if not settings.database_url:
        raise CommandFailed("no database: start `./abbot up`, or set ABBOT_DATABASE_URL.")
    try:
        with (
            _ours(settings.database_url),
            open_pool(settings.database_url, 1, application=application) as pool,
        ):
            yield settings, pool
    except Unavailable:
        raise CommandFailed(UNREACHABLE) from None


def quiet() -> None:
    """Commands say themselves that the database is away: a pool need not for each try."""
    logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


@contextlib.contextmanager
def _ours(url: str, *, owner: bool = False) -> Iterator[None]:
    """The block runs on a database that can be reached and has our tables, with `owner` as a role
    that may read all of them: CommandFailed else."""
    quiet()
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            row = connection.execute(_LOOK).fetchone()
    except psycopg.OperationalError:
        raise CommandFailed(UNREACHABLE) from None
    assert row is not None
    missing, owns, reads = row
    if missing:
        raise CommandFailed("the database has none of our tables yet: `./abbot migrate` makes them")
    if owner and not (owns or reads):
        raise CommandFailed(OWNERS)
    try:
        yield
    except psycopg.errors.InsufficientPrivilege:
        raise CommandFailed(OWNERS if owner else _NO_RIGHTS) from None
    except _OTHERS:
        raise CommandFailed(
            "the database's tables are those of another release: `./abbot migrate` brings them up "
            "to date"
        ) from None


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Signals end the block at once; the supervisor notes them, and looks when it waits."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
