"""Making anew what follows from the record, while games go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, LiteralString, NamedTuple

import orjson
from psycopg import Connection
from psycopg.errors import DataError, IntegrityError

from domain.game import Game
from domain.randomness import commitment
from domain.sandbox import secret_of

from . import sql_rebuilding as sql
from . import sql_standings, summaries
from .auditing import Auditor, StoredGame, read_game
from .checkpoints import Checkpoints, Head, NewestHeads
from .database import Database, patiently
from .errors import Broken
from .feed import Feed
from .ids import uuid7
from .pool import Pool, Row
from .standings import count_next, cursor_name

LEASE_SECONDS = 30.0
BATCH_EVENTS = 2000


class Correction(NamedTuple):
    """What was wrong beside a game's record; `made` if it is as it must be by now."""

    game_id: str
    wrong: list[str]
    made: bool


class SummaryRebuilder:
    """Corrects the summaries, seats and deadlines of games. Needs the owner's rights."""

    def __init__(self, pool: Pool) -> None:
        self.database = Database(pool)
        self.auditor = Auditor(pool)
        self.checkpoints = Checkpoints(pool)

    def correct(self, game_id: str, signed: Head | None = None) -> Correction | None:
        """Correct what is wrong beside the game's record; None if nothing is, or if the record is
        in the archive. One that is not, or no longer, what was `signed` of it is left alone: what
        stands beside it may be the last that tells of its end.

        The game may go on meanwhile: an append and a correction wait for each other, and each
        works on what the other has left.
        """
        stored = read_game(self.database.run, game_id)
        if stored is None or stored.rows.ok is None:
            return None
        wrong = _wrong(stored, signed)[0]
        if not wrong:
            return None

        def locked() -> Correction | None:
            with self.database.connection() as connection, connection.transaction():
                connection.execute(sql.LOCK_GAME, {"game_id": game_id})
                return _correct(connection, game_id, signed)

        try:
            return patiently(locked)
        except (DataError, IntegrityError):
            return Correction(game_id, [*wrong, "no row can be made of what its events say"], False)

    def all(self) -> Iterator[Correction | None]:
        """`correct` for every game, one by one, and by what the checkpoints hold of each."""
        signed = NewestHeads(self.checkpoints.all())
        for game_id in self.auditor.game_ids():
            yield self.correct(game_id, signed.of(game_id))


def _wrong(stored: StoredGame, signed: Head | None) -> tuple[list[str], Game | None]:
    """What is wrong, and the game to correct it by, if the record itself is right."""
    if not stored.rows.ok:
        return [f"event {stored.rows.version}: {stored.rows.detail}"], None
    if signed is not None:
        there = signed.version <= stored.count
        own = stored.events[signed.version - 1].hash if there else None
        fault = signed.missed("it", own, stored.count)
        if fault is not None:
            return [fault], None
    game = stored.fold()
    if game is None:
        return ["the record does not fold"], None
    return [*stored.wrong_summary(game), *stored.wrong_deadlines(game)], game


def _correct(connection: Connection[Row], game_id: str, signed: Head | None) -> Correction | None:
    def run(statement: LiteralString, parameters: dict[str, Any]) -> list[Row]:
        with connection.cursor(binary=True) as cursor:
            cursor.execute(statement, parameters)
            return cursor.fetchall()

    stored = read_game(run, game_id)
    if stored is None or stored.rows.ok is None:
        return None
    wrong, game = _wrong(stored, signed)
    if not wrong:
        return None
    if game is None:
        return Correction(game_id, wrong, False)
    values = summaries.summary(game, stored.events)
    values |= {"game_id": game_id, "options": orjson.dumps(values["options"]).decode()}
    secret = stored.secret
    if secret is None or commitment(secret, game_id) != game.commitment:
        if game.deal is not None:
            secret = secret_of(game.deal)
        elif game.secret is None:
            return Correction(game_id, [*wrong, "its secret stands nowhere else yet"], False)
        else:
            secret = bytes.fromhex(game.secret)
    statement = sql.INSERT_GAME if stored.summary is None else sql.UPDATE_GAME
    connection.execute(statement, {**values, "secret": secret})
    connection.execute(sql.NAME_IN_REMATCH, {"game_id": game_id})
    seats = {"game_id": game_id, "seats": orjson.dumps(summaries.seats(game)).decode()}
    connection.execute(sql.CLEAR_SEATS, seats)
    connection.execute(sql.INSERT_SEATS, seats)
    deadlines = summaries.deadlines(game)
    connection.execute(sql.CLEAR_DEADLINES, {"game_id": game_id, "kinds": list(deadlines)})
    for kind, due in deadlines.items():
        connection.execute(
            sql.SET_DEADLINE, {"due_at": None, **due, "game_id": game_id, "kind": kind}
        )
    return Correction(game_id, wrong, True)


class StandingsRebuilder:
    """Builds the standings anew beside those that are read, then puts them in their place."""

    def __init__(self, pool: Pool) -> None:
        self.database = Database(pool)
        self.feed = Feed(pool)
        self._holder = uuid7()

    def rebuild(self, told: Callable[[int, int], None]) -> int:
        """Count every match of the feed again; how many events were looked at.

        `told` hears of each step: events done, and how many there are by then. Matches that end
        meanwhile are counted in both; the change from one to the other is at one instant, and
        neither leaves one out nor counts one twice. Broken where events are missing, and where
        another rebuild runs; then all stays as it was.
        """
        self._keep_lease()
        try:
            generation = self._begin()
            done = 0
            while True:
                counted = self._count(generation)
                done += counted
                told(done, self.feed.head())
                self._keep_lease()
                if counted < BATCH_EVENTS and self._take_over(generation):
                    break
            self._clear(generation)
            return done
        finally:
            self.feed.end_lease("rebuild-standings", self._holder)

    def _keep_lease(self) -> None:
        if not self.feed.lease("rebuild-standings", self._holder, LEASE_SECONDS):
            raise Broken("another rebuild of the standings runs")

    def _begin(self) -> int:
        """An empty generation after the one that is read; what an earlier try left is removed."""
        (active,) = self.database.run(sql_standings.GENERATION, {})[0]
        self._clear(active)
        return int(active) + 1

    def _count(self, generation: int) -> int:
        def once() -> int:
            with self.database.connection() as connection, connection.transaction():
                return count_next(connection, generation, BATCH_EVENTS)

        return patiently(once)

    def _take_over(self, generation: int) -> bool:
        """Put the generation in the place of the one that is read, if it is as far as that one.
        False if not: nobody is to see a match that was counted vanish."""

        def once() -> bool:
            with self.database.connection() as connection, connection.transaction():
                row = connection.execute(sql_standings.LOCK_GENERATION).fetchone()
                assert row is not None
                reached = [
                    connection.execute(
                        sql_standings.POSITION, {"name": cursor_name(number)}
                    ).fetchone()
                    for number in (row[0], generation)
                ]
                old, new = (0 if each is None else int(each[0]) for each in reached)
                if new < old:
                    return False
                connection.execute(sql_standings.SET_GENERATION, {"generation": generation})
                return True

        return patiently(once)

    def _clear(self, active: int) -> None:
        """Remove every generation but the active one, some players at a time."""
        self.database.run(
            sql_standings.DROP_CURSORS, {"active": cursor_name(active), "like": "standings/%"}
        )
        after: str | None = "00000000-0000-0000-0000-000000000000"
        while after is not None:
            parameters = {"active": active, "after": after, "limit": BATCH_EVENTS}
            after = self.database.run(sql_standings.CLEAR, parameters)[0][0]
