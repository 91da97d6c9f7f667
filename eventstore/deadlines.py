"""Due times as rows: claiming what has passed, for as long as moves can be made."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from . import sql, sql_batches, sql_service
from .database import Database
from .pool import Pool
from .service import HOLD_SECONDS


class Due(NamedTuple):
    """A claimed deadline. `reclaimed`: it was claimed before, and nobody settled it."""

    game_id: str
    kind: str
    round: int
    turn: int
    due_at: str
    reclaimed: bool


class DueTurn(Protocol):
    """The row of a due turn."""

    @property
    def game_id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def turn(self) -> int: ...


class Deadlines:
    """The rows of due turns. All times are the database's."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def claim(self, limit: int, lease_seconds: float) -> list[Due] | None:
        """Claim about `limit` deadlines that have passed, the oldest first, for `lease_seconds`.

        None, and nothing is claimed, while no process takes moves: turns wait then. A claim that
        is not settled in its time can be claimed again. Two statements.
        """
        now, age = self._database.run(sql_service.CLOCK_AND_AGE, {})[0]
        if age is not None and age > HOLD_SECONDS:
            return None
        until = now + datetime.timedelta(seconds=lease_seconds)
        rows = self._database.run(sql.CLAIM_DUE, {"now": now, "until": until, "limit": limit})
        return sorted((Due(*row) for row in rows), key=lambda due: due.due_at)

    def wait(self) -> float | None:
        """Seconds until the next unclaimed deadline, negative once it has passed; None if none."""
        rows = self._database.run(sql.NEXT_DUE, {})
        return float(rows[0][0]) if rows else None

    def release(self, dues: Iterable[DueTurn]) -> None:
        """Give claims back unsettled, so that anyone may claim them at once, as if for the first
        time."""
        rows = list(dues)
        parameters = {
            "game_ids": [due.game_id for due in rows],
            "kinds": [due.kind for due in rows],
            "rounds": [due.round for due in rows],
            "turns": [due.turn for due in rows],
        }
        self._database.run(sql_batches.RELEASE_MANY, parameters)
