"""The standings: what became of each player's matches, built from the feed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from psycopg import Connection

from domain.game import Game, fold
from domain.results import PlayerResult, results

from . import sql_standings as sql
from .database import Database, patiently
from .errors import Broken
from .feed import FeedItem, consume
from .pool import Pool, Row
from .store import LAST, decided, folded

log = logging.getLogger(__name__)

BATCH_EVENTS = 500
"""The most events that one transaction looks at."""


class RulesetRecord(NamedTuple):
    """A player's matches under one ruleset that are over: each is one of the five."""

    ruleset: str
    played: int
    won: int
    drawn: int
    lost: int
    resigned: int
    abandoned: int


@dataclass(frozen=True, slots=True)
class Profile:
    """What anyone may know of a player."""

    player_id: str
    name: str
    sandbox: bool
    results: tuple[RulesetRecord, ...]


class Standings:
    """The standings of one database. Raises Unavailable when that is away for a while."""

    def __init__(self, pool: Pool) -> None:
        self.database = Database(pool)

    def profile(
        self, player_id: str, *, viewer: str | None = None, everything: bool = False
    ) -> Profile | None:
        """A player's name and results; None for nobody, and for who was erased.

        Without the matches of whose end the player `viewer` is not to be told yet, as a spectator
        who sees them later; with `everything` there are none.
        """
        parameters = {"player_id": player_id, "viewer": viewer, "everything": everything}
        rows = self.database.run(sql.OF_PLAYER, parameters)
        if not rows:
            return None
        found = {row[2]: RulesetRecord(*row[2:-1]) for row in rows if row[2] is not None}
        for game_id in rows[0][-1] or ():
            self._take_out(found, player_id, game_id)
        told = tuple(record for record in found.values() if record.played)
        return Profile(player_id, rows[0][0], rows[0][1], told)

    def _take_out(self, found: dict[str, RulesetRecord], player_id: str, game_id: str) -> None:
        """Take a match that is over out of what is counted."""
        with self.database.connection() as connection:
            game = _game(connection, game_id, LAST)
        record = found.get(game.ruleset)
        outcome = next((r.outcome for r in _results(game) if r.player_id == player_id), None)
        if record is not None and outcome is not None:
            less = {name: getattr(record, name) - 1 for name in ("played", outcome)}
            found[game.ruleset] = record._replace(**less)

    def step(self, limit: int = BATCH_EVENTS) -> int:
        """Count what ended in the next events of the feed, at most `limit`; how many events there
        were. Each is counted exactly once, by however many callers at a time.

        A game that does not fold is left out, and the log names it. Broken if events are not there;
        then nothing is counted.
        """
        if not self.database.run(sql.BEHIND, {})[0][0]:
            return 0  # without a transaction, whose locks would be written to disk

        def once() -> int:
            with self.database.connection() as connection, connection.transaction():
                # Shared, so that no rebuild takes the place of what is written here.
                generation = _generation(connection, sql.SHARE_GENERATION)
                return count_next(connection, generation, limit)

        return patiently(once)


def cursor_name(generation: int) -> str:
    """The feed's reader that builds that generation."""
    return f"standings/{generation}"


def count_next(
    connection: Connection[Row], generation: int, limit: int, *, until: int | None = None
) -> int:
    """`Standings.step` for one generation, none beyond the position `until`, within the transaction
    that is open on `connection`."""

    def count(connection: Connection[Row], items: Sequence[FeedItem]) -> None:
        _count(connection, generation, items)

    return consume(connection, cursor_name(generation), limit, count, until=until)


def _generation(connection: Connection[Row], statement: str) -> int:
    row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return int(row[0])


def _count(connection: Connection[Row], generation: int, items: Sequence[FeedItem]) -> None:
    span = {"first": items[0].position, "last": items[-1].position}
    players: list[str] = []
    rulesets: list[str] = []
    outcomes: list[str] = []
    for position, game_id, version, missing in connection.execute(sql.ENDS, span).fetchall():
        if missing:
            raise Broken(_missing(connection, position, game_id, version))
        try:
            game = _game(connection, game_id, version)
            told = _results(game)
        except Broken as error:
            # It counts for nobody, and holds up nobody else's results; an audit says what is wrong.
            log.error("A match is not counted: %s.", error, extra={"game_id": game_id})
            continue
        for result in () if game.sandbox else told:
            players.append(result.player_id)
            rulesets.append(game.ruleset)
            outcomes.append(result.outcome)
    if players:
        connection.execute(
            sql.COUNT,
            {
                "generation": generation,
                "players": players,
                "rulesets": rulesets,
                "outcomes": outcomes,
            },
        )


def _missing(connection: Connection[Row], position: int, game_id: str, version: int) -> str:
    row = connection.execute(sql.DETACHED_OF, {"game_id": game_id}).fetchone()
    event, month = f"event {version} of game {game_id}", row and row[0]
    if month is None:
        return f"{event} is not there (position {position})"
    return f"{event} is in {month}, which is detached: `./abbot partitions attach {month}` first"


def _game(connection: Connection[Row], game_id: str, version: int) -> Game:
    parameters = {"game_id": game_id, "version": version}
    row = connection.execute(sql.BODIES, parameters).fetchone()
    assert row is not None
    try:
        return folded(fold, game_id, decided(row[0]))
    except Broken as error:
        raise Broken(f"game {game_id} does not fold") from error


def _results(game: Game) -> list[PlayerResult]:
    try:
        return results(game)
    except Exception as error:
        raise Broken(f"game {game.game_id} has no result") from error
