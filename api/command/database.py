"""The database that a command works on: one that is named, of a running `up`, or our own."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType

from api.command import running, servers
from api.command.console import CommandFailed
from api.command.supervisor import Supervisor
from eventstore.errors import Unavailable
from eventstore.pool import Pool, open_pool
from eventstore.settings import Settings


@contextlib.contextmanager
def reached(*, make: bool = False) -> Iterator[Settings]:
    """Settings whose database can be reached while the block runs.

    Where no URL is set and no `abbot up` runs, the embedded server is started for the occasion;
    one that has no data yet only with `make`. Raises CommandFailed and Stopping.
    """
    settings = servers.read_settings()
    if not settings.database_url:
        running.apply(settings.data_dir)
        settings = servers.read_settings()
    if settings.database_url:
        yield settings
        return
    if not make and not (settings.data_dir / "postgres" / "data").exists():
        raise CommandFailed(
            f"there is no database in {settings.data_dir} yet, and ABBOT_DATABASE_URL names none"
        )
    lock = servers.lock(settings.data_dir)
    try:
        with Supervisor(settings.data_dir) as supervisor:
            supervisor.reap_earlier_run(servers.STOPS)
            postgres = servers.Servers(settings.data_dir, supervisor).start_postgres()
            with _interruptible():
                yield replace(
                    settings,
                    database_url=postgres.application_url,
                    owner_database_url=postgres.owner_url,
                )
    finally:
        lock.release()


@contextlib.contextmanager
def connected(application: str) -> Iterator[tuple[Settings, Pool]]:
    """A connection to the database that is named or of a running `up`, and its settings. Raises
    CommandFailed where there is none, and when it cannot be reached."""
    settings = servers.read_settings()
    if not settings.database_url:
        raise CommandFailed("no database: start `./abbot up`, or set ABBOT_DATABASE_URL.")
    try:
        with open_pool(settings.database_url, 1, application=application) as pool:
            yield settings, pool
    except Unavailable:
        raise CommandFailed("the database cannot be reached") from None


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Signals end the block at once; the supervisor notes them, and looks when it waits."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
