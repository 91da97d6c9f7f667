"""Running single statements: what an error means, and trying again for a bounded time."""

from __future__ import annotations

import enum
import logging
import random
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import Connection
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from .errors import Unavailable
from .pool import Pool, Row, ServerSilent, bounded
from .prepared import Prepared

log = logging.getLogger(__name__)

Result = TypeVar("Result")

PATIENCE_SECONDS = 8.0
"""How long one call tries again before it gives up."""

_PURGE_SECONDS = 0.5


class Fate(enum.Enum):
    """What became of a statement that ended in an error."""

    CONFLICT = "somebody else was faster; nothing was stored"
    BUSY = "given up, nothing was stored"
    UNKNOWN = "it may have been stored"
    BUG = "nothing was stored, and trying again would not help"


READ_ONLY = "25006"
"""SQLSTATE of what would change a standby: nothing is stored, and waiting would not help."""

_BUSY = frozenset(
    {
        "40001",  # serialization failure
        "40P01",  # deadlock
        "55P03",  # lock not available in time
        "57014",  # cancelled, by the statement timeout
        READ_ONLY,
        "57P03",  # starting up
    }
)
_SHORT = "53"
"""The class of what a server is short of: disk, memory, connections."""
_UNKNOWN = frozenset({"40003", "25P03", "25P04"})  # the last two end a transaction with its session
_GONE = ("08", "57", "58", "XX")
"""The classes of lost connections, an operator's hand, the system's failures and the server's."""


def fate_of(error: psycopg.Error) -> Fate:
    """Told by the SQLSTATE alone: a distributed database leaves constraints' names out."""
    state = error.sqlstate
    if state is None:
        lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        return Fate.UNKNOWN if lost else Fate.BUG
    if state == "23505":
        return Fate.CONFLICT
    if state in _BUSY or state.startswith(_SHORT):
        return Fate.BUSY
    if state.startswith(_GONE) or state in _UNKNOWN:
        return Fate.UNKNOWN
    return Fate.BUG


class Pause:
    """Waits between tries: longer each time, with jitter, for a bounded time in all."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._longest = 0.002

    def rest(self, cause: BaseException | None = None) -> None:
        """Wait a little; Unavailable once the time is used up, or at once where nothing can be
        changed at all."""
        if isinstance(cause, psycopg.Error) and cause.sqlstate == READ_ONLY:
            raise Unavailable("the database can only be read") from cause
        wait = self._longest * random.random()
        self._longest = min(2 * self._longest, 0.2)
        if time.monotonic() + wait > self._until:
            raise Unavailable("the database is away or too busy") from cause
        time.sleep(wait)


class Database:
    """A pool, and statements run on it one by one, each in autocommit."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._purged = 0.0
        self._purging = threading.Lock()

    def connection(self) -> Lent:
        """A connection of the pool; Unavailable if none is free in time."""
        return Lent(self)

    def once(self, statement: LiteralString, parameters: dict[str, Any]) -> list[Row]:
        """Run `statement` once and return its rows; psycopg.Error as it comes."""
        with self.connection() as connection:
            cursor = connection.execute(statement, parameters, binary=True)
            result = cursor.pgresult
            # Not by cursor.description, which takes a fifth of the time of a statement.
            return cursor.fetchall() if result is not None and result.nfields else []

    def run(self, statement: LiteralString, parameters: dict[str, Any]) -> list[Row]:
        """Run a statement that does no harm when it is run again, patiently."""
        return patiently(lambda: self.once(statement, parameters))

    def ask(self, statement: Prepared, parameters: Mapping[str, Any]) -> list[Row]:
        """The same for one of those that nearly every request runs."""

        def once() -> list[Row]:
            with self.connection() as connection:
                return statement.rows(bounded(connection), parameters)

        return patiently(once)

    def run_both(
        self, first: LiteralString, second: LiteralString, parameters: dict[str, Any]
    ) -> tuple[list[Row], list[Row]]:
        """Run two such statements in one round trip. The second sees at least what the first
        saw."""

        def both() -> tuple[list[Row], list[Row]]:
            with (
                self.connection() as connection,
                connection.pipeline(),
                connection.cursor(binary=True) as one,
                connection.cursor(binary=True) as other,
            ):
                one.execute(first, parameters)
                other.execute(second, parameters)
                return one.fetchall(), other.fetchall()

        return patiently(both)

    def run_behind(
        self, lock: LiteralString, statement: LiteralString, parameters: dict[str, Any]
    ) -> list[Row]:
        """Run such a statement in one transaction with another that locks before it: so it sees
        all that was stored by whoever held the lock, and holds it until its own is stored."""

        def both() -> list[Row]:
            with self.connection() as connection, connection.transaction():
                connection.execute(lock, parameters)
                return connection.execute(statement, parameters, binary=True).fetchall()

        return patiently(both)

    def purge(self) -> None:
        """Have the pool look at its idle connections: after a restart all of them are dead."""
        if not self._purging.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._purged >= _PURGE_SECONDS:
                self.pool.check()
                self._purged = time.monotonic()
        except (psycopg.Error, PoolClosed):
            log.debug("the pool could not be checked", exc_info=True)
        finally:
            self._purging.release()


class Lent:
    """A connection of the pool for the time of a block."""

    # As a generator it would be shorter, and take twice as long for each statement.
    __slots__ = ("_connection", "_database")

    _connection: Connection[Row]

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Connection[Row]:
        try:
            self._connection = self._database.pool.getconn()
        except (PoolTimeout, TooManyRequests, PoolClosed) as error:
            raise Unavailable("no connection to the database is free") from error
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._database.pool.putconn(self._connection)
        # Looking at the others would only wait again for a server that hangs.
        if (
            isinstance(error, psycopg.Error)
            and not isinstance(error, ServerSilent)
            and fate_of(error) is Fate.UNKNOWN
        ):
            self._database.purge()


def patiently(action: Callable[[], Result], seconds: float = PATIENCE_SECONDS) -> Result:
    """The result of `action`, tried again while the database is away or busy; then Unavailable."""
    pause = Pause(seconds)
    while True:
        try:
            return action()
        except psycopg.Error as error:
            if fate_of(error) is Fate.BUG:
                raise
            pause.rest(error)
