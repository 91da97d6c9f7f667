"""When the service was able to take moves: heartbeats of the processes that take them, and gaps.

Every process that serves the API writes the database's time into one row, a few times a second. So
the row's time says until when some process was alive and could write, which is what taking a move
needs; when one of several dies, or all workers do, the others' beats go on. The beat that ends a
gap writes the gap down as an outage, in the same transaction and under the row's lock, so once.
There is no clock in this but the database's, and no row before the API has first been served.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from domain.outages import Outage

from . import sql_service
from .database import Database
from .pool import Pool

BEAT_SECONDS = 0.25
"""How often a process that serves the API says so."""

FRESH_SECONDS = 0.15
"""A beat is not written while the newest is no older: many processes write no more than a few."""

OUTAGE_SECONDS = 2.0
"""A gap that is longer is an outage."""

HOLD_SECONDS = 1.0
"""While the newest beat is older, a worker records no expiry: it may be an outage that begins."""

LEAST_ID = "00000000-0000-0000-0000-000000000000"


@dataclass(frozen=True, slots=True)
class Service:
    """`now` is the database's clock; `age` is how many seconds ago a process last said that it
    takes moves, None if none ever did; `outages` are those that were asked for, the oldest first.
    """

    now: str
    age: float | None
    outages: tuple[Outage, ...]

    @property
    def out(self) -> bool:
        """Whether moves may be impossible at this moment."""
        return self.age is not None and self.age > HOLD_SECONDS


class Unswept(NamedTuple):
    """An outage that has not been given back to every running turn: up to which game it has."""

    began_at: str
    swept_to: str


class Running(NamedTuple):
    """A running turn."""

    game_id: str
    round: int
    turn: int


class ServiceTime:
    """Writes and reads when the service was up. Every method is one statement."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._database = Database(pool)

    def beat(self) -> None:
        """This process takes moves now. psycopg.Error or Unavailable if it does not."""
        parameters = {"fresh": FRESH_SECONDS, "gap": OUTAGE_SECONDS}
        self._database.once(sql_service.BEAT, parameters)

    def look(self, since: str) -> Service:
        """How the service is now, and the outages that ended after `since` (RFC 3339)."""
        rows = self._database.run(sql_service.SERVICE, {"since": since})
        outages = tuple(Outage(began, ended) for _, _, began, ended in rows if began is not None)
        return Service(rows[0][0], rows[0][1], outages)

    def unswept(self) -> list[Unswept]:
        """The outages that have not been given back to every running turn, the oldest first."""
        rows = self._database.run(sql_service.UNSWEPT, {})
        return [Unswept(began_at, swept_to or LEAST_ID) for began_at, swept_to in rows]

    def swept(self, outage: Unswept, game_id: str, done: bool) -> None:
        """It has been given back to the running turns of all games up to `game_id`."""
        parameters = {"began_at": outage.began_at, "game_id": game_id, "done": done}
        self._database.run(sql_service.SWEPT_TO, parameters)

    def running(self, after: str, limit: int) -> Sequence[Running]:
        """At most `limit` running turns, by the game's id, of games after `after`."""
        rows = self._database.run(sql_service.RUNNING, {"after": after, "limit": limit})
        return [Running(*row) for row in rows]
