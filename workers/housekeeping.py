"""What is removed once it has outlived its use, and tables that never start."""

from __future__ import annotations

import logging
from collections.abc import Callable

from domain.commands import CloseTable
from eventstore.attempts import Attempts
from eventstore.chores import Housekeeping
from eventstore.deliveries import Deliveries
from eventstore.disputes import Disputes
from eventstore.health import HealthRows
from eventstore.partitions import MAKE, MONTHS_AHEAD
from workers.resources import Resources
from workers.settling import described

log = logging.getLogger(__name__)

BATCH_ROWS = 1000
"""The most rows that one statement removes: locks are short, and a purge can stop in between."""

MOST_BATCHES = 50
"""The most batches of one run: what is left waits for the next one."""

LOBBY_ROWS = 200
"""The most tables that are looked up at a time to be closed."""


def purge_answers(resources: Resources) -> None:
    """Forget idempotency keys that have expired."""
    _purge(Housekeeping(resources.store().pool).purge_answers)


def purge_creations(resources: Resources) -> None:
    """Forget claims of ids for new games that have expired."""
    _purge(Housekeeping(resources.store().pool).purge_creations)


def purge_attempts(resources: Resources) -> None:
    """Forget refused moves that are old."""
    _purge(Attempts(resources.store()).purge)


def forget_nodes(resources: Resources) -> None:
    """Forget worker nodes that ended without a word."""
    HealthRows(resources.store().pool).forget_nodes()


def settle_disputes(resources: Resources) -> None:
    """Settle the disputes that waited for the end of their game."""
    executor = resources.executor()
    Disputes(executor.store, executor.attempts).settle_waiting(BATCH_ROWS)


def purge_tickets(resources: Resources) -> None:
    """Forget tickets for streams that have expired."""
    _purge(Housekeeping(resources.store().pool).purge_tickets)


def purge_deliveries(resources: Resources) -> None:
    """Forget old deliveries to webhooks."""
    _purge(Deliveries(resources.store().pool).purge)


def close_lobbies(resources: Resources) -> None:
    """Close the tables at which nothing has happened for as long as the operator allows."""
    idle = resources.settings.lobby_hours * 3600
    executor = resources.executor()
    chores = Housekeeping(executor.store.pool)
    found = chores.idle_lobbies(idle, LOBBY_ROWS)
    for _ in range(MOST_BATCHES):
        for game_id, version in found:
            try:
                executor.execute(game_id, CloseTable(version))
            except Exception as error:
                log.error(
                    "The table %s cannot be closed: %s",
                    game_id,
                    described(error),
                    extra={"game_id": game_id},
                )
        if len(found) < LOBBY_ROWS:
            return
        # Onwards, as those that could not be closed would be found again.
        found = chores.idle_lobbies(idle, LOBBY_ROWS, after=found[-1][0])


def make_partitions(resources: Resources) -> None:
    """Have the partitions of the next months, long before their first game."""
    for name, state in resources.store().database.run(MAKE, {"months": MONTHS_AHEAD}):
        if state == "occupied":
            log.warning("Games of %s are in the default partition, where they stay.", name)


def _purge(batch: Callable[[int], int]) -> None:
    for _ in range(MOST_BATCHES):
        if batch(BATCH_ROWS) < BATCH_ROWS:
            return
