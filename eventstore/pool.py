"""The connections of a process to the database: a bounded pool of autocommit connections."""

from __future__ import annotations

from typing import Any

from psycopg import Connection
from psycopg_pool import ConnectionPool

Row = tuple[Any, ...]
Pool = ConnectionPool[Connection[Row]]

CONNECT_SECONDS = 5
WAITING_PER_CONNECTION = 20


def open_pool(
    url: str,
    size: int,
    *,
    prepare_threshold: int | None = 5,
    timeout: float = 5.0,
    application: str = "abbot",
) -> Pool:
    """A pool of at most `size` connections to `url`; it connects in the background.

    A caller waits at most `timeout` seconds for a free connection, and only so many callers wait
    at a time. `prepare_threshold` None is for poolers that cannot keep prepared statements.
    Statement and lock timeouts are the database role's, not set here.
    """
    size = max(1, size)
    return ConnectionPool(
        url,
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
