"""The record's partitions: a month of games each, by their ids, made before the month begins.

What a UUIDv7 begins with is the time at which its game was opened, so all events of a game lie in
one partition, and an old month can be taken out of the record whole, archived, and put back.
"""

from __future__ import annotations

import datetime
import re
from typing import LiteralString, NamedTuple

from psycopg import Connection, errors, sql

from .archives import COLUMNS, Contents, contents, rows_of
from .deliveries import READER
from .errors import StoreError
from .pool import Row

DEFAULT = "events_default"
"""Holds the games of months for which no partition was made in time."""

MONTHS_AHEAD = 3
"""Partitions that there are besides this month's."""

MAKE: LiteralString = "SELECT partition, state FROM make_partitions(%(months)s)"

_NAME = re.compile(r"events_(20[0-9]{2})_(0[1-9]|1[0-2])")

_LIST: LiteralString = """
SELECT c.relname, EXISTS (SELECT FROM pg_inherits i
        WHERE i.inhrelid = c.oid AND i.inhparent = e.oid),
    pg_total_relation_size(c.oid), CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END
FROM pg_class e JOIN pg_class c ON c.relnamespace = e.relnamespace
WHERE e.oid = 'events'::regclass AND c.relkind = 'r'
    AND c.relname ~ '^events_([0-9]{4}_[0-9]{2}|default)$'
UNION ALL
SELECT a.partition, false, NULL, NULL FROM archives a WHERE to_regclass(a.partition) IS NULL
ORDER BY 1
"""

_RANGE: LiteralString = """
SELECT month_bound(%(month)s::timestamp), month_bound(%(month)s::timestamp + interval '1 month'),
    %(month)s::timestamp + interval '1 month' <= clock_timestamp() AT TIME ZONE 'UTC'
"""

_ATTACHED: LiteralString = """
SELECT EXISTS (SELECT FROM pg_inherits
    WHERE inhparent = 'events'::regclass AND inhrelid = to_regclass(%(name)s))
"""

_THERE: LiteralString = "SELECT to_regclass(%(name)s) IS NOT NULL"

_NOTED: LiteralString = "SELECT EXISTS (SELECT FROM archives WHERE partition = %(name)s)"

_ROWS: LiteralString = "COPY (SELECT {columns} FROM {name}) TO STDOUT"

_GUARDED: LiteralString = """
SELECT count(*) FROM pg_trigger WHERE tgrelid = to_regclass(%(name)s) AND tgenabled = 'A'
    AND tgname IN ('append_only_alone', 'append_only_truncate')
"""

_ATTACH: LiteralString = """
ALTER TABLE events ATTACH PARTITION {name} FOR VALUES FROM ({low}) TO ({high})
"""

_GOING_ON: LiteralString = """
SELECT game_id::text FROM games
WHERE game_id >= %(low)s AND game_id < %(high)s AND status IN ('lobby', 'active')
ORDER BY game_id LIMIT 1
"""

_WAITING: LiteralString = """
SELECT count(*) FROM outbox WHERE game_id >= %(low)s AND game_id < %(high)s
"""


_UNREAD: LiteralString = """
SELECT reader FROM (VALUES
    ('a checkpoint', (SELECT max(position) FROM checkpoints)),
    ('the players'' results', (SELECT c.position FROM cursors c JOIN generations g
        ON g.projection = 'standings' AND c.name = 'standings/' || g.generation)),
    ('webhooks', CASE WHEN EXISTS (SELECT FROM webhooks WHERE enabled)
        THEN (SELECT position FROM cursors WHERE name = %(webhooks)s)
        ELSE 9223372036854775807 END)
) AS readers(reader, position)
WHERE EXISTS (SELECT FROM feed f WHERE f.position > coalesce(readers.position, 0)
    AND f.game_id >= %(low)s AND f.game_id < %(high)s)
LIMIT 1
"""
"""Who has not come to the month's last events yet, and could not go on without them."""


class PartitionError(StoreError):
    """What was asked of a partition cannot be done; the text says why."""


class Partition(NamedTuple):
    """A partition: whether it is part of the record now, its bytes with indexes, None where its
    table is not here but in its archive, and about how many events it has, None while the database
    has no idea."""

    name: str
    attached: bool
    size: int | None
    events: int | None


class Made(NamedTuple):
    """`state`: made, there (before), archived, or occupied: games of that month are in the default
    partition already and stay there."""

    name: str
    state: str


class Partitions:
    """The partitions, over a connection in autocommit of the role that owns the tables."""

    def __init__(self, owner: Connection[Row]) -> None:
        self._owner = owner

    def all(self) -> list[Partition]:
        """All of them, by name."""
        return [Partition(*row) for row in self._owner.execute(_LIST)]

    def make(self, months: int = MONTHS_AHEAD) -> list[Made]:
        """Have this month's partition and those of the next `months`."""
        return [Made(*row) for row in self._owner.execute(MAKE, {"months": months})]

    def detach(self, name: str) -> None:
        """Take a month that is over out of the record; its events stay in the table `name`.

        Until it is attached again, whoever asks for one of its games is told that it is archived.
        PartitionError if games of that month still go on.
        """
        low, high, over = self._range(name)
        named = {"name": name, "low": low, "high": high, "webhooks": READER}
        with self._owner.transaction():
            if not self._told(_ATTACHED, named):
                raise PartitionError(self._why_not_attached(name))
            if not over:
                raise PartitionError(f"{name} is not over yet: games are still opened in it")
            self._lock_timeout()
            if going_on := self._owner.execute(_GOING_ON, named).fetchone():
                raise PartitionError(
                    f"games of {name} are not over yet, {going_on[0]} for one: tables and matches "
                    "end by their clocks while the service runs; try again then"
                )
            if self._told(_WAITING, named):
                raise PartitionError(f"events of {name} have no place in the feed yet")
            if unread := self._owner.execute(_UNREAD, named).fetchone():
                raise PartitionError(
                    f"{unread[0]} did not come to the last events of {name} yet; a worker sees to "
                    "that within a minute or so, then try again"
                )
            self._alter("ALTER TABLE events DETACH PARTITION {name}", name)
            # Again, as nobody can add to it now.
            if self._told(_WAITING, named) or self._owner.execute(_GOING_ON, named).fetchone():
                raise PartitionError(f"{name} was still being added to")
            self._owner.execute(
                "INSERT INTO archives (partition, low, high) VALUES (%(name)s, %(low)s, %(high)s)",
                named,
            )

    def attach(self, name: str) -> None:
        """Make a detached month part of the record again."""
        low, high, _ = self._range(name)
        named = {"name": name, "low": low, "high": high}
        with self._owner.transaction():
            if self._told(_ATTACHED, named):
                raise PartitionError(f"{name} is attached already")
            if not self._told(_THERE, named):
                raise PartitionError(
                    f"there is no table {name}: first `./abbot partitions restore` its archive"
                )
            self._lock_timeout()
            if self._told(_GUARDED, named) != 2:
                raise PartitionError(f"the triggers that keep {name} as it is are not all there")
            # Attaching waits for no reader: one would be between, without the month and without
            # the note that it is detached.
            self._alter("LOCK TABLE events IN ACCESS EXCLUSIVE MODE", name)
            try:
                self._alter(_ATTACH, name, low=low, high=high)
            except (errors.CheckViolation, errors.InvalidObjectDefinition) as error:
                raise PartitionError(f"{name} does not fit into the record") from error
            self._alter("ALTER TABLE {name} ENABLE ALWAYS TRIGGER append_only", name)
            self._owner.execute("DELETE FROM archives WHERE partition = %(name)s", named)

    def expect_detached(self, name: str) -> None:
        """PartitionError unless `name` is a detached month whose table is here."""
        self._range(name)
        named: dict[str, object] = {"name": name}
        if self._told(_ATTACHED, named):
            raise PartitionError(f"{name} is part of the record: detach it first")
        if not self._told(_THERE, named) or not self._told(_NOTED, named):
            raise PartitionError(self._why_not_attached(name))

    def expect_elsewhere(self, name: str) -> None:
        """PartitionError unless `name` is a detached month whose table is not here."""
        self._range(name)
        named: dict[str, object] = {"name": name}
        if self._told(_THERE, named):
            raise PartitionError(f"there is a table {name} already, and it is left alone")
        if not self._told(_NOTED, named):
            raise PartitionError(f"{name} was never detached from this database's record")

    def contents(self, name: str) -> Contents:
        """What a detached month's table holds; all of it is read."""
        self.expect_detached(name)
        with self._owner.transaction():
            return self._contents(name)

    def drop(self, name: str, archived: Contents) -> None:
        """Drop a detached month's table, if `archived` is just what it holds: PartitionError else.

        The month stays noted as one that is in its archive.
        """
        with self._owner.transaction():
            self.expect_detached(name)
            self._lock_timeout()
            self._alter("LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE", name)
            here = self._contents(name)
            if here != archived:
                raise PartitionError(
                    f"{name} is not dropped: it holds {here.events:,} events, and the "
                    f"{archived.events:,} in the archive are not the same"
                )
            self._alter("DROP TABLE {name}", name)

    def _contents(self, name: str) -> Contents:
        # As pg_dump writes them, whatever is set for the role.
        self._owner.execute(
            "SET LOCAL statement_timeout = 0; SET LOCAL client_encoding = 'UTF8';"
            "SET LOCAL bytea_output = 'hex'"
        )
        copied = sql.SQL(_ROWS).format(
            name=sql.Identifier(name), columns=sql.SQL(", ").join(map(sql.Identifier, COLUMNS))
        )
        with self._owner.cursor() as cursor, cursor.copy(copied) as blocks:
            return contents(rows_of(bytes(block) for block in blocks))

    def _why_not_attached(self, name: str) -> str:
        named: dict[str, object] = {"name": name}
        if not self._told(_NOTED, named):
            return f"there is no partition {name}"
        if self._told(_THERE, named):
            return f"{name} is detached already"
        return f"{name} is not here: it was detached, and is in its archive"

    def _range(self, name: str) -> tuple[object, object, bool]:
        match = _NAME.fullmatch(name)
        if match is None:
            raise PartitionError(f"{name} is no month of the record: events_YYYY_MM")
        month = datetime.datetime(int(match[1]), int(match[2]), 1)
        row = self._owner.execute(_RANGE, {"month": month}).fetchone()
        assert row is not None
        return row[0], row[1], row[2]

    def _told(self, statement: LiteralString, parameters: dict[str, object]) -> int:
        row = self._owner.execute(statement, parameters).fetchone()
        assert row is not None
        return int(row[0])

    def _lock_timeout(self) -> None:
        # Moves wait behind whoever waits for the lock, so not for long.
        self._owner.execute("SET LOCAL lock_timeout = '2s'")

    def _alter(self, statement: LiteralString, name: str, **values: object) -> None:
        literals = {key: sql.Literal(value) for key, value in values.items()}
        try:
            self._owner.execute(sql.SQL(statement).format(name=sql.Identifier(name), **literals))
        except errors.LockNotAvailable as error:
            raise PartitionError("the record is busy: try again in a moment") from error
