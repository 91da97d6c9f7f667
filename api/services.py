"""What the views work with, opened when it is first needed.

A pool has threads and sockets, which do not survive a fork: gunicorn loads the application and
only then, in each worker, is the first request served. So nothing is opened before that.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flask import Flask, current_app

from eventstore.apps import Apps
from eventstore.attempts import Attempts
from eventstore.destinations import Destinations
from eventstore.disputes import Disputes
from eventstore.earlier import Earlier
from eventstore.executor import Executor
from eventstore.invites import Invites
from eventstore.lists import Lists
from eventstore.looks import Looks
from eventstore.players import Players
from eventstore.pool import SILENT_SECONDS, Pool, open_pool
from eventstore.rematches import Rematches
from eventstore.sealing import Sealer
from eventstore.settings import Settings
from eventstore.signing import Signer
from eventstore.standings import Standings
from eventstore.store import Store
from eventstore.tables import Tables
from eventstore.tickets import Tickets
from eventstore.verified import Verified
from eventstore.webhooks import Webhooks

from .live import Bounds, Live

_EXTENSION = "abbot"
_STOP = "abbot-stop"


@dataclass(frozen=True, slots=True)
class Services:
    """The event store's doors."""

    store: Store
    earlier: Earlier
    """Games as spectators see them where the host has set a delay."""
    executor: Executor
    players: Players
    apps: Apps
    invites: Invites
    rematches: Rematches
    lists: Lists
    signer: Signer
    standings: Standings
    attempts: Attempts
    looks: Looks
    disputes: Disputes
    verified: Verified
    tickets: Tickets
    tables: Tables
    webhooks: Webhooks
    destinations: Destinations
    """Where webhooks may go."""
    live: Live
    """Those who wait for something in this process."""


def over(
    store: Store,
    signing_keys: Path,
    *,
    serving: bool = False,
    bounds: Bounds | None = None,
    destinations: Destinations | None = None,
) -> Services:
    """The services on top of `store`, with the keys in the folder `signing_keys`; `serving` as for
    `Executor`."""
    executor = Executor(store, serving=serving)
    earlier = Earlier(store.pool)
    return Services(
        store,
        earlier,
        executor,
        Players(store.pool),
        Apps(store.pool),
        Invites(executor),
        Rematches(store.pool),
        Lists(store.pool, earlier),
        Signer(store.pool, signing_keys),
        Standings(store.pool),
        executor.attempts,
        Looks(store.database),
        Disputes(store, executor.attempts),
        Verified(),
        Tickets(store.pool),
        Tables(store.pool),
        Webhooks(store.pool, Sealer(signing_keys)),
        destinations or Destinations(),
        Live(store, bounds),
    )


class Opener:
    """Opens the services once per process, whoever comes first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._services: Services | None = None

    def get(self) -> Services:
        """The services, open."""
        if self._services is None:
            with self._lock:
                if self._services is None:
                    self._services = self._open()
        return self._services

    def stop(self) -> None:
        """The process is stopping: whoever waits need wait no longer."""
        if self._services is not None:
            self._services.live.stop()

    def _open(self) -> Services:
        settings = self._settings
        bounds = Bounds(settings.streams, settings.streams_per_player, settings.streams_per_address)
        store = Store(_pool(settings))
        return over(
            store,
            settings.signing_keys,
            serving=True,
            bounds=bounds,
            destinations=Destinations(settings.webhooks_anywhere),
        )


def _pool(settings: Settings) -> Pool:
    pool = open_pool(
        settings.database_url,
        settings.database_pool,
        prepare_threshold=settings.prepare_threshold,
        application="abbot-api",
        silent_seconds=SILENT_SECONDS,
    )
    # While its threads can still be waited for, which is over when the interpreter ends.
    atexit.register(pool.close, 1.0)
    return pool


def register(app: Flask, settings: Settings | None, opened: Services | None) -> None:
    """Give `app` the services that are `opened`, or those that the settings name."""
    if opened is not None:
        app.extensions[_EXTENSION] = lambda: opened
    elif settings is not None:
        opener = Opener(settings)
        app.extensions[_EXTENSION] = opener.get
        app.extensions[_STOP] = opener.stop


def stop(app: Flask) -> None:
    """Tell `app` that its process is stopping. Returns at once."""
    end: Callable[[], None] | None = app.extensions.get(_STOP)
    if end is not None:
        end()


def services() -> Services:
    """The services of the running application."""
    opened: Services = current_app.extensions[_EXTENSION]()
    return opened


def open_services(app: Flask) -> Services:
    """The services of `app`, opened now if they are not yet."""
    opened: Services = app.extensions[_EXTENSION]()
    return opened
