"""The connections of a process to the database: a bounded pool of autocommit connections."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, TypeVar

from psycopg import Connection, OperationalError, abc
from psycopg.adapt import Transformer
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

Row = tuple[Any, ...]
Pool = ConnectionPool[Connection[Row]]

Value = TypeVar("Value")

CONNECT_SECONDS = 5
WAITING_PER_CONNECTION = 20

SILENT_SECONDS = 20.0
"""For so long whoever answers requests waits for a server that says nothing at all: longer than
the application's statements may take, which the server itself ends."""


class ServerSilent(OperationalError):
    """The server has said nothing for too long; the connection is closed, and it is not known what
    became of the statement."""


class BoundedConnection(Connection[Row]):
    """A connection that does not wait for ever for a server that hangs. Timeouts of the server's
    own do nothing then, and the machine that it hangs on still acknowledges packets."""

    silent_seconds: float | None = None
    used: dict[bytes, int]
    """How often statements of `eventstore.prepared` ran on it, up to where they are prepared."""
    loader: abc.Transformer
    """Makes Python's values of what these statements give."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.used = {}
        self.loader = Transformer()

    def wait(
        self, gen: abc.PQGen[Value], interval: float = 0.1, timeout: float | None = None
    ) -> Value:
        seconds = self.silent_seconds if timeout is None else timeout
        try:
            return super().wait(gen, interval, seconds)
        except OperationalError as error:
            if error.sqlstate is None and self._waiting:
                self.pgconn.finish()
                raise ServerSilent("the database says nothing") from error
            raise

    @property
    def _waiting(self) -> bool:
        return bool(self.pgconn.transaction_status == TransactionStatus.ACTIVE)


def bounded(connection: Connection[Row]) -> BoundedConnection:
    """The same connection, as what every pool of ours makes."""
    assert isinstance(connection, BoundedConnection)
    return connection


@contextlib.contextmanager
def answering_within(connection: Connection[Row], seconds: float) -> Iterator[None]:
    """Wait no longer than that for each answer to what is asked within the block."""
    connection = bounded(connection)
    before = connection.silent_seconds
    connection.silent_seconds = seconds
    try:
        yield
    finally:
        connection.silent_seconds = before


def open_pool(
    url: str,
    size: int,
    *,
    prepare_threshold: int | None = 5,
    timeout: float = 5.0,
    application: str = "abbot",
    silent_seconds: float | None = None,
) -> Pool:
    """A pool of at most `size` connections to `url`; it connects in the background.

    A caller waits at most `timeout` seconds for a free connection, and only so many callers wait
    at a time. `prepare_threshold` None is for poolers that cannot keep prepared statements.
    Statement and lock timeouts are the database role's, not set here; `silent_seconds` is for how
    long to wait for a server that does not even tell of those.
    """
    size = max(1, size)

    def configure(connection: Connection[Row]) -> None:
        bounded(connection).silent_seconds = silent_seconds

    return ConnectionPool(
        url,
        connection_class=BoundedConnection,
        configure=configure,
        min_size=1,
        max_size=size,
        timeout=timeout,
        max_waiting=WAITING_PER_CONNECTION * size,
        max_idle=120.0,
        # Attempts are spaced out by doubling; begun anew, they notice sooner that a server is back.
        reconnect_timeout=3.0,
        kwargs={
            "autocommit": True,
            "prepare_threshold": prepare_threshold,
            "connect_timeout": CONNECT_SECONDS,
            "application_name": application,
            "keepalives_idle": 30,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 20_000,
        },
        name=application,
        open=True,
    )
