"""Games as they are stored: loading by folding, reading the record, appending, due times."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from domain.events import Recorded
from domain.game import Game, fold

from . import sql
from .appending import Append, Appended
from .database import Database
from .errors import Broken
from .pool import Pool, Row
from .recorded import ZERO_HASH, from_bodies

LAST = 2**31 - 1
"""Beyond every version."""


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A request that its client may send again: `key` is the client's, for the token alone."""

    token_id: str
    key: str
    path: str
    body_hash: bytes


class Record(NamedTuple):
    """What was answered to an idempotency key: the events `first` to `last` of a game, none if
    `last` is before `first`."""

    game_id: str
    path: str
    body_hash: bytes
    first: int
    last: int

    def answers(self, request: Idempotency) -> bool:
        """Whether it is the same request that was answered."""
        return (self.path, self.body_hash) == (request.path, request.body_hash)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A game, and what was true at the same instant of the database."""

    game: Game
    events: list[Recorded]
    secret: bytes
    now: str
    """The database's clock."""
    head_hash: str
    rematch: str | None
    """The game that its players play next, once it is open."""
    rematch_of: str | None
    """The game whose players have their seats kept in this one."""
    record: Record | None
    """What was answered to the idempotency key that was asked about, in this game."""
    elsewhere: Record | None = None
    """The same for any other game."""


class Head(NamedTuple):
    """A game's newest version without its events."""

    version: int
    status: str
    visibility: str
    rematch: str | None
    hash: str


class Due(NamedTuple):
    """A claimed deadline. `reclaimed`: it was claimed before, and nobody settled it."""

    game_id: str
    kind: str
    round: int
    turn: int
    due_at: str
    reclaimed: bool


class Store:
    """Reading and appending. Every method is one statement, unless it says otherwise.

    Raises Unavailable when the database is away or too busy for a while.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.database = Database(pool)

    def load(self, game_id: str, idempotency: Idempotency | None = None) -> Loaded | None:
        """The game folded from its events, as of one snapshot; None if there is no such game.

        With `idempotency` also what was answered to that key before.
        """
        key: dict[str, Any] = {
            "game_id": game_id,
            "token_id": idempotency.token_id if idempotency else None,
            "key": idempotency.key if idempotency else None,
        }
        used: list[Row] = []
        if idempotency is None:
            rows = self.database.run(sql.LOAD, key)
        else:
            rows, used = self.database.run_both(sql.LOAD, sql.KEY_USED, key)
        if not rows:
            return None
        secret, now, rematch_of, rematch, bodies, hashes, path, body_hash, first, last = rows[0]
        events = from_bodies(orjson.loads(bodies), hashes, ZERO_HASH)
        return Loaded(
            _fold(game_id, events),
            events,
            secret,
            now,
            events[-1].hash,
            rematch,
            rematch_of,
            None if path is None else Record(game_id, path, body_hash, first, last),
            next((_record(row) for row in used if row[0] != game_id), None),
        )

    def events(self, game_id: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The events after the version `after`, at most `limit` of them; none for no game."""
        last = LAST if limit is None else min(LAST, after + limit)
        if after >= LAST or last <= after:
            return []
        parameters = {"game_id": game_id, "after": after, "last": last}
        bodies, hashes, before = self.database.run(sql.EVENTS, parameters)[0]
        if bodies is None:
            return []
        return from_bodies(orjson.loads(bodies), hashes, before.hex() if before else ZERO_HASH)

    def fold_at(self, game_id: str, version: int) -> Game | None:
        """The game as it stood after the event `version`; None if there is no such event."""
        if version < 1:
            return None
        game = _fold(game_id, self.events(game_id, 0, version))
        return game if game.version == version else None

    def head(self, game_id: str) -> Head | None:
        """The game's newest version, without loading the game."""
        rows = self.database.run(sql.HEAD, {"game_id": game_id})
        if not rows:
            return None
        version, status, visibility, rematch, own_hash = rows[0]
        return Head(version, status, visibility, rematch, own_hash.hex())

    def append(self, append: Append) -> Appended:
        """Append events with all that is to be true at the same instant, or nothing at all.

        psycopg.Error as it comes: the caller has to find out whether it was stored.
        """
        status, at, hashes, first, last = self.database.once(sql.APPEND, append.parameters())[0]
        return Appended(status, at, tuple(one.hex() for one in hashes or ()), first, last)

    def find_record(self, request: Idempotency) -> tuple[Record | None, bool]:
        """What was answered to the key, in whichever game, and whether the key is taken by
        another request."""
        parameters = {"token_id": request.token_id, "key": request.key}
        found = [_record(row) for row in self.database.run(sql.KEY_USED, parameters)]
        other = any(not record.answers(request) for record in found)
        return next((r for r in found if r.answers(request) and r.first), None), other

    def claim_creation(
        self, request: Idempotency, game_id: str, keep: datetime.timedelta
    ) -> Record:
        """Claim `game_id` for the game that the request opens, unless the key has a claim already:
        the claim that stands. Two statements."""
        parameters: dict[str, Any] = {
            "token_id": request.token_id,
            "key": request.key,
            "path": request.path,
            "body_hash": request.body_hash,
            "game_id": game_id,
            "keep": keep,
        }
        self.database.run(sql.CLAIM_CREATION, parameters)
        path, body_hash, claimed = self.database.run(sql.CREATION, parameters)[0]
        return Record(claimed, path, body_hash, 0, 0)

    def claim_rematch(self, game_id: str, new_game_id: str) -> str:
        """The id of the game that follows `game_id`: `new_game_id` if nobody asked before. Two
        statements."""
        parameters = {"game_id": game_id, "new_game_id": new_game_id}
        self.database.run(sql.CLAIM_REMATCH, parameters)
        return str(self.database.run(sql.REMATCH, parameters)[0][0])

    def rematch_opened(self, game_id: str) -> None:
        """From now on the rematch of `game_id` is shown in it."""
        self.database.run(sql.REMATCH_OPENED, {"game_id": game_id})

    def seated_players(self, game_id: str) -> dict[str, int]:
        """The players who hold a seat, with its number."""
        rows = self.database.run(sql.SEATED_PLAYERS, {"game_id": game_id})
        return dict(rows)

    def claim_due(self, limit: int, lease_seconds: float) -> list[Due]:
        """Claim about `limit` deadlines that have passed, the oldest first, for `lease_seconds`.

        A claim that is not settled by then can be claimed again. Two statements.
        """
        now = self.database.run(sql.CLOCK, {})[0][0]
        until = now + datetime.timedelta(seconds=lease_seconds)
        rows = self.database.run(sql.CLAIM_DUE, {"now": now, "until": until, "limit": limit})
        return sorted((Due(*row) for row in rows), key=lambda due: due.due_at)

    def next_due(self) -> float | None:
        """Seconds until the next unclaimed deadline, negative once it has passed; None if none."""
        rows = self.database.run(sql.NEXT_DUE, {})
        return float(rows[0][0]) if rows else None

    def release(self, dues: Iterable[Due]) -> None:
        """Give claims back unsettled, so that anyone may claim them at once."""
        for due in dues:
            self.database.run(sql.RELEASE, _deadline(due))

    def drop_deadline(self, game_id: str, kind: str, round_number: int, turn: int) -> None:
        """Remove a deadline of a turn that no longer runs."""
        due = Due(game_id, kind, round_number, turn, "", False)
        self.database.run(sql.DROP_DEADLINE, _deadline(due))


def _deadline(due: Due) -> dict[str, Any]:
    return {"game_id": due.game_id, "kind": due.kind, "round": due.round, "turn": due.turn}


def _record(row: Row) -> Record:
    game_id, path, body_hash, first, last = row
    return Record(game_id, path, body_hash, first or 0, last or 0)


def _fold(game_id: str, events: list[Recorded]) -> Game:
    try:
        return fold(game_id, events)
    except (AssertionError, KeyError, TypeError, ValueError) as error:
        raise Broken(f"game {game_id} does not fold") from error
