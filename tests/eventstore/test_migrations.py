"""Migrations: once, twice, by two starters at a time, and what the application's role gets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from migrations import run
from migrations.privileges import GRANTS, ROLE_SETTINGS, limit
from tests.databases import Scratch, scratch_database

_PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")


def test_starters_at_the_same_time_migrate_once() -> None:
    with scratch_database(migrated=False) as empty:
        assert run.current(empty.owner_url) is None
        with ThreadPoolExecutor(4) as threads:
            starts = [
                threads.submit(run.upgrade, empty.owner_url, empty.app_role) for _ in range(4)
            ]
        for start in starts:
            start.result()
        assert run.current(empty.owner_url) == run.head()
        assert empty.execute("SELECT count(*) FROM alembic_version") == [(1,)]


def test_a_second_run_changes_nothing(scratch: Scratch) -> None:
    tables = "SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    before = sorted(scratch.execute(tables))
    run.upgrade(scratch.owner_url, scratch.app_role)
    assert sorted(scratch.execute(tables)) == before


def test_the_application_reads_which_revision_it_runs_on(scratch: Scratch) -> None:
    assert run.current(scratch.app_url) == run.head()


def test_a_role_that_does_not_exist_is_named(scratch: Scratch) -> None:
    with pytest.raises(run.MigrationError, match="nobody_here"):
        run.upgrade(scratch.owner_url, "nobody_here")


def test_the_application_has_these_rights_and_no_other(scratch: Scratch) -> None:
    tables = [
        name
        for (name,) in scratch.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'S')"
            " AND relnamespace = 'public'::regnamespace"
        )
    ]
    assert set(GRANTS) < set(tables)
    for table in tables:
        expected = GRANTS[table].split(", ") if table in GRANTS else []
        for privilege in _PRIVILEGES:
            (given,) = scratch.execute(
                "SELECT has_table_privilege(%s, %s, %s)", (scratch.app_role, table, privilege)
            )
            assert given == (privilege in expected,), (table, privilege)


def test_the_role_waits_only_so_long(scratch: Scratch) -> None:
    with psycopg.connect(scratch.app_url) as connection:
        for name, value in ROLE_SETTINGS.items():
            assert connection.execute(f"SHOW {name}".encode()).fetchone() == (value,)


def test_the_owner_is_not_limited(scratch: Scratch) -> None:
    with psycopg.connect(scratch.owner_url) as owner:
        assert not limit(owner, scratch.owner_role)
        assert owner.execute("SHOW statement_timeout").fetchone() == ("0",)


def test_one_role_for_everything_works() -> None:
    with scratch_database(migrated=False) as single:
        run.upgrade(single.owner_url, single.owner_role)
        with psycopg.connect(single.owner_url) as owner:
            assert owner.execute("SELECT count(*) FROM events").fetchone() == (0,)
