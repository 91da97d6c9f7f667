"""This process says, a few times a second, that it takes moves (see eventstore/service.py)."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from eventstore.errors import Unavailable
from eventstore.figures import HEARTBEATS
from eventstore.service import BEAT_SECONDS, ServiceTime

from . import metrics

log = logging.getLogger(__name__)


class Heartbeat:
    """A thread, or under gevent a greenlet, that beats until it is told to stop."""

    def __init__(self, service: Callable[[], ServiceTime], every: float = BEAT_SECONDS) -> None:
        self._service = service
        self._every = every
        self._stopping = False
        self._failing = False

    def start(self) -> None:
        """Begin."""
        threading.Thread(target=self._run, name="abbot-heartbeat", daemon=True).start()

    def stop(self) -> None:
        """This process takes no more moves. Safe to call in a signal handler."""
        self._stopping = True

    def _run(self) -> None:
        while not self._stopping:
            self._beat()
            time.sleep(self._every)

    def _beat(self) -> None:
        try:
            service = self._service()
            service.beat()
            HEARTBEATS.heard()
            metrics.observe_pool(service.pool)
        except Exception as error:
            if not self._failing:
                reason = str(error) if isinstance(error, Unavailable) else type(error).__name__
                log.warning("No heartbeat can be written (%s): moves cannot be taken.", reason)
            self._failing = True
        else:
            if self._failing:
                log.warning("Heartbeats are written again.")
            self._failing = False


_beating: list[Heartbeat] = []


def start(service: Callable[[], ServiceTime]) -> None:
    """This process takes moves from now on."""
    beating = Heartbeat(service)
    _beating.append(beating)
    beating.start()


def stop() -> None:
    """This process has been told to stop, and takes no more."""
    for beating in _beating:
        beating.stop()
