"""After an outage: every running turn gets back what it took, soon and not only when it is due."""

from __future__ import annotations

import logging
import time

from eventstore import batches
from eventstore.errors import OutOfService
from eventstore.service import ServiceTime
from workers import figures
from workers.resources import Resources
from workers.settling import described

log = logging.getLogger(__name__)

BATCH_ROWS = 50
"""How many turns are looked at together; it is noted after each batch how far the work has come."""

LONGEST_SECONDS = 30.0
"""The work is interrupted after so long, well before its lease runs out, and goes on at once."""


def give_back(resources: Resources) -> None:
    """Extend the turns that lost time to an outage, in the order of their games' ids.

    What is due is not waited for: whoever finds a turn overdue gives it its time back first.
    """
    service = ServiceTime(resources.store().pool)
    began = time.monotonic()
    for outage in service.unswept():
        after = outage.swept_to
        while running := service.running(after, BATCH_ROWS):
            executor = resources.executor()
            try:
                settled = batches.expire(executor, running)
            except OutOfService:
                return
            for _, outcome in settled.expired:
                figures.observe_expiry(outcome.events)
            for turn in (*settled.left, *settled.stale):
                try:
                    executor.give_back(turn.game_id)
                except Exception as error:
                    log.error(
                        "Game %s got no time back: %s",
                        turn.game_id,
                        described(error),
                        extra={"game_id": turn.game_id},
                    )
            after = running[-1].game_id
            service.swept(outage, after, False)
            if time.monotonic() - began > LONGEST_SECONDS:
                return
        service.swept(outage, after, True)
