"""The timer thread of a node: claims what is due and has it settled."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from workers.publisher import Batch
from workers.retrying import backoff
from workers.settings import (
    BATCH_ROWS,
    CLAIM_ROWS,
    LEASE_SECONDS,
    LEAST_ROWS,
    LONGEST_SLEEP_SECONDS,
    SPACING_SECONDS,
)
from workers.settling import DueTurn, described
from workers.threads import NodeThread

log = logging.getLogger(__name__)

OUT_SECONDS = 0.25
"""How often a node looks whether moves are taken again."""


class Due(Protocol):
    """A claimed row, as the store gives it."""

    game_id: str
    kind: str
    round: int
    turn: int
    reclaimed: bool


class Clock(Protocol):
    """Where due rows are claimed. All times are the database's, so nodes' clocks don't matter."""

    def claim(self, limit: int, lease_seconds: float) -> Sequence[Due] | None:
        """Claim rows that are due and claimed by nobody, the longest due first; None while no
        process takes moves, so that no turn may expire."""

    def wait(self) -> float | None:
        """Seconds until the next row that nobody claimed is due; None when there is none."""


class Timer(NodeThread):
    """Sleeps until something is due, claims it and offers it to the pool in batches.

    clock: where rows are claimed; called in this thread only, may raise anything.
    offer: hands batches to the pool through the broker, false when it could not in short time.
    settle: settles turns in this thread; must not raise.
    processes: how many pool processes share what is due.
    """

    def __init__(
        self,
        clock: Callable[[], Clock],
        offer: Callable[[Sequence[Batch]], bool],
        settle: Callable[[list[DueTurn]], object],
        *,
        processes: int,
        lease: float = LEASE_SECONDS,
    ) -> None:
        super().__init__("timer")
        self._clock = clock
        self._offer = offer
        self._settle = settle
        self._processes = max(1, processes)
        self._lease = lease
        self._failures = 0
        self._waits = False

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(self._guarded_tick())

    def _guarded_tick(self) -> float:
        """One tick, and seconds to wait after it. Whatever it raises, the next one comes."""
        try:
            pause = self.tick()
        except BaseException as error:
            self._failures += 1
            if self._failures == 1:
                log.warning("Due turns cannot be claimed: %s. Trying again.", described(error))
            return backoff(self._failures, LONGEST_SLEEP_SECONDS)
        if self._failures:
            log.warning("Due turns are claimed again.")
            self._failures = 0
        return pause

    def tick(self) -> float:
        """Claim and hand on what is due; the seconds to wait before the next tick.

        A row that had been claimed before was lost on its way, so this node settles it itself.
        """
        clock = self._clock()
        claimed = clock.claim(CLAIM_ROWS, self._lease)
        self._tell(waits=claimed is None)
        if claimed is None:
            return OUT_SECONDS
        if not claimed:
            wait = clock.wait()
            return LONGEST_SLEEP_SECONDS if wait is None else bounded(wait)
        own = [due_turn(row) for row in claimed if row.reclaimed]
        fresh = [due_turn(row) for row in claimed if not row.reclaimed]
        if fresh and not self._offer(batches(fresh, self._processes)):
            own = [*fresh, *own]
        for start in range(0, len(own), BATCH_ROWS):
            self._settle(own[start : start + BATCH_ROWS])
        return 0.0 if len(claimed) >= CLAIM_ROWS else SPACING_SECONDS

    def _tell(self, *, waits: bool) -> None:
        if waits and not self._waits:
            log.warning("No process of the API takes moves: turns wait.")
        elif self._waits and not waits:
            log.warning("Moves are taken again: turns are settled again.")
        self._waits = waits


def bounded(wait: float) -> float:
    """Seconds to sleep for a row that is due in `wait` seconds."""
    return min(LONGEST_SLEEP_SECONDS, max(0.001, wait))


def due_turn(row: Due) -> DueTurn:
    """The part of a claimed row that travels."""
    return DueTurn(str(row.game_id), row.kind, row.round, row.turn)


def batches(dues: Sequence[DueTurn], processes: int) -> list[Batch]:
    """Cut the turns into tasks, so that the pool's processes share them: expired turns, which are
    quickly settled together, and others apart."""
    expired = [due for due in dues if due.kind == "turn"]
    others = [due for due in dues if due.kind != "turn"]
    return _cut(expired, processes, LEAST_ROWS) + _cut(others, processes, 1)


def _cut(dues: Sequence[DueTurn], processes: int, least: int) -> list[Batch]:
    size = min(BATCH_ROWS, max(least, -(-len(dues) // processes)))
    return [[list(due) for due in dues[i : i + size]] for i in range(0, len(dues), size)]
