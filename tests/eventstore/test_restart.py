"""PostgreSQL is restarted under load: every acknowledged move is in the record, once, and whoever
was connected goes on without being restarted."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from api.command.embedded_postgres import APPLICATION
from api.command.servers import Servers
from api.command.supervisor import Supervisor
from domain.commands import MakeMove
from domain.events import Recorded
from domain.game import legal_moves
from domain.refusals import GAME_NOT_ACTIVE, STALE_TURN, Refused
from eventstore.chain import verify
from eventstore.errors import Unavailable
from eventstore.executor import Executor
from eventstore.pool import open_pool
from eventstore.store import Store
from migrations.run import upgrade
from tests.eventstore.tables import Table, a_request, open_table, with_call
from tests.workers.servers import wait_for

Answer = TypeVar("Answer")

PLAYERS = 4
PATIENCE = 60.0


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the server's user can enter, whoever runs the tests."""
    made = Path(tempfile.mkdtemp(prefix="abbot-restart-", dir="/tmp"))
    made.chmod(0o711)
    yield made
    shutil.rmtree(made, ignore_errors=True)


@dataclass
class Load:
    """Players who make moves one after the other, and what they were told."""

    executor: Executor
    told: dict[str, list[Recorded]] = field(default_factory=dict)
    failed: list[BaseException] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def moves(self) -> int:
        """How many moves were acknowledged."""
        return sum(map(len, list(self.told.values())))

    def play(self, keyed: bool) -> None:
        """Play one match after the other until it is time to stop; what is not known is asked
        again."""
        try:
            table = _patiently(lambda: open_table(self.executor, "vallelujah"))
            while not self.stopping.is_set():
                if self._move(table, keyed):
                    table = _patiently(lambda: open_table(self.executor, "vallelujah"))
        except BaseException as error:
            self.failed.append(error)

    def _move(self, table: Table, keyed: bool) -> bool:
        """Make a move; whether the match is over."""
        game = _patiently(lambda: self.executor.load(table.game_id, None)).game
        if game.over:
            return True
        assert game.turn is not None
        move = with_call(game, legal_moves(game, game.turn.seat)[0])
        player = str(table.players[game.turn.seat])
        command = MakeMove(player, move, game.round, game.turn.number)
        request = a_request() if keyed else None
        try:
            outcome = _patiently(
                lambda: self.executor.execute(table.game_id, command, idempotency=request)
            )
        except Refused as refused:
            # An answer that never came: the move was made, and its turn is over.
            if keyed or refused.code not in (STALE_TURN, GAME_NOT_ACTIVE):
                raise
        else:
            self.told.setdefault(table.game_id, []).extend(outcome.events)
        return False


def _patiently(action: Callable[[], Answer]) -> Answer:
    """As a client does: ask again while the service is unavailable."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return action()
        except Unavailable:
            if time.monotonic() > until:
                raise


def test_restarts_and_crashes_lose_nothing(folder: Path) -> None:
    with Supervisor(folder) as supervisor:
        postgres = Servers(folder, supervisor).start_postgres()
        upgrade(postgres.owner_url, APPLICATION, postgres.application_url)
        with open_pool(postgres.application_url, PLAYERS) as pool:
            load = Load(Executor(Store(pool)))
            threads = [
                threading.Thread(target=load.play, args=(index % 2 == 0,))
                for index in range(PLAYERS)
            ]
            for thread in threads:
                thread.start()
            try:
                for number in (signal.SIGINT, signal.SIGQUIT):
                    _until_more_moves(load, 30)
                    service = supervisor.services.pop()
                    assert service.process is not None
                    os.kill(service.process.pid, number)
                    service.process.wait(PATIENCE)
                    supervisor.start(service)
                _until_more_moves(load, 30)
            finally:
                load.stopping.set()
                for thread in threads:
                    thread.join(2 * PATIENCE)
            assert load.failed == []
            for game_id, told in load.told.items():
                events = load.executor.store.events(game_id)
                assert verify(events, game_id=game_id) is None
                assert [events[event.version - 1] for event in told] == told
                versions = [event.version for event in told]
                assert versions == sorted(set(versions))


def _until_more_moves(load: Load, moves: int) -> None:
    wanted = load.moves() + moves
    wait_for(lambda: load.moves() >= wanted or load.failed, PATIENCE, "moves are made")
