"""Recurring work: on one node at a time, again after it was done or failed, never in turns' way."""

from __future__ import annotations

import datetime
import threading
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from domain.commands import ChangeSeat, MakeMove, Resign, SeatBot
from domain.refusals import Refused
from eventstore.attempts import KEEP
from eventstore.chores import FIRST_RETRY_SECONDS, ChoreRows
from eventstore.disputes import Disputes, Filing
from eventstore.executor import Executor
from eventstore.pool import Pool, open_pool
from eventstore.settings import Settings
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import a_request, open_table
from tests.workers.servers import wait_for
from workers import housekeeping
from workers.chores import CHORES, Chore, ChoreRunner
from workers.resources import Resources


class Clocked(Resources):
    """A node's resources on a clock that the test moves."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(replace(Settings.from_env(database_required=False), lobby_hours=2.0))
        store = Store(pool)
        self._opened = (store, Executor(store))


@pytest.fixture
def resources(scratch: Scratch) -> Iterator[Clocked]:
    scratch.execute("DELETE FROM chores")
    with open_pool(scratch.clocked_url, 8) as pool:
        yield Clocked(pool)
    scratch.execute("DELETE FROM chores")


@pytest.fixture
def rows(resources: Clocked) -> ChoreRows:
    rows = ChoreRows(resources.store().pool)
    rows.ensure(["sweep"])
    return rows


def test_a_new_chore_is_due_at_once_and_claimed_once(rows: ChoreRows) -> None:
    assert rows.waits(["sweep"])["sweep"] <= 0
    assert rows.claim("sweep", 60) == 1
    assert rows.claim("sweep", 60) is None
    assert 50 < rows.waits(["sweep"])["sweep"] <= 60


def test_a_claim_whose_lease_ran_out_ends_nothing(scratch: Scratch, rows: ChoreRows) -> None:
    lost = rows.claim("sweep", 60)
    assert lost is not None
    scratch.advance(61)
    assert rows.claim("sweep", 60) == 2
    rows.finish("sweep", lost, 1)
    assert rows.waits(["sweep"])["sweep"] > 50, "the second claim still stands"
    rows.finish("sweep", 2, 5)
    assert 3 < rows.waits(["sweep"])["sweep"] <= 5


def test_a_chore_that_fails_is_tried_again_later_and_later(
    scratch: Scratch, resources: Clocked, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: Resources) -> None:
        raise ValueError("E-rose is held twice")

    done: list[str] = []
    chores = {
        "fails": Chore(60, fail),
        "works": Chore(60, lambda _: done.append("works")),
    }
    runner = ChoreRunner(resources, chores)
    rows = ChoreRows(resources.store().pool)
    waits = []
    for _ in range(6):
        runner.tick()
        waits.append(rows.waits(["fails"])["fails"])
        scratch.advance(waits[-1] + 0.1)
    assert waits[0] == pytest.approx(FIRST_RETRY_SECONDS, abs=2)
    assert waits[1] == pytest.approx(2 * FIRST_RETRY_SECONDS, abs=2)
    assert waits[5] == pytest.approx(60, abs=2)
    assert done
    assert "fails" in caplog.text
    assert "E-rose" not in caplog.text


def test_several_nodes_run_a_chore_one_after_the_other(resources: Clocked) -> None:
    running = threading.Semaphore(1)
    runs: list[bool] = []

    def run(_: Resources) -> None:
        alone = running.acquire(blocking=False)
        runs.append(alone)
        threading.Event().wait(0.02)
        if alone:
            running.release()

    runners = [ChoreRunner(resources, {"slow": Chore(0.05, run)}) for _ in range(3)]
    for runner in runners:
        runner.start()
    wait_for(lambda: len(runs) >= 8, 30, "the chore runs again and again")
    for runner in runners:
        runner.stop()
        runner.join(10)
    assert all(runs)


def test_expired_answers_and_claims_are_forgotten(
    scratch: Scratch, resources: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(housekeeping, "BATCH_ROWS", 2)
    # A run is bounded: what other tests left would be removed first.
    scratch.execute("TRUNCATE idempotency, creations")
    table = open_table(resources.executor())
    old = [a_request() for _ in range(5)]
    for request in old:
        resources.executor().acknowledge(table.game_id, idempotency=request)
        resources.store().claim_creation(request, table.game_id, datetime.timedelta(days=1))
    scratch.advance(23 * 3600)
    fresh = a_request()
    resources.executor().acknowledge(table.game_id, idempotency=fresh)
    housekeeping.purge_answers(resources)
    assert _keys(scratch, "idempotency", table.game_id) == {r.key for r in [*old, fresh]}
    scratch.advance(2 * 3600)
    housekeeping.purge_answers(resources)
    housekeeping.purge_creations(resources)
    assert _keys(scratch, "idempotency", table.game_id) == {fresh.key}
    assert _keys(scratch, "creations", table.game_id) == set()


def _keys(scratch: Scratch, table: str, game_id: str) -> set[str]:
    rows = scratch.execute(f"SELECT key FROM {table} WHERE game_id = %s", (game_id,))
    return {key for (key,) in rows}


def test_a_table_that_never_starts_is_closed(scratch: Scratch, resources: Clocked) -> None:
    executor = resources.executor()
    idle = open_table(executor, humans=3, start=False)
    executor.execute(idle.game_id, SeatBot(str(idle.players[0]), "random"))
    busy = open_table(executor, start=False)
    started = open_table(executor, turn_seconds=14 * 24 * 3600)
    scratch.advance(1.5 * 3600)
    executor.execute(busy.game_id, ChangeSeat(str(busy.players[1]), "ab"))
    scratch.advance(3600)
    housekeeping.close_lobbies(resources)
    assert busy.game().status == "lobby"
    assert started.game().status == "active"
    game = idle.game()
    assert game.status == "cancelled"
    assert game.result == {"outcome": "cancelled", "reason": "empty"}
    closing = idle.events()[-4:]
    assert [event.type for event in closing] == ["seat.left"] * 3 + ["game.cancelled"]
    assert [event.by for event in closing] == [
        {"kind": "clock", "seat": seat} for seat in (1, 2, 0, 0)
    ]
    assert len({event.at for event in closing}) == 1
    housekeeping.close_lobbies(resources)
    assert idle.game().version == game.version


def test_tables_that_cannot_be_closed_hold_up_no_other(
    scratch: Scratch, resources: Clocked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(housekeeping, "LOBBY_ROWS", 2)
    executor = resources.executor()
    idle = open_table(executor, start=False)
    # Older ones whose record is not there.
    broken = [str(uuid.UUID(int=number)) for number in (1, 2, 3)]
    for game_id in broken:
        scratch.execute(
            "INSERT INTO games SELECT (jsonb_populate_record(g, jsonb_build_object('game_id', "
            "%s::text))).* FROM games g WHERE game_id = %s",
            (game_id, idle.game_id),
        )
    scratch.advance(3 * 3600)
    housekeeping.close_lobbies(resources)
    assert idle.game().status == "cancelled"
    scratch.execute("DELETE FROM games WHERE game_id = ANY(%s::uuid[])", (broken,))


def test_every_chore_runs_on_an_empty_service(scratch: Scratch, resources: Clocked) -> None:
    ChoreRunner(resources).tick()
    rows = scratch.execute("SELECT name, failures, done_at IS NOT NULL FROM chores")
    assert sorted(rows) == sorted((name, 0, True) for name in CHORES)


def test_old_attempts_go_and_pending_disputes_are_settled(
    scratch: Scratch, resources: Clocked
) -> None:
    executor = resources.executor()
    table = open_table(executor, "vallelujah")
    with pytest.raises(Refused):
        executor.execute(table.game_id, MakeMove(table.waiting(), table.a_move()))
    CHORES["purge-attempts"].run(resources)
    assert len(executor.attempts.page(table.game_id).items) == 1
    disputes = Disputes(executor.store, executor.attempts)
    filing = Filing(table.waiting(), "Unfair.", version=5, claim="shuffle")
    filed, _ = disputes.file(table.game_id, filing, check=lambda _: None)
    CHORES["settle-disputes"].run(resources)
    assert filed.pending
    assert len(disputes.stream(table.game_id)) == 1
    executor.execute(table.game_id, Resign(table.mover()))
    CHORES["settle-disputes"].run(resources)
    assert [event.type for event in disputes.stream(table.game_id)] == [
        "dispute.filed",
        "dispute.settled",
    ]
    scratch.advance(KEEP.total_seconds() + 1)
    CHORES["purge-attempts"].run(resources)
    assert executor.attempts.page(table.game_id).items == []
