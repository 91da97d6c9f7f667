"""The timer thread's own logic: what goes to the pool, what it settles itself, how it survives."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from workers.publisher import Batch
from workers.settings import (
    BATCH_ROWS,
    CLAIM_ROWS,
    LONGEST_SLEEP_SECONDS,
    SPACING_SECONDS,
)
from workers.settling import DueTurn
from workers.timer import OUT_SECONDS, Timer, batches, bounded


@dataclass(frozen=True)
class Row:
    """A claimed row."""

    game_id: str
    turn: int = 1
    kind: str = "turn"
    round: int = 1
    reclaimed: bool = False


class Rows:
    """A clock whose answers are laid out beforehand; an exception among them is raised."""

    def __init__(
        self, *answers: Sequence[Row] | BaseException | None, due_in: float | None = None
    ) -> None:
        self.answers = deque(answers)
        self.due_in = due_in
        self.asked = threading.Semaphore(0)

    def claim(self, limit: int, lease_seconds: float) -> Sequence[Row] | None:
        self.asked.release()
        answer = self.answers.popleft() if self.answers else ()
        if isinstance(answer, BaseException):
            raise answer
        return answer if answer is None else answer[:limit]

    def wait(self) -> float | None:
        return self.due_in


class Pool:
    """What was offered and what was settled by the node."""

    def __init__(self, reachable: bool = True) -> None:
        self.reachable = reachable
        self.offered: list[Batch] = []
        self.settled: list[DueTurn] = []

    def offer(self, offered: Sequence[Batch]) -> bool:
        self.offered.extend(offered)
        return self.reachable

    def timer(self, rows: Rows, processes: int = 2) -> Timer:
        return Timer(lambda: rows, self.offer, self.settled.extend, processes=processes)


def test_due_rows_go_to_the_pool_shared_among_its_processes() -> None:
    pool = Pool()
    rows = Rows([Row(f"g{n}", kind=kind) for kind in ("turn", "bot") for n in range(31)])
    assert pool.timer(rows).tick() == SPACING_SECONDS
    assert [len(batch) for batch in pool.offered] == [16, 15, 16, 15]
    assert pool.offered[0][0] == ["g0", "turn", 1, 1]
    assert pool.offered[2][0] == ["g0", "bot", 1, 1]
    assert pool.settled == []


def test_few_expired_turns_go_together_and_bots_apart() -> None:
    pool = Pool()
    kinds = ["turn"] * 5 + ["bot"] * 2
    pool.timer(Rows([Row(f"g{n}", kind=kind) for n, kind in enumerate(kinds)])).tick()
    assert [len(batch) for batch in pool.offered] == [5, 1, 1]


def test_a_node_that_finds_much_due_goes_on_at_once() -> None:
    assert Pool().timer(Rows([Row(f"g{n}") for n in range(CLAIM_ROWS)])).tick() == 0


def test_no_task_is_larger_than_the_limit() -> None:
    dues = [DueTurn(f"g{n}", "turn", 1, 1) for n in range(5 * BATCH_ROWS)]
    cut = batches(dues, 2)
    assert max(map(len, cut)) == BATCH_ROWS
    assert [row for batch in cut for row in batch] == [list(due) for due in dues]


def test_without_a_broker_the_node_settles_itself() -> None:
    pool = Pool(reachable=False)
    pool.timer(Rows([Row("g1"), Row("g2")])).tick()
    assert pool.settled == [DueTurn("g1", "turn", 1, 1), DueTurn("g2", "turn", 1, 1)]


def test_what_the_node_settles_itself_is_done_in_batches_too() -> None:
    done: list[int] = []
    rows = Rows([Row(f"g{n}") for n in range(2 * BATCH_ROWS + 1)])
    timer = Timer(lambda: rows, lambda _: False, lambda dues: done.append(len(dues)), processes=2)
    timer.tick()
    assert done == [BATCH_ROWS, BATCH_ROWS, 1], "the first need not wait for the last"


def test_a_row_that_was_lost_on_its_way_is_settled_by_who_claims_it_again() -> None:
    pool = Pool()
    pool.timer(Rows([Row("lost", reclaimed=True), Row("new")])).tick()
    assert pool.offered == [[["new", "turn", 1, 1]]]
    assert pool.settled == [DueTurn("lost", "turn", 1, 1)]


@pytest.mark.parametrize(
    ("due_in", "sleeps"),
    [(None, LONGEST_SLEEP_SECONDS), (3600.0, LONGEST_SLEEP_SECONDS), (0.25, 0.25)],
)
def test_it_sleeps_until_the_next_row_is_due(due_in: float | None, sleeps: float) -> None:
    assert Pool().timer(Rows(due_in=due_in)).tick() == sleeps


def test_while_no_process_takes_moves_turns_wait(caplog: pytest.LogCaptureFixture) -> None:
    pool = Pool()
    timer = pool.timer(Rows(None, None, [Row("g1")], due_in=-3600.0))
    assert timer.tick() == OUT_SECONDS
    assert timer.tick() == OUT_SECONDS
    assert pool.offered == pool.settled == []
    assert len(caplog.records) == 1
    timer.tick()
    assert pool.offered == [[["g1", "turn", 1, 1]]]
    assert len(caplog.records) == 2


def test_a_row_that_is_due_already_leads_to_no_busy_loop() -> None:
    assert bounded(0.0) > 0
    assert bounded(-5.0) > 0


def test_whatever_is_raised_the_thread_lives_on(caplog: pytest.LogCaptureFixture) -> None:
    pool = Pool()
    secret = RuntimeError("E-rose is in nobody's hand")
    rows = Rows(secret, SystemExit(1), OSError(), [Row("g1")], due_in=0.01)
    timer = pool.timer(rows)
    timer.start()
    for _ in range(6):
        assert rows.asked.acquire(timeout=5)
    timer.stop()
    timer.join(5)
    assert pool.offered == [[["g1", "turn", 1, 1]]]
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2, "once when it began and once when it was over"
    assert "RuntimeError" in told[0]
    assert "E-rose" not in caplog.text


def test_a_stopped_timer_claims_nothing_more() -> None:
    rows = Rows(due_in=0.01)
    timer = Pool().timer(rows)
    timer.start()
    assert rows.asked.acquire(timeout=5)
    timer.stop()
    timer.join(5)
    while rows.asked.acquire(blocking=False):
        pass
    assert not rows.asked.acquire(timeout=0.1)


def test_it_goes_on_however_often_the_database_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.timer.LONGEST_SLEEP_SECONDS", 0.0)
    pool, failures = Pool(), 3000
    rows = Rows(*[ConnectionError("away")] * failures, [Row("g1")])
    timer = pool.timer(rows)
    timer.start()
    try:
        for _ in range(failures + 2):
            assert rows.asked.acquire(timeout=30), "the thread has died"
    finally:
        timer.stop()
        timer.join(30)
    assert pool.offered == [[["g1", "turn", 1, 1]]]
