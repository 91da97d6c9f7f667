"""A node's sign of life, for operators: a row that it writes every few seconds."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable

from eventstore.health import SEEN_SECONDS, HealthRows
from workers.settling import described
from workers.threads import NodeThread

log = logging.getLogger(__name__)


class Beacon(NodeThread):
    """Says that this node lives and whether it reaches the broker. Nothing rests on it: whoever
    claims due rows needs no leave."""

    def __init__(self, rows: Callable[[], HealthRows], broker: Callable[[], bool]) -> None:
        super().__init__("beacon")
        self._rows = rows
        self._broker = broker
        self._node = f"{socket.gethostname()}:{os.getpid()}"
        self._failing = False

    def _run(self) -> None:
        while not self._stopping.is_set():
            reached = self._broker()
            self._say(lambda rows, reached=reached: rows.seen(self._node, reached))  # type: ignore[misc]
            # Once it has been reached, that is told soon.
            self._stopping.wait(SEEN_SECONDS if reached else 1.0)
        self._say(lambda rows: rows.gone(self._node))

    def _say(self, what: Callable[[HealthRows], None]) -> None:
        try:
            what(self._rows())
        except Exception as error:
            if not self._failing:
                log.warning("The sign of life cannot be written: %s", described(error))
            self._failing = True
        else:
            self._failing = False
