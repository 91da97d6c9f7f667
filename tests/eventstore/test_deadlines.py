"""Claiming what is due: once for each lease, the oldest first, by the database's clock."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from eventstore.deadlines import Deadlines, Due
from eventstore.executor import Executor
from eventstore.pool import open_pool
from eventstore.sql import CLAIM_DUE
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import Table, open_table


@pytest.fixture
def clocked(scratch: Scratch) -> Iterator[Executor]:
    """An executor on a clock that the test moves, with no deadline but the test's own."""
    scratch.execute("DELETE FROM deadlines")
    with open_pool(scratch.clocked_url, 8) as pool:
        yield Executor(Store(pool))
    scratch.execute("DELETE FROM deadlines")


def deadlines(executor: Executor) -> Deadlines:
    return Deadlines(executor.store.pool)


def claim_due(executor: Executor, limit: int, lease: float) -> list[Due]:
    """What is claimed of due rows, while no outage keeps anyone from it."""
    claimed = deadlines(executor).claim(limit, lease)
    assert claimed is not None
    return claimed


def _tables(executor: Executor, count: int) -> list[Table]:
    return [open_table(executor, pause_seconds=0) for _ in range(count)]


def test_nothing_is_due(clocked: Executor) -> None:
    assert deadlines(clocked).wait() is None
    assert claim_due(clocked, 10, 5) == []


def test_how_long_until_the_next(scratch: Scratch, clocked: Executor) -> None:
    _tables(clocked, 2)
    wait = deadlines(clocked).wait()
    assert wait is not None
    assert 50 < wait <= 60
    scratch.advance(100)
    wait = deadlines(clocked).wait()
    assert wait is not None
    assert -50 < wait <= -40


def test_what_is_due_is_claimed_once_for_each_lease(scratch: Scratch, clocked: Executor) -> None:
    (table,) = _tables(clocked, 1)
    assert claim_due(clocked, 10, 5) == []
    scratch.advance(61)
    game = table.game()
    assert game.turn is not None
    assert game.due_at is not None
    claim = Due(table.game_id, "turn", game.round, game.turn.number, game.due_at, False)
    assert claim_due(clocked, 10, 5) == [claim]
    assert claim_due(clocked, 10, 5) == []
    assert deadlines(clocked).wait() is None
    scratch.advance(6)
    assert claim_due(clocked, 10, 5) == [claim._replace(reclaimed=True)]


def test_a_released_claim_is_free_at_once(scratch: Scratch, clocked: Executor) -> None:
    _tables(clocked, 1)
    scratch.advance(61)
    claimed = claim_due(clocked, 10, 5)
    deadlines(clocked).release(claimed)
    assert claim_due(clocked, 10, 5) == claimed


def test_the_oldest_first(scratch: Scratch, clocked: Executor) -> None:
    tables = []
    for _ in range(4):
        tables += _tables(clocked, 1)
        scratch.advance(1)
    scratch.advance(61)
    first = claim_due(clocked, 2, 5)
    rest = claim_due(clocked, 10, 5)
    assert [due.game_id for due in first + rest] == [table.game_id for table in tables]
    assert len(first) == 2


def test_the_next_turn_begins_unclaimed(scratch: Scratch, clocked: Executor) -> None:
    _tables(clocked, 1)
    scratch.advance(61)
    (due,) = claim_due(clocked, 10, 3600)
    assert clocked.expire(due.game_id, due.round, due.turn) is not None
    scratch.advance(61)
    (following,) = claim_due(clocked, 10, 5)
    assert following.game_id == due.game_id
    assert (following.round, following.turn) > (due.round, due.turn)
    assert not following.reclaimed


def test_nodes_share_what_is_due(scratch: Scratch, clocked: Executor) -> None:
    tables = _tables(clocked, 12)
    scratch.advance(61)

    def claim_all(_: int) -> list[Due]:
        claimed: list[Due] = []
        for _ in range(12):
            claimed += claim_due(clocked, 3, 60)
        return claimed

    with ThreadPoolExecutor(4) as nodes:
        shares = list(nodes.map(claim_all, range(4)))
    claimed = sorted(due.game_id for share in shares for due in share)
    assert claimed == sorted(table.game_id for table in tables)


def test_the_scan_is_along_the_index(scratch: Scratch, clocked: Executor) -> None:
    _tables(clocked, 1)
    with psycopg.connect(scratch.admin_url) as connection:
        # So small a table is else read whole, whatever the statement.
        connection.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
        now = datetime.datetime.now(datetime.UTC)
        parameters = {"now": now, "until": now, "limit": 10}
        explained = psycopg.ClientCursor(connection).execute(f"EXPLAIN {CLAIM_DUE}", parameters)
        plan = "\n".join(line for (line,) in explained.fetchall())
    assert "Index Scan using deadlines_due" in plan
    assert "Index Cond: (due_at <" in plan
    assert "Sort" not in plan
