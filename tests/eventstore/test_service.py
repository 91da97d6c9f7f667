"""When the service was up: beats, gaps, and turns that get back what an outage took."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain import verification
from domain.commands import ComeBack, MakeMove, Resign
from domain.game import overdue
from domain.refusals import TURN_EXPIRED, Refused
from domain.times import to_micros
from eventstore.chain import verify
from eventstore.deadlines import Deadlines
from eventstore.errors import OutOfService
from eventstore.executor import Executor
from eventstore.pool import open_pool
from eventstore.service import HOLD_SECONDS, OUTAGE_SECONDS, ServiceTime
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import Table, open_table

LONG_AGO = "2000-01-01T00:00:00.000000Z"
TURN = 60


@pytest.fixture
def store(scratch: Scratch) -> Iterator[Store]:
    """A store on a clock that the test moves, at which no process has ever taken moves."""
    forget = "DELETE FROM service_time; DELETE FROM outages; DELETE FROM deadlines"
    scratch.execute(forget)
    with open_pool(scratch.clocked_url, 8) as pool:
        yield Store(pool)
    scratch.execute(forget)


@pytest.fixture
def api(store: Store) -> Executor:
    """The executor of a process that takes moves."""
    return Executor(store, serving=True)


@pytest.fixture
def worker(store: Store) -> Executor:
    return Executor(store)


def beat_on(scratch: Scratch, service: ServiceTime, seconds: float) -> None:
    """Time goes by, with the service up."""
    while seconds > 0:
        scratch.advance(min(1.0, seconds))
        service.beat()
        seconds -= 1


def away(scratch: Scratch, seconds: float) -> None:
    """Time goes by, with no process up."""
    scratch.advance(seconds)


def extended(table: Table) -> list[int]:
    return [e.data["seconds"] for e in table.events() if e.type == "turn.extended"]


def expired(table: Table) -> int:
    return sum(event.type == "turn.expired" for event in table.events())


def test_before_the_first_beat_nothing_is_known_and_nothing_waits(store: Store) -> None:
    service = ServiceTime(store.pool).look(LONG_AGO)
    assert service.age is None
    assert not service.out
    assert service.outages == ()
    assert Deadlines(store.pool).claim(10, 5) == []


def test_an_idle_service_has_no_outage(scratch: Scratch, store: Store) -> None:
    time = ServiceTime(store.pool)
    time.beat()
    beat_on(scratch, time, 30)
    service = time.look(LONG_AGO)
    assert service.outages == ()
    assert not service.out


def test_a_short_gap_is_none(scratch: Scratch, store: Store) -> None:
    time = ServiceTime(store.pool)
    time.beat()
    away(scratch, OUTAGE_SECONDS - 0.5)
    assert time.look(LONG_AGO).out
    time.beat()
    service = time.look(LONG_AGO)
    assert service.outages == ()
    assert not service.out


def test_a_gap_is_one_outage_whoever_ends_it(scratch: Scratch, store: Store) -> None:
    time = ServiceTime(store.pool)
    time.beat()
    away(scratch, 20)
    assert time.look(LONG_AGO).out
    with ThreadPoolExecutor(8) as processes:
        for done in [processes.submit(time.beat) for _ in range(16)]:
            done.result()
    (outage,) = time.look(LONG_AGO).outages
    seconds = (to_micros(outage.ended_at) - to_micros(outage.began_at)) / 1e6
    assert seconds == pytest.approx(20, abs=10)
    assert seconds >= 20
    assert time.look(outage.ended_at).outages == ()


def test_a_turn_gets_back_what_the_outage_took(
    scratch: Scratch, store: Store, api: Executor, worker: Executor
) -> None:
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    beat_on(scratch, api.service, 30)
    away(scratch, 100)
    api.service.beat()
    game = table.game()
    assert game.turn is not None
    turn = (game.round, game.turn.number)
    assert worker.expire(table.game_id, *turn) is None
    assert worker.expire(table.game_id, *turn) is None
    assert not worker.give_back(table.game_id)
    (seconds,) = extended(table)
    assert 100 <= seconds <= 110
    assert expired(table) == 0
    game = table.game()
    assert game.due_seconds == TURN + seconds
    rows = scratch.execute(
        "SELECT to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), claims"
        " FROM deadlines WHERE game_id = %s AND kind = 'turn'",
        (table.game_id,),
    )
    assert rows == [(game.due_at, 0)]
    beat_on(scratch, api.service, 15)
    table.make_move()
    assert expired(table) == 0
    assert verify(table.events(), game_id=table.game_id) is None
    checks = verification.verify(table.events())
    assert [each for each in checks if each.ok is False] == [], (
        "the record explains when it was due"
    )


def test_a_move_that_comes_before_the_extension_was_written_counts(
    scratch: Scratch, api: Executor
) -> None:
    """The first sign of life after the outage is the move's own request."""
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    beat_on(scratch, api.service, 50)
    away(scratch, 3600)
    outcome = table.make_move()
    assert outcome.events[0].type != "turn.extended"
    types = [event.type for event in table.events()]
    assert "turn.expired" not in types
    assert types.index("turn.extended") == outcome.first - 2
    assert len(extended(table)) == 1


def test_a_dry_run_sees_the_time_that_a_move_would_have(
    scratch: Scratch, store: Store, api: Executor
) -> None:
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    beat_on(scratch, api.service, 50)
    away(scratch, 100)
    loaded = store.load(table.game_id)
    assert loaded is not None
    assert overdue(loaded.game, loaded.now)
    assert not overdue(api.with_time_back(loaded), loaded.now)
    assert extended(table) == [], "nothing is recorded"


def test_a_move_that_is_too_late_all_the_same_is_refused(scratch: Scratch, api: Executor) -> None:
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    beat_on(scratch, api.service, 50)
    away(scratch, 100)
    beat_on(scratch, api.service, 30)
    move = MakeMove(table.mover(), table.a_move())
    with pytest.raises(Refused) as refused:
        api.execute(table.game_id, move)
    assert refused.value.code == TURN_EXPIRED
    events = table.events()
    at = next(e for e in events if e.type == "turn.expired")
    assert extended(table)
    assert events[at.version - 2].type == "turn.extended"
    assert at.data["due_at"] > events[at.version - 3].at


def test_a_turn_that_ran_out_before_gets_nothing(
    scratch: Scratch, api: Executor, worker: Executor
) -> None:
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    beat_on(scratch, api.service, TURN + 5)
    away(scratch, 100)
    api.service.beat()
    game = table.game()
    assert game.turn is not None
    assert worker.expire(table.game_id, game.round, game.turn.number) is not None
    assert extended(table) == []
    assert expired(table) == 1


def test_while_moves_cannot_be_made_no_turn_expires(
    scratch: Scratch, store: Store, api: Executor, worker: Executor
) -> None:
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    beat_on(scratch, api.service, 50)
    away(scratch, 100)
    assert Deadlines(store.pool).claim(10, 5) is None
    game = table.game()
    assert game.turn is not None
    with pytest.raises(OutOfService):
        worker.expire(table.game_id, game.round, game.turn.number)
    assert expired(table) == 0
    api.service.beat()
    claimed = Deadlines(store.pool).claim(10, 5)
    assert claimed is not None
    assert [due.game_id for due in claimed] == [table.game_id]
    away(scratch, HOLD_SECONDS + 0.5)
    assert Deadlines(store.pool).claim(10, 5) is None


def test_every_outage_counts(scratch: Scratch, api: Executor, worker: Executor) -> None:
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    for _ in range(3):
        beat_on(scratch, api.service, 10)
        away(scratch, 40)
        api.service.beat()
        assert worker.give_back(table.game_id)
        assert not worker.give_back(table.game_id)
    assert len(extended(table)) == 3
    assert sum(extended(table)) == pytest.approx(3 * 40, abs=6)
    assert table.game().due_seconds == TURN + sum(extended(table))


def test_what_leaves_the_turn_running_leaves_it_owed(scratch: Scratch, api: Executor) -> None:
    """An exclamation before the extension was written takes nothing from the seat to move."""
    api.service.beat()
    table = open_table(api, humans=3, pause_seconds=0)
    beat_on(scratch, api.service, 10)
    away(scratch, 20)
    api.execute(table.game_id, MakeMove(table.waiting(), {"type": "exclaim", "word": "mau"}))
    assert extended(table) == []
    beat_on(scratch, api.service, 45)
    api.execute(table.game_id, Resign(table.waiting()))
    assert len(extended(table)) == 1
    assert expired(table) == 0


def test_many_at_a_time_give_back_once(scratch: Scratch, api: Executor, worker: Executor) -> None:
    api.service.beat()
    table = open_table(api, pause_seconds=0)
    beat_on(scratch, api.service, 30)
    away(scratch, 100)
    api.service.beat()
    game = table.game()
    assert game.turn is not None
    turn = (game.round, game.turn.number)
    with ThreadPoolExecutor(6) as nodes:
        jobs = [nodes.submit(worker.expire, table.game_id, *turn) for _ in range(3)]
        jobs += [nodes.submit(api.execute, table.game_id, ComeBack(str(p))) for p in table.players]
        jobs += [nodes.submit(worker.give_back, table.game_id)]
        for job in jobs:
            job.result()
    assert len(extended(table)) == 1
    assert expired(table) == 0
