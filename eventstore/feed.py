"""The feed: all events of all games in one order, for whoever follows what happens.

An append leaves a row in the outbox, in its own transaction. A sequencer moves such rows to the
feed, where each event gets the next position. A position is visible only once all before it are,
so a reader that goes on after the last position it has seen misses nothing. A numbering made in
the append itself would not have that property: what commits late would appear behind readers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection

from . import sql_feed as sql
from .database import Database, Fate, fate_of, patiently
from .pool import Pool, Row

BATCH_APPENDS = 1000
"""The most appends that one transaction of the sequencer moves."""


class FeedItem(NamedTuple):
    """The event `version` of a game, at its position in the feed."""

    position: int
    game_id: str
    version: int


Apply = Callable[[Connection[Row], Sequence[FeedItem]], None]


class Feed:
    """The feed of one database. Raises Unavailable when that is away or too busy for a while."""

    def __init__(self, pool: Pool) -> None:
        self.database = Database(pool)

    # Reading

    def after(self, position: int, limit: int) -> list[FeedItem]:
        """The items that follow `position`, at most `limit`, in order and without a gap."""
        rows = self.database.run(sql.AFTER, {"position": position, "limit": limit})
        return [FeedItem(*row) for row in rows]

    def head(self) -> int:
        """The newest position, 0 if there is none."""
        return int(self.database.run(sql.HEAD, {})[0][0])

    def waiting(self) -> int:
        """How many events have no position yet."""
        return int(self.database.run(sql.WAITING, {})[0][0])

    def cursor(self, name: str) -> int:
        """How far the reader `name` has come, 0 if it has not begun."""
        rows = self.database.run(sql.CURSOR, {"name": name})
        return int(rows[0][0]) if rows else 0

    def consume(self, name: str, limit: int, apply: Apply, *, until: int | None = None) -> int:
        """Let the reader `name` handle the items after its cursor, at most `limit` and none beyond
        the position `until`; how many there were.

        What `apply` writes on the connection that it is given and the new cursor become true at
        once, or neither. So each item is handled exactly once, also by several readers of one name,
        who take turns.
        """

        def once() -> int:
            with self.database.connection() as connection, connection.transaction():
                return consume(connection, name, limit, apply, until=until)

        return patiently(once)

    # Sequencing

    def sequence(self, limit: int = BATCH_APPENDS) -> tuple[int, int]:
        """Give positions to the events of at most `limit` appends that wait in the outbox: how many
        appends and events there were.

        One statement. (0, 0) also if another sequencer was faster; psycopg.Error as it comes, and
        then either all of it has happened or nothing.
        """
        try:
            appends, events = self.database.once(sql.SEQUENCE, {"limit": limit})[0]
        except psycopg.Error as error:
            if fate_of(error) is not Fate.CONFLICT:
                raise
            return 0, 0
        return int(appends), int(events)

    # Leases: who does what only one has to do

    def lease(self, name: str, holder: str, seconds: float) -> bool:
        """Take or keep the lease `name` for `seconds`; False while another holder has it."""
        parameters: dict[str, Any] = {"name": name, "holder": holder, "seconds": seconds}
        # Asked first, as the upsert writes even where it changes nothing.
        if not self.database.once(sql.LEASE_FREE, parameters)[0][0]:
            return False
        return bool(self.database.once(sql.LEASE, parameters))

    def end_lease(self, name: str, holder: str) -> None:
        """Give the lease back, so that another may have it at once."""
        self.database.once(sql.END_LEASE, {"name": name, "holder": holder})


def consume(
    connection: Connection[Row], name: str, limit: int, apply: Apply, *, until: int | None = None
) -> int:
    """`Feed.consume` within the transaction that is open on `connection`."""
    row = connection.execute(sql.LOCK_CURSOR, {"name": name}).fetchone()
    if row is None:
        connection.execute(sql.OPEN_CURSOR, {"name": name, "position": 0})
        row = connection.execute(sql.LOCK_CURSOR, {"name": name}).fetchone()
        assert row is not None
    (position,) = row
    if until is not None:
        limit = min(limit, until - position)
    if limit <= 0:
        return 0
    rows = connection.execute(sql.AFTER, {"position": position, "limit": limit}).fetchall()
    items = [FeedItem(*row) for row in rows]
    if items:
        apply(connection, items)
        connection.execute(sql.MOVE_CURSOR, {"name": name, "position": items[-1].position})
    return len(items)
