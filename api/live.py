"""Everything about waiting in one process: who waits, how many may, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flask import request

from eventstore.store import Store
from eventstore.watching import Watching

from . import rates
from .places import Places
from .watching import GONE, Watch, Watcher


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many, and how long."""

    waiters: int = 5000
    """Streams and waits of one process at a time."""
    waiters_each: int = 32
    """Those of one player in one process."""
    waiters_each_address: int = 64
    """Those without a token from one address in one process."""
    wait_seconds: float = 30.0
    """The longest wait."""
    stream_seconds: float = 4 * 3600.0
    """The longest stream: then its client is asked to come again, here or at another process."""
    heartbeat_seconds: float = 15.0
    """A stream on which nothing happens says so at least this often."""
    away_seconds: float = 60.0
    """Streams end when the database has been away for so long."""
    check_seconds: float = 2.0
    """How often it is looked whether who reads a stream still may."""


class Live:
    """The waiters of a process, and the places that they take."""

    def __init__(self, store: Store, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self.watcher = Watcher(Watching(store.pool), check_seconds=self.bounds.check_seconds)
        self.places = Places(
            self.bounds.waiters, self.bounds.waiters_each, self.bounds.waiters_each_address
        )
        store.on_append = self.watcher.moved

    @contextmanager
    def waiting(self, watch: Watch, player_id: str | None) -> Iterator[None]:
        """Take a place for a wait; a caller who goes away ends it."""
        give_back = self.places.take(player_id, address=rates.address())
        stop = on_hangup(lambda: watch.end(GONE))
        try:
            yield
        finally:
            stop()
            give_back()

    def stop(self) -> None:
        """The process is stopping: end every wait and stream, those under way and new ones."""
        self.watcher.stop()


def on_hangup(callback: Callable[[], Any]) -> Callable[[], None]:
    """Have `callback` called once the client of the running request closes its connection, where
    the server can tell; what is returned ends that."""
    connection = request.environ.get("gunicorn.socket")
    begin = getattr(connection, "on_hangup", None)
    if begin is None:
        return lambda: None
    end: Callable[[], None] = begin(callback)
    return end
