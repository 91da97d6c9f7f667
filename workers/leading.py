"""Threads for what one node at a time has to do, and another takes over when that one dies."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from eventstore.feed import Feed
from eventstore.ids import uuid7
from workers.retrying import backoff
from workers.settling import described
from workers.threads import NodeThread

log = logging.getLogger(__name__)

LEASE_SECONDS = 4.0
RENEW_SECONDS = 1.0
"""How often the lease is asked for: another node takes over within both together."""
LONGEST_BACKOFF_SECONDS = 2.0


class Leading(NodeThread):
    """Calls `step` again and again while this node has the lease `name`.

    feed: where the lease is kept; called in this thread only, may raise anything.
    step: one piece of work, short against the lease; the seconds to wait before the next. Two nodes
    may do one at the same time, when one of them was held up: what it writes has to bear that.
    spacing: seconds between two steps at least where a step asks for a wait, however often the
    thread is woken.
    """

    def __init__(
        self,
        name: str,
        feed: Callable[[], Feed],
        step: Callable[[], float],
        *,
        spacing: float = 0.0,
        lease: float = LEASE_SECONDS,
        renew: float = RENEW_SECONDS,
    ) -> None:
        super().__init__(name)
        self._name = name
        self._feed = feed
        self._step = step
        self._spacing = spacing
        self._lease = lease
        self._renew = renew
        self._holder = uuid7()
        self._held_until = 0.0
        self._renew_at = 0.0
        self._woken = threading.Event()
        self._failures = 0

    @property
    def leads(self) -> bool:
        """Whether this node has the lease, as far as it knows."""
        return time.monotonic() < self._held_until

    def wake(self) -> None:
        """There may be something to do: end the wait for the next step, if this node does it."""
        if self.leads:
            self._woken.set()

    def stop(self) -> None:
        """Begin no further step. Returns at once."""
        super().stop()
        self._woken.set()

    def _run(self) -> None:
        while not self._stopping.is_set():
            pause = self._guarded_turn()
            spacing = min(pause, self._spacing)
            self._stopping.wait(spacing)
            self._woken.wait(pause - spacing)
            self._woken.clear()
        if self.leads:
            try:
                self._feed().end_lease(self._name, self._holder)
            except BaseException as error:
                log.info("The lease %s was not given back: %s", self._name, described(error))

    def _guarded_turn(self) -> float:
        """One turn, and the seconds to wait after it. Whatever it raises, the next one comes."""
        try:
            pause = self.turn()
        except BaseException as error:
            self._failures += 1
            if self._failures == 1:
                log.warning("The %s cannot go on: %s. Trying again.", self._name, described(error))
            return backoff(self._failures, LONGEST_BACKOFF_SECONDS)
        if self._failures:
            log.warning("The %s goes on.", self._name)
            self._failures = 0
        return pause

    def turn(self) -> float:
        """See to the lease and do one step if this node has it; the seconds to wait afterwards."""
        now = time.monotonic()
        if now >= self._renew_at or not self.leads:
            self._renew_at = now + self._renew
            led = self.leads
            if not self._feed().lease(self._name, self._holder, self._lease):
                self._held_until = 0.0
                return self._renew
            self._held_until = now + self._lease
            if not led:
                log.info("This node runs the %s now.", self._name)
        return min(self._step(), self._renew)
