"""The record cannot be changed: not by the application, and not by the owner of the tables."""

from __future__ import annotations

import contextlib
import datetime

import psycopg
import pytest
from psycopg import errors

from domain.commands import CreateGame
from eventstore.executor import Executor
from eventstore.ids import uuid7
from tests.databases import Scratch
from tests.eventstore.tables import open_table

CHANGES = [
    "UPDATE {table} SET body = body || ' '",
    "UPDATE {table} SET hash = sha256(hash)",
    "UPDATE {table} SET version = version + 1000",
    "UPDATE {table} SET game_id = gen_random_uuid()",
    "UPDATE {table} SET body = body",
    "DELETE FROM {table}",
    "DELETE FROM {table} WHERE version = (SELECT max(version) FROM {table})",
    "TRUNCATE {table}",
    "TRUNCATE {table} CASCADE",
    "MERGE INTO {table} e USING (SELECT 1) x ON true WHEN MATCHED THEN DELETE",
    "MERGE INTO {table} e USING (SELECT 1) x ON true WHEN MATCHED THEN UPDATE SET body = ''",
    "INSERT INTO {table} SELECT * FROM {table} LIMIT 1 "
    "ON CONFLICT (game_id, version) DO UPDATE SET body = ''",
    "WITH gone AS (DELETE FROM {table} RETURNING *) SELECT count(*) FROM gone",
]

DEFINITIONS = [
    "DROP TABLE {table}",
    "ALTER TABLE {table} DISABLE TRIGGER ALL",
    "ALTER TABLE {table} ADD COLUMN more text",
    "DROP TRIGGER append_only ON {table}",
    "CREATE RULE sneaky AS ON INSERT TO {table} DO INSTEAD NOTHING",
    "ALTER TABLE events DETACH PARTITION events_default",
    "ALTER TABLE events DETACH PARTITION {table}",
    "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
    "'BEGIN RETURN NULL; END'",
    "GRANT UPDATE ON {table} TO PUBLIC",
    "SET session_replication_role = replica",
    "LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE",
    "SELECT * FROM {table} FOR UPDATE",
]

OLD = "00000000-0000-7000-8000-000000000000"
"""A game of a month that has no partition."""
THIS_MONTH = f"events_{datetime.datetime.now(datetime.UTC):%Y_%m}"
TABLES = ["events", "events_default", THIS_MONTH]


@pytest.fixture(autouse=True)
def rows(scratch: Scratch, executor: Executor) -> list[tuple[object, ...]]:
    """There is something that could be changed, and it is the same afterwards."""
    open_table(executor)
    if executor.store.head(OLD) is None:
        executor.create(CreateGame(uuid7(), "halleluja"), game_id=OLD)
    return scratch.execute("SELECT * FROM events ORDER BY game_id, version")


def _run(url: str, *statements: str) -> None:
    with psycopg.connect(url) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def _stored(scratch: Scratch) -> list[tuple[object, ...]]:
    return scratch.execute("SELECT * FROM events ORDER BY game_id, version")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("statement", CHANGES)
def test_the_application_may_not(
    scratch: Scratch, rows: list[object], statement: str, table: str
) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        _run(scratch.app_url, statement.format(table=table))
    assert _stored(scratch) == rows


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("statement", DEFINITIONS)
def test_the_application_may_not_change_the_tables(
    scratch: Scratch, rows: list[object], statement: str, table: str
) -> None:
    if statement.startswith("GRANT"):
        # PostgreSQL answers a grant without the right to it with a warning, and grants nothing.
        with contextlib.suppress(errors.InsufficientPrivilege):
            _run(scratch.app_url, statement.format(table=table))
        (granted,) = scratch.execute("SELECT has_table_privilege('public', %s, 'UPDATE')", (table,))
        assert granted == (False,)
    else:
        with pytest.raises(errors.InsufficientPrivilege):
            _run(scratch.app_url, statement.format(table=table))
    assert _stored(scratch) == rows


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("statement", CHANGES)
def test_the_owner_may_not_either(
    scratch: Scratch, rows: list[object], statement: str, table: str
) -> None:
    with pytest.raises(errors.RestrictViolation):
        _run(scratch.owner_url, statement.format(table=table))
    assert _stored(scratch) == rows


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("statement", CHANGES)
def test_nor_a_superuser_who_replicates(
    scratch: Scratch, rows: list[object], statement: str, table: str
) -> None:
    with pytest.raises(errors.RestrictViolation):
        _run(
            scratch.admin_url,
            "SET session_replication_role = replica",
            statement.format(table=table),
        )
    assert _stored(scratch) == rows


def test_a_new_partition_is_guarded_by_its_row_trigger(scratch: Scratch) -> None:
    game_id = "ffffffff-0000-7000-8000-000000000000"
    with psycopg.connect(scratch.owner_url) as owner:
        owner.execute(
            "CREATE TABLE events_last PARTITION OF events "
            "FOR VALUES FROM ('ffffffff-0000-7000-8000-000000000000') TO (MAXVALUE)"
        )
        owner.execute("INSERT INTO events VALUES (%s, 1, '{}', sha256(''))", (game_id,))
        owner.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(errors.RestrictViolation):
            owner.execute("DELETE FROM events_last")
        owner.rollback()


@pytest.mark.parametrize("table", TABLES[1:])
@pytest.mark.parametrize(
    "statement", ["UPDATE {} SET body = body", "DELETE FROM {}", "TRUNCATE {}"]
)
def test_a_partition_that_is_detached_by_hand_is_guarded_too(
    scratch: Scratch, statement: str, table: str
) -> None:
    with psycopg.connect(scratch.owner_url) as owner:
        owner.execute(f"ALTER TABLE events DETACH PARTITION {table}".encode())
        with pytest.raises(errors.RestrictViolation):
            owner.execute(statement.format(table).encode())
        owner.rollback()


@pytest.mark.parametrize("table", TABLES[1:])
def test_the_application_reads_a_partition_through_its_parent_only(
    scratch: Scratch, table: str
) -> None:
    for statement in ("SELECT * FROM {}", "INSERT INTO {} SELECT * FROM events LIMIT 1"):
        with pytest.raises(errors.InsufficientPrivilege):
            _run(scratch.app_url, statement.format(table))


def test_each_of_them_has_something_that_could_be_changed(scratch: Scratch) -> None:
    found = scratch.execute("SELECT DISTINCT tableoid::regclass::text FROM events")
    assert {name for (name,) in found} >= set(TABLES[1:])


def test_a_version_is_stored_once(scratch: Scratch) -> None:
    game_id = uuid7()
    insert = f"INSERT INTO events VALUES ('{game_id}', 1, '{{}}', sha256(''))"
    with pytest.raises(errors.UniqueViolation):
        _run(scratch.app_url, insert, insert)


@pytest.mark.parametrize("values", ["0, '{}', sha256('')", "1, '{}', 'short'", "1, NULL, NULL"])
def test_what_is_no_event_is_refused(scratch: Scratch, values: str) -> None:
    with pytest.raises(errors.IntegrityError):
        _run(scratch.app_url, f"INSERT INTO events VALUES ('{uuid7()}', {values})")


@pytest.mark.parametrize(
    "change", ["secret = sha256(secret)", "game_id = gen_random_uuid()", "ruleset = 'other'"]
)
def test_the_application_may_not_change_what_a_game_is(scratch: Scratch, change: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        _run(scratch.app_url, f"UPDATE games SET {change}")
