"""A month that is long over, with a partition and games of its own."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path

import psycopg

from domain.commands import CreateGame, StartGame, TakeSeat
from eventstore.checkpoints import Checkpoints
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import least_uuid7, uuid7
from eventstore.pool import Pool
from eventstore.signing import Signer
from eventstore.standings import Standings
from tests.eventstore.tables import Table

OLD = datetime.datetime(2025, 1, 1, tzinfo=datetime.UTC)
OLD_NAME = "events_2025_01"


def make_old(owner_url: str) -> None:
    """Have the partition of that month."""
    with psycopg.connect(owner_url) as owner:
        owner.execute("SELECT make_partition(%s)", (OLD.replace(tzinfo=None),))


def id_at(moment: datetime.datetime) -> str:
    """An id as if made at `moment`."""
    return least_uuid7(moment)[:18] + uuid7()[18:]


def table_as(executor: Executor, game_id: str, *, start: bool = True) -> Table:
    """A table of two players with that id, begun or not."""
    players = (uuid7(), uuid7())
    executor.create(CreateGame(players[0], "vallelujah", {"rounds_to_win": 1}), game_id=game_id)
    executor.execute(game_id, TakeSeat(players[1]))
    if start:
        executor.execute(game_id, StartGame(players[0]))
    return Table(executor, game_id, players)


def catch_up(pool: Pool) -> None:
    """What a worker does until nothing waits: places in the feed, a checkpoint, results."""
    while Feed(pool).sequence(1000)[0]:
        pass
    with tempfile.TemporaryDirectory() as keys:
        signer = Signer(pool, Path(keys))
        while Checkpoints(pool).write(signer):
            pass
    while Standings(pool).step():
        pass
