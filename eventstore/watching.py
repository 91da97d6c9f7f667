"""What readers who wait are waiting for, asked for many of them at once.

No reader holds a connection: one caller in each process asks for all of them, again and again.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any, LiteralString, NamedTuple

import psycopg

from domain.events import Recorded

from . import sql_watching as sql
from .database import Database, Fate, fate_of
from .errors import Broken, Unavailable
from .pool import Pool, Row
from .recorded import from_bodies, parsed

log = logging.getLogger(__name__)

MOST_EVENTS = 2000
"""Events that one question brings at most; the rest comes with the next one."""
MOST_LATE_EVENTS = 16
"""The same of one game that is watched with a delay: those that are not to be seen yet are looked
at as well."""


class Known(NamedTuple):
    """Up to where a game is known: its last known event's version and hash."""

    version: int
    hash: str


class Sight(NamedTuple):
    """By what somebody may see a private game: the player, or the hash of an invite's code."""

    game_id: str
    player_id: str | None
    code_hash: bytes | None


class Watching:
    """Each method is one statement, tried once, or few of them. Raises Unavailable at once when
    the database is away or busy: the caller asks again anyway."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)
        self._broken: set[str] = set()
        """Games of which that was said."""

    def news(self, known: Mapping[str, Known], *, late: bool = False) -> dict[str, list[Recorded]]:
        """The events after those that are known, of the games that have any; with `late` those
        that spectators may see by now."""
        parameters = {
            "games": list(known),
            "versions": [each.version for each in known.values()],
            "limit": MOST_EVENTS,
            "each": MOST_LATE_EVENTS,
        }
        found: dict[str, list[Row]] = {}
        for row in self._once(sql.LATE_NEWS if late else sql.NEWS, parameters):
            found.setdefault(row[0], []).append(row)
        return {
            game_id: events
            for game_id, rows in found.items()
            if (events := self._events(game_id, rows, known[game_id].hash))
        }

    def _events(self, game_id: str, rows: list[Row], prev_hash: str) -> list[Recorded]:
        """No events where a row is none: nobody waits in vain for another game because of it."""
        try:
            bodies = parsed(b"[" + b",".join([body for _, body, _ in rows]) + b"]")
        except Broken as error:
            if game_id not in self._broken:
                self._broken.add(game_id)
                log.error("A game's news cannot be told: %s.", error, extra={"game_id": game_id})
            return []
        return from_bodies(bodies, b"".join([own for _, _, own in rows]), prev_hash)

    def rematches(self, game_ids: Collection[str], *, late: bool = False) -> set[str]:
        """Those of the games that have a rematch; with `late` one that spectators may see."""
        if not game_ids:
            return set()
        statement = sql.LATE_REMATCHES if late else sql.REMATCHES
        return {row[0] for row in self._once(statement, {"games": list(game_ids)})}

    def turns(self, player_ids: Collection[str]) -> dict[str, tuple[Any, ...]]:
        """For each player a value that is another one when a game begins or ceases to wait for
        that player, or changes meanwhile; players for whom no game waits are missing."""
        rows = self._once(sql.TURNS, {"players": list(player_ids)})
        return {row[0]: row[1:] for row in rows}

    def scopes(self, token_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """The scopes of those of the tokens that are in force."""
        rows = self._once(sql.TOKENS, {"tokens": list(token_ids)})
        return {token_id: frozenset(scopes) for token_id, scopes in rows}

    def seen(self, sights: Iterable[Sight]) -> set[Sight]:
        """Those of the sights that still hold."""
        asked = set(sights)
        players = {sight.player_id for sight in asked} - {None}
        codes = {sight.code_hash for sight in asked} - {None}
        games = list({sight.game_id for sight in asked})
        admitted: set[tuple[Any, ...]] = set()
        invites: set[tuple[Any, ...]] = set()
        if players:
            admitted = set(self._once(sql.ADMITTED, {"games": games, "players": list(players)}))
        if codes:
            invites = set(self._once(sql.INVITES, {"games": games, "codes": list(codes)}))
        return {
            sight
            for sight in asked
            if (sight.game_id, sight.player_id) in admitted
            or (sight.game_id, sight.code_hash) in invites
        }

    def _once(self, statement: LiteralString, parameters: dict[str, Any]) -> list[Row]:
        try:
            return self._database.once(statement, parameters)
        except psycopg.Error as error:
            if fate_of(error) is Fate.BUG:
                raise
            raise Unavailable("the database is away or too busy") from error
