"""Recurring work as due rows: one row for each name, claimed with a lease like a deadline."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import LiteralString

from . import sql, sql_chores
from .database import Database
from .ids import least_uuid7
from .pool import Pool

FIRST_RETRY_SECONDS = 5.0
"""A chore that failed is due again after this long, doubled with each failure in a row."""

NIL = "00000000-0000-0000-0000-000000000000"
"""Less than any id (RFC 9562, section 5.9)."""

CLOCKS_DIFFER = datetime.timedelta(hours=1)
"""More than the clocks of any two nodes differ by."""


class ChoreRows:
    """The rows of recurring work. All times are the database's."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def ensure(self, names: Iterable[str]) -> None:
        """Rows for these names; new ones are due at once."""
        self._database.run(sql_chores.ENSURE, {"names": list(names)})

    def claim(self, name: str, lease_seconds: float) -> int | None:
        """Claim the row if it is due and nobody's: the number of this claim, else None."""
        parameters = {"name": name, "lease": lease_seconds}
        rows = self._database.run(sql_chores.CLAIM, parameters)
        return int(rows[0][0]) if rows else None

    def waits(self, names: Iterable[str]) -> dict[str, float]:
        """Seconds until each of the rows can be claimed, negative once it can."""
        rows = self._database.run(sql_chores.DUE, {"names": list(names)})
        return {name: float(seconds) for name, seconds in rows}

    def finish(self, name: str, claim: int, every_seconds: float) -> None:
        """The work is done and due again in `every_seconds`. Nothing happens if the row has been
        claimed by somebody else since."""
        parameters = {"name": name, "claim": claim, "every": float(every_seconds)}
        self._database.run(sql_chores.FINISH, parameters)

    def retry(self, name: str, claim: int, every_seconds: float) -> None:
        """The work failed: due again soon, later with each failure in a row, and after
        `every_seconds` at the latest."""
        parameters = {
            "name": name,
            "claim": claim,
            "every": float(every_seconds),
            "first": FIRST_RETRY_SECONDS,
        }
        self._database.run(sql_chores.RETRY, parameters)


class Housekeeping:
    """What has outlived its use, removed in bounded batches, and tables that nobody starts."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def now(self) -> datetime.datetime:
        """The database's clock."""
        now: datetime.datetime = self._database.run(sql.CLOCK, {})[0][0]
        return now

    def purge_answers(self, limit: int) -> int:
        """Forget at most `limit` expired idempotency keys; how many."""
        return self._purge(sql_chores.PURGE_IDEMPOTENCY, limit)

    def purge_creations(self, limit: int) -> int:
        """Forget at most `limit` expired claims of ids for new games; how many."""
        return self._purge(sql_chores.PURGE_CREATIONS, limit)

    def purge_tickets(self, limit: int) -> int:
        """Forget at most `limit` tickets for streams that have expired; how many."""
        return self._purge(sql_chores.PURGE_TICKETS, limit)

    def idle_lobbies(
        self, idle_seconds: float, limit: int, after: str = NIL
    ) -> list[tuple[str, int]]:
        """At most `limit` tables in the lobby at which nothing has happened for `idle_seconds`,
        those opened after the game `after`, the oldest first, each with its version."""
        before = self.now() - datetime.timedelta(seconds=idle_seconds)
        # A game's id tells when it was opened, so the scan ends before the lobbies of today. The
        # clock that told it was another one, hence the margin.
        newest = least_uuid7(before + CLOCKS_DIFFER)
        parameters = {"before": before, "newest": newest, "limit": limit, "after": after}
        rows = self._database.run(sql_chores.IDLE_LOBBIES, parameters)
        return [(str(game_id), int(version)) for game_id, version in rows]

    def _purge(self, statement: LiteralString, limit: int) -> int:
        (removed,) = self._database.run(statement, {"now": self.now(), "limit": limit})[0]
        return int(removed)
