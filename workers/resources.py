"""What each process of a node opens for itself."""

from __future__ import annotations

import os
import threading

from eventstore import garbage
from eventstore.deadlines import Deadlines
from eventstore.executor import Executor
from eventstore.pool import open_pool
from eventstore.settings import Settings
from eventstore.store import Store

CONNECTIONS = 4
"""The most connections to the database of one process. They are opened when they are needed: a pool
process settles one batch at a time; a node's main process has a timer and chores as well."""


class Resources:
    """The event store, opened at the first use in each process.

    Pool processes are forks of the node's main process. A connection must not be used on both
    sides of a fork, and a connection pool's threads do not live on in the child; so a child opens
    its own, and leaves what it inherited untouched: closing it would end the parent's sessions.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.Lock()
        self._opened: tuple[Store, Executor] | None = None
        self._inherited: list[object] = []
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self._lock = threading.Lock()
        if self._opened is not None:
            self._inherited.append(self._opened)
            self._opened = None

    def _open(self) -> tuple[Store, Executor]:
        with self._lock:
            if self._opened is None:
                pool = open_pool(
                    self.settings.database_url,
                    CONNECTIONS,
                    prepare_threshold=self.settings.prepare_threshold,
                    application="abbot-worker",
                )
                store = Store(pool)
                self._opened = (store, Executor(store))
                garbage.seldom()
            return self._opened

    def store(self) -> Store:
        """This process's store."""
        return self._open()[0]

    def executor(self) -> Executor:
        """This process's executor."""
        return self._open()[1]

    def deadlines(self) -> Deadlines:
        """This process's due turns."""
        return Deadlines(self.store().pool)
