"""The application on an embedded server of its own, for what a whole cluster goes through."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.command import database, migrate
from domain.commands import Resign
from eventstore.executor import Executor
from eventstore.feed import Feed, FeedItem
from eventstore.pool import Pool, open_pool
from eventstore.settings import Settings
from eventstore.standings import Standings
from eventstore.store import Store
from tests.eventstore.tables import Table


@dataclass
class House:
    """The application on a database, with a reader of the feed that keeps what it has handled."""

    pool: Pool
    settings: Settings

    def __post_init__(self) -> None:
        self.executor = Executor(Store(self.pool))
        self.feed = Feed(self.pool)
        self.standings = Standings(self.pool)

    def handle(self, limit: int) -> list[FeedItem]:
        """What the reader is given, at most so many items."""
        handled: list[FeedItem] = []
        self.feed.consume("reader", limit, lambda _, items: handled.extend(items))
        return handled

    def sequence(self) -> None:
        while self.feed.sequence() != (0, 0):
            pass

    def end(self, table: Table) -> str:
        player = table.players[0]
        assert player is not None
        self.executor.execute(table.game_id, Resign(player))
        return player

    def played(self, player: str) -> int:
        statement = "SELECT coalesce(sum(played), 0)::int FROM standings WHERE player_id = %s"
        with self.pool.connection() as connection:
            row = connection.execute(statement, (player,)).fetchone()
        assert row is not None
        return int(row[0])


@contextmanager
def house(monkeypatch: pytest.MonkeyPatch, data: Path) -> Iterator[House]:
    """The house whose embedded server is in `data`."""
    monkeypatch.setenv("ABBOT_DATA", str(data))
    with database.reached(make=True) as settings:
        migrate.upgrade(settings.owner_database_url, settings.database_url)
        with open_pool(settings.database_url, 4) as pool:
            yield House(pool, settings)


@contextmanager
def enterable() -> Iterator[Path]:
    """Where another user may run a server, as root has the embedded one run; pytest's own folders
    keep everyone else out."""
    made = Path(tempfile.mkdtemp(prefix="abbot-", dir="/tmp"))
    made.chmod(0o711)
    try:
        yield made
    finally:
        shutil.rmtree(made)
