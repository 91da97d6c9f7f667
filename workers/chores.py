"""Recurring work: due rows of their own, claimed with a lease as deadlines are.

Each chore has one row by its name. Whichever node finds it due runs it, nobody else does until it
is done or the lease has run out, and it is due again some time after it was done. Chores run in a
thread of their own, so that turns never wait for them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from eventstore.chores import ChoreRows
from workers import checkpointing, figures, housekeeping, outages
from workers.resources import Resources
from workers.settling import described
from workers.threads import NodeThread

log = logging.getLogger(__name__)

LONGEST_SLEEP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Chore:
    """Recurring work.

    `run` must be bounded, and harmless when it runs twice: a node that hangs for longer than the
    lease does not keep others from running it. What it raises is logged, and it is tried again.
    """

    every_seconds: float
    run: Callable[[Resources], None]
    lease_seconds: float = 60.0


CHORES: dict[str, Chore] = {
    "purge-answers": Chore(300, housekeeping.purge_answers),
    "purge-creations": Chore(300, housekeeping.purge_creations),
    "purge-attempts": Chore(3600, housekeeping.purge_attempts),
    "settle-disputes": Chore(60, housekeeping.settle_disputes),
    "purge-tickets": Chore(300, housekeeping.purge_tickets),
    "purge-deliveries": Chore(3600, housekeeping.purge_deliveries),
    "partitions": Chore(6 * 3600, housekeeping.make_partitions),
    "close-lobbies": Chore(60, housekeeping.close_lobbies),
    "forget-nodes": Chore(3600, housekeeping.forget_nodes),
    "give-back": Chore(1, outages.give_back),
    "checkpoints": Chore(checkpointing.EVERY_SECONDS, checkpointing.write_checkpoints),
}
"""Every chore by the name of its row."""


class ChoreRunner(NodeThread):
    """The thread of one node that runs chores, one at a time."""

    def __init__(self, resources: Resources, chores: Mapping[str, Chore] = CHORES) -> None:
        super().__init__("chores")
        self._resources = resources
        self._chores = dict(chores)
        self._failing = False

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                pause = self.tick()
            except BaseException as error:
                if not self._failing:
                    log.warning("Chores cannot be claimed: %s. Trying again.", described(error))
                self._failing = True
                pause = LONGEST_SLEEP_SECONDS
            else:
                self._failing = False
            self._stopping.wait(pause)

    def tick(self) -> float:
        """Run each chore that is due and nobody's; the seconds to wait before the next tick."""
        rows = ChoreRows(self._resources.store().pool)
        waits = rows.waits(self._chores)
        if len(waits) < len(self._chores):
            rows.ensure(self._chores)
            waits = rows.waits(self._chores)
        for name, wait in sorted(waits.items(), key=lambda item: item[1]):
            if wait <= 0 and not self._stopping.is_set():
                self._do(rows, name, self._chores[name])
        waits = rows.waits(self._chores)
        return min(LONGEST_SLEEP_SECONDS, max(0.01, min(waits.values(), default=3600.0)))

    def _do(self, rows: ChoreRows, name: str, chore: Chore) -> None:
        claim = rows.claim(name, chore.lease_seconds)
        if claim is None:
            return
        began = time.monotonic()
        try:
            chore.run(self._resources)
        except Exception as error:
            log.error("The chore %s failed: %s", name, described(error))
            figures.CHORES.labels(name, "failed").inc()
            rows.retry(name, claim, chore.every_seconds)
        else:
            log.debug("The chore %s took %.3f s.", name, time.monotonic() - began)
            figures.CHORES.labels(name, "done").inc()
            rows.finish(name, claim, chore.every_seconds)
