"""Connections that break: what was stored is said to be stored, and nothing is stored twice."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from domain.commands import CreateGame, MakeMove, Resign
from domain.game import Game
from domain.refusals import Refused
from eventstore.appending import Append, Appended
from eventstore.chain import verify
from eventstore.database import Database
from eventstore.errors import Unavailable
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.proxies import LosingProxy, losing_proxy
from tests.eventstore.tables import a_request, open_table


@pytest.fixture
def proxy(scratch: Scratch) -> Iterator[LosingProxy]:
    """A proxy that can lose answers."""
    with losing_proxy(scratch.app_url) as losing:
        yield losing


@pytest.fixture
def shaky(proxy: LosingProxy) -> Iterator[Executor]:
    """An executor whose only connection goes through the proxy."""
    with open_pool(proxy.url, 1) as pool:
        pool.wait()
        yield Executor(Store(pool))


def _lose_the_appends_answer(proxy: LosingProxy) -> Callable[[Game], None]:
    """A check that has the proxy lose the answer to what follows it first: the append."""
    asked = threading.Event()

    def check(game: Game) -> None:
        if not asked.is_set():
            asked.set()
            proxy.lose_next_answer()

    return check


@pytest.mark.parametrize("keyed", [False, True])
def test_an_append_whose_answer_is_lost_was_stored(
    proxy: LosingProxy, shaky: Executor, keyed: bool
) -> None:
    table = open_table(shaky)
    version, request = table.game().version, a_request() if keyed else None
    outcome = shaky.execute(
        table.game_id,
        MakeMove(table.mover(), table.a_move()),
        check=_lose_the_appends_answer(proxy),
        idempotency=request,
    )
    assert proxy.lost == 1
    assert outcome.first == version + 1
    assert table.events()[version:] == outcome.events
    assert outcome.game.due_at == table.game().due_at
    assert verify(table.events(), game_id=table.game_id) is None


def test_a_move_that_names_its_turn_and_whose_answer_is_lost_was_stored(
    proxy: LosingProxy, shaky: Executor
) -> None:
    """It is not read for, so the append is the first thing that is sent."""
    table = open_table(shaky, "vallelujah")
    game = table.game()
    assert game.turn is not None
    command = MakeMove(table.mover(), table.a_move(), game.round, game.turn.number)
    proxy.lose_next_answer()
    outcome = shaky.execute(table.game_id, command)
    assert proxy.lost == 1
    assert outcome.first == game.version + 1
    assert table.events()[game.version :] == outcome.events
    assert outcome.game.due_at == table.game().due_at


def test_nothing_to_do_whose_answer_is_lost(proxy: LosingProxy, shaky: Executor) -> None:
    table = open_table(shaky, humans=3)
    quitter = str(table.players[2])
    shaky.execute(table.game_id, Resign(quitter))
    version = table.game().version
    outcome = shaky.execute(
        table.game_id,
        Resign(quitter),
        check=_lose_the_appends_answer(proxy),
        idempotency=a_request(),
    )
    assert proxy.lost == 1
    assert (outcome.events, outcome.last) == ([], version)


def test_a_read_whose_answer_is_lost_is_read_again(proxy: LosingProxy, shaky: Executor) -> None:
    table = open_table(shaky)
    proxy.lose_next_answer()
    assert table.events()
    assert proxy.lost == 1


@pytest.mark.parametrize("lost", range(1, 5))
def test_a_table_is_opened_once_whatever_answer_is_lost(
    scratch: Scratch, proxy: LosingProxy, shaky: Executor, lost: int
) -> None:
    """The answer number `lost` of the statements of a keyed creation."""
    player, request = uuid7(), a_request()
    count = 0

    def counted(run: Callable[..., object]) -> Callable[..., object]:
        def statement(*arguments: object) -> object:
            nonlocal count
            count += 1
            if count == lost:
                proxy.lose_next_answer()
            return run(*arguments)

        return statement

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "once", counted(Database.once))
        patch.setattr(Store, "append", counted(Store.append))
        outcome = shaky.create(CreateGame(player, "halleluja"), idempotency=request)
    assert proxy.lost == 1
    again = shaky.create(CreateGame(player, "halleluja"), idempotency=request)
    assert again.events == outcome.events
    assert scratch.execute("SELECT count(*) FROM seats WHERE player_id = %s", (player,)) == [(1,)]


def _terminate_the_append(scratch: Scratch) -> None:
    """End the session that waits inside an append for a lock."""
    for _ in range(200):
        ended = scratch.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            " AND query LIKE '%%append_events%%' AND wait_event_type = 'Lock'"
            " AND pid <> pg_backend_pid()",
            (scratch.name,),
        )
        if ended:
            return
        time.sleep(0.02)
    raise AssertionError("no append is waiting")


def test_a_session_killed_within_the_append_stored_nothing(
    scratch: Scratch, executor: Executor
) -> None:
    """The append waits for the summary's row, its events already written; then it is killed."""
    table = open_table(executor)
    version = table.game().version
    command = MakeMove(table.mover(), table.a_move())
    with psycopg.connect(scratch.admin_url) as blocker, ThreadPoolExecutor(1) as thread:
        blocker.execute("SELECT version FROM games WHERE game_id = %s FOR UPDATE", (table.game_id,))
        moving = thread.submit(executor.execute, table.game_id, command)
        _terminate_the_append(scratch)
        blocker.rollback()
        outcome = moving.result(timeout=20)
    assert outcome.first == version + 1
    assert table.events()[version:] == outcome.events
    assert verify(table.events(), game_id=table.game_id) is None


def test_a_lock_that_is_held_too_long_is_unavailable(scratch: Scratch, executor: Executor) -> None:
    table = open_table(executor)
    version = table.game().version
    with open_pool(f"{scratch.app_url} options='-clock_timeout=100ms'", 1) as pool:
        impatient = Executor(Store(pool), patience=0.3)
        with psycopg.connect(scratch.admin_url) as blocker:
            blocker.execute(
                "SELECT version FROM games WHERE game_id = %s FOR UPDATE", (table.game_id,)
            )
            command = MakeMove(table.mover(), table.a_move())
            with pytest.raises(Unavailable):
                impatient.execute(table.game_id, command)
    assert table.game().version == version


def test_all_sessions_killed_between_two_moves(scratch: Scratch, store: Store) -> None:
    """As after a restart: every pooled connection is dead, and the next moves find that out."""
    with open_pool(scratch.app_url, 5, application="killed") as pool:
        pool.resize(5)
        pool.wait()
        executor = Executor(Store(pool))
        tables = [open_table(executor) for _ in range(3)]
        for table in tables:
            scratch.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'killed' AND datname = %s",
                (scratch.name,),
            )
            version = table.game().version
            assert table.make_move().first == version + 1


def test_no_database_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("psycopg.pool"), "disabled", True)
    with open_pool("host=127.0.0.1 port=1 user=nobody dbname=none", 1, timeout=0.2) as pool:
        executor = Executor(Store(pool))
        with pytest.raises(Unavailable) as raised:
            executor.execute(uuid7(), Resign(uuid7()))
    assert "127.0.0.1" not in str(raised.value)


def test_no_free_connection_is_unavailable(scratch: Scratch) -> None:
    with (
        open_pool(scratch.app_url, 1, timeout=0.1) as pool,
        pool.connection(),
        pytest.raises(Unavailable),
    ):
        Store(pool).head(uuid7())


def test_without_prepared_statements(scratch: Scratch) -> None:
    """As a pooler in transaction mode needs it."""
    with open_pool(scratch.app_url, 2, prepare_threshold=None) as pool:
        table = open_table(Executor(Store(pool)), "vallelujah", rounds_to_win=9)
        for _ in range(8):
            table.make_move()
        for _ in range(2):
            with pool.connection() as connection:
                prepared = connection.execute("SELECT count(*) FROM pg_prepared_statements")
                assert prepared.fetchone() == (0,)
        assert verify(table.events(), game_id=table.game_id) is None


def test_a_database_that_can_only_be_read_is_not_asked_again(
    scratch: Scratch, executor: Executor
) -> None:
    """A standby will not let itself be changed a moment later either."""
    table = open_table(executor, "vallelujah")
    url = make_conninfo(scratch.app_url, options="-c default_transaction_read_only=on")
    sent: list[str] = []

    class Counting(Store):
        def append(self, append: Append) -> Appended:
            sent.append(append.game_id)
            return super().append(append)

    with open_pool(url, 2) as pool:
        reading = Executor(Counting(pool))
        move = MakeMove(table.mover(), table.a_move())
        with pytest.raises(Unavailable):
            reading.execute(table.game_id, move)
        assert sent == [table.game_id]
        loaded = reading.store.load(table.game_id)
        assert loaded is not None
        assert loaded.game.version == table.game().version


def test_with_a_key_an_equal_move_of_another_request_is_not_taken_for_ones_own(
    scratch: Scratch,
) -> None:
    """The request whose append was cut off is told the truth, now and when it is sent again."""
    with (
        open_pool(scratch.app_url, 2, application="one") as first,
        open_pool(scratch.app_url, 2, application="other") as second,
        psycopg.connect(scratch.admin_url) as holding,
        ThreadPoolExecutor(2) as threads,
    ):
        one, other = Executor(Store(first)), Executor(Store(second))
        table = open_table(one, "vallelujah")
        game = table.game()
        assert game.turn is not None
        command = MakeMove(table.mover(), table.a_move(), game.round, game.turn.number)
        keys = [a_request(token=command.player_id, path="/moves") for _ in range(2)]
        holding.execute("SELECT 1 FROM games WHERE game_id = %s FOR UPDATE", (table.game_id,))
        cut_off = threads.submit(one.execute, table.game_id, command, idempotency=keys[0])
        _wait_for_lock(scratch, "one")
        goes_on = threads.submit(other.execute, table.game_id, command, idempotency=keys[1])
        _wait_for_lock(scratch, "other")
        scratch.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'one'"
            " AND wait_event_type = 'Lock'"
        )
        holding.rollback()
        stored = goes_on.result()
        assert (stored.first, stored.replayed) == (game.version + 1, False)
        with pytest.raises(Refused):
            cut_off.result()
        with pytest.raises(Refused):
            one.execute(table.game_id, command, idempotency=keys[0])
        again = one.execute(table.game_id, command, idempotency=keys[1])
        assert (again.first, again.last, again.replayed) == (stored.first, stored.last, True)


def _wait_for_lock(scratch: Scratch, application: str) -> None:
    until = time.monotonic() + 10
    while not scratch.execute(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = %s AND wait_event_type = 'Lock'",
        (application,),
    ):
        assert time.monotonic() < until, "it does not wait"
        time.sleep(0.01)
