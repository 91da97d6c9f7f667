"""Statements that are given to libpq as bytes."""

from __future__ import annotations

import pytest
from psycopg.pq.abc import PGresult

from eventstore import prepared, sql
from eventstore.executor import Executor
from eventstore.pool import BoundedConnection, Row, bounded, open_pool
from eventstore.prepared import Prepared
from eventstore.sending import ENCODERS
from eventstore.store import STATEMENTS, Store
from tests.databases import Scratch

from .tables import open_table

THRESHOLDS = (None, 1)


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("text", STATEMENTS)
def test_rows_are_those_of_a_cursor(scratch: Scratch, text: str, threshold: int | None) -> None:
    with open_pool(scratch.app_url, 1, prepare_threshold=threshold) as pool:
        table = open_table(Executor(Store(pool)), "vallelujah")
        parameters = {"game_id": table.game_id, "token_id": None, "key": None, "version": 2}
        with pool.connection() as connection:
            for _ in range(4):  # not prepared yet, and then prepared
                cursor = connection.execute(text, parameters, binary=True)  # type: ignore[arg-type]
                by_cursor = _lasting(text, cursor.fetchall())
                by_hand = STATEMENTS[text].rows(bounded(connection), parameters)  # type: ignore[index]
                assert by_cursor == _lasting(text, by_hand) != []


def _lasting(text: str, rows: list[Row]) -> list[Row]:
    """Without the time of asking: it stands in the first row of a game, and first in a tail."""
    return [row[1:] for row in rows] if text == sql.TAIL else rows[1:]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_a_parameter_may_stand_twice_and_none_is_null(
    scratch: Scratch, threshold: int | None
) -> None:
    text = "SELECT %(key)s::text, %(path)s::text, %(key)s::text || 'x', ARRAY[%(path)s::text]"
    statement = Prepared("twice", text, ENCODERS)
    assert statement.parameters == ("key", "path")
    with (
        open_pool(scratch.app_url, 1, prepare_threshold=threshold) as pool,
        pool.connection() as connection,
    ):
        for _ in range(3):
            rows = statement.rows(bounded(connection), {"path": None, "key": "ü", "more": 1})
            assert rows == [("ü", None, "üx", [None])]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_no_rows(scratch: Scratch, threshold: int | None) -> None:
    statement = Prepared("none", "SELECT 1 WHERE %(version)s::int > 5", ENCODERS)
    with (
        open_pool(scratch.app_url, 1, prepare_threshold=threshold) as pool,
        pool.connection() as connection,
    ):
        for version, rows in ((1, []), (6, [(1,)]), (5, []), (7, [(1,)])):
            assert statement.rows(bounded(connection), {"version": version}) == rows


def test_a_rollback_on_the_same_connection_takes_nothing_away(scratch: Scratch) -> None:
    """psycopg deallocates everything after one, if it has itself prepared anything."""
    statement = Prepared("kept", "SELECT %(version)s::int", ENCODERS)
    with (
        open_pool(scratch.app_url, 1, prepare_threshold=1) as pool,
        pool.connection() as connection,
    ):
        for version in range(9):
            assert statement.rows(bounded(connection), {"version": version}) == [(version,)]
            if version == 4:
                for _ in range(3):
                    connection.execute("SELECT 1")
                with connection.transaction(force_rollback=True):
                    pass
                assert (
                    connection.execute("SELECT name FROM pg_prepared_statements").fetchall() == []
                )
        found = connection.execute("SELECT name FROM pg_prepared_statements").fetchall()
    assert ("kept",) in found, "and it is prepared again"


def test_who_is_interrupted_while_it_is_prepared_leaves_a_connection_that_works(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    statement = Prepared("interrupted", "SELECT %(version)s::int", ENCODERS)
    answered = prepared._result
    calls = 0

    def interrupted(connection: BoundedConnection) -> PGresult:
        nonlocal calls
        calls += 1
        result = answered(connection)
        if calls == 2:  # the answer to the preparation
            raise KeyboardInterrupt
        return result

    monkeypatch.setattr(prepared, "_result", interrupted)
    with (
        open_pool(scratch.app_url, 1, prepare_threshold=1) as pool,
        pool.connection() as connection,
    ):
        assert statement.rows(bounded(connection), {"version": 1}) == [(1,)]
        with pytest.raises(KeyboardInterrupt):
            statement.rows(bounded(connection), {"version": 2})
        assert connection.execute("SELECT name FROM pg_prepared_statements").fetchall()
        for version in (3, 4):
            assert statement.rows(bounded(connection), {"version": version}) == [(version,)]
