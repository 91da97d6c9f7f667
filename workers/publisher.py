"""Publishing to a broker that may be dead or hung, without ever waiting long for it."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Protocol

log = logging.getLogger(__name__)

BOUND_SECONDS = 1.0
PROBE_SECONDS = 1.0

Batch = list[list[object]]


class Outbox(Protocol):
    """An open connection to the broker. Any method may raise anything, or hang."""

    def send(self, batch: Batch) -> None:
        """Publish one task."""

    def ping(self) -> None:
        """Raise unless the broker answers."""

    def discard(self) -> None:
        """Drop the connection without a word to the broker."""


class _Job:
    __slots__ = ("abandoned", "batches", "done", "published")

    def __init__(self, batches: Sequence[Batch]) -> None:
        self.batches = batches
        self.done = threading.Event()
        self.published = False
        self.abandoned = False


class Publisher:
    """Publishes from a thread of its own, so that a caller waits `bound` seconds at most.

    Once the broker failed, offers are declined at once until it has answered a probe again: a
    broker that is away costs one bounded wait, not one for each batch.
    """

    def __init__(
        self,
        connect: Callable[[], Outbox],
        *,
        bound: float = BOUND_SECONDS,
        probe: float = PROBE_SECONDS,
    ) -> None:
        self._connect = connect
        self._bound = bound
        self._probe = probe
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._up = True
        self._lock = threading.Lock()
        self._outbox: Outbox | None = None
        self._thread = threading.Thread(target=self._run, name="abbot-publisher", daemon=True)

    @property
    def up(self) -> bool:
        """Whether the broker answered the last time."""
        return self._up

    def start(self) -> None:
        """Start the thread. It connects when the first batches come."""
        self._thread.start()

    def stop(self, seconds: float = 2.0) -> None:
        """Stop the thread; one that hangs in the broker is left behind."""
        self._jobs.put(None)
        self._thread.join(seconds)

    def offer(self, batches: Sequence[Batch]) -> bool:
        """Publish the batches: true once the broker has all of them.

        After false some of them may have been published or still be; their rows must be settled
        in another way, and settling one twice must be harmless.
        """
        if not self._up:
            return False
        job = _Job(batches)
        self._jobs.put(job)
        if job.done.wait(self._bound):
            return job.published
        job.abandoned = True
        self._mark(False, "no answer in time")
        return False

    def _mark(self, up: bool, reason: str = "") -> None:
        with self._lock:
            if up == self._up:
                return
            self._up = up
        if up:
            log.warning("The broker answers again.")
        else:
            log.warning("The broker is away (%s): this node settles turns itself.", reason)

    def _run(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=None if self._up else self._probe)
            except queue.Empty:
                self._attempt(self._ping)
                continue
            if job is None:
                self._drop()
                return
            if not job.abandoned:
                job.published = self._attempt(lambda job=job: self._send(job))
            job.done.set()

    def _attempt(self, action: Callable[[], None]) -> bool:
        """Run the action; a failed one gets a second try, on a new connection, if it had an old."""
        for _ in range(2):
            fresh = self._outbox is None
            try:
                action()
            except Exception as error:
                self._drop()
                if fresh:
                    self._mark(False, type(error).__name__)
                    return False
            else:
                self._mark(True)
                return True
        return False

    def _open(self) -> Outbox:
        if self._outbox is None:
            self._outbox = self._connect()
        return self._outbox

    def _send(self, job: _Job) -> None:
        outbox = self._open()
        for batch in job.batches:
            outbox.send(batch)

    def _ping(self) -> None:
        self._open().ping()

    def _drop(self) -> None:
        outbox, self._outbox = self._outbox, None
        if outbox is not None:
            with contextlib.suppress(Exception):
                outbox.discard()
