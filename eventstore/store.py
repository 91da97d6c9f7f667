"""Games as they are stored: loading by folding, reading the record, appending."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, LiteralString, NamedTuple, TypeVar

import orjson
from psycopg.errors import DatetimeFieldOverflow, InvalidDatetimeFormat

from domain.events import Event, Recorded
from domain.evolution import AnyEvent
from domain.game import Game, fold, fold_round, follow

from . import sql, sql_batches
from .appending import APPENDED, Append, Appended
from .database import Database
from .errors import Archived, Broken
from .pool import Pool, Row, bounded
from .positions import CACHED_GAMES, Idempotency, Loaded, Positions, Record
from .prepared import Prepared
from .recorded import HASH_BYTES, ZERO_HASH, from_bodies, parsed
from .sending import ENCODERS, send

__all__ = ["Head", "Idempotency", "Loaded", "Record", "Store"]

log = logging.getLogger(__name__)

Start = TypeVar("Start", str, Game)

LAST = 2**31 - 1
"""Beyond every version."""


class Head(NamedTuple):
    """A game's newest version without its events."""

    version: int
    status: str
    visibility: str
    rematch: str | None
    hash: str


STATEMENTS = {
    sql.TAIL: Prepared("abbot_tail", sql.TAIL, ENCODERS),
    sql.LOAD: Prepared("abbot_load", sql.LOAD, ENCODERS),
    sql.LOAD_WHOLE: Prepared("abbot_load_whole", sql.LOAD_WHOLE, ENCODERS),
}
"""Those that read a game, as they are sent when no idempotency key is asked about with them."""

_NO_TAIL: Row = (None, None, None)


@dataclass(slots=True)
class _Read:
    """What the statements read that read a game."""

    game_id: str
    rows: list[Row] = field(repr=False)
    used: list[Row]
    """What was answered to the request's key, in whichever games."""

    def loaded(
        self, game: Game, around: Row, head_hash: str, secret: bytes, rematch_of: str | None
    ) -> Loaded:
        now, rematch, path, body_hash, first, last = around
        return Loaded(
            game,
            secret,
            head_hash,
            rematch_of,
            game.clock(now),
            rematch,
            None if path is None else Record(self.game_id, path, body_hash, first, last),
            next((_record(row) for row in self.used if row[0] != self.game_id), None),
        )

    def folded(self, folding: Callable[[str, Iterable[AnyEvent]], Game]) -> tuple[Loaded, int]:
        """From rows of LOAD: the game, and its version by the summary. Raises Broken, also where
        the rows do not lead to the newest event."""
        first, *bodies = [body for _, body in self.rows]
        now, rematch, path, body_hash, *answer, secret, rematch_of, version, newest = orjson.loads(
            first
        )
        around = (now, rematch, path, body_hash and bytes.fromhex(body_hash), *answer)
        game = folded(folding, self.game_id, decided(f"[{','.join(bodies)}]"))
        if game.version != newest[0]:
            raise Broken("a game's rows do not lead to its newest event")
        return self.loaded(game, around, newest[1], bytes.fromhex(secret), rematch_of), version


class Store:
    """Reading and appending. Every method is one statement, unless it says otherwise.

    It keeps the positions of the last `games` games that it has seen. Raises Unavailable when the
    database is away or too busy for a while.
    """

    def __init__(self, pool: Pool, games: int = CACHED_GAMES) -> None:
        self.pool = pool
        self.database = Database(pool)
        self.positions = Positions(games)
        self.on_append: Callable[[str, str | None], None] | None = None
        """Told of each append of this process: the game, and the player to move after it."""

    def load(
        self,
        game_id: str,
        idempotency: Idempotency | None = None,
        *,
        since: int | None = None,
        whole: bool = False,
    ) -> Loaded | None:
        """The game as of one snapshot of the database; None if there is no such game.

        With `idempotency` also what was answered to that key before. What this process has seen
        of the game is not read again; anything else is read from the latest round on, unless
        `since` names an earlier one whose expired turns have to be known. `whole` folds the whole
        record, whatever is known. Raises Archived and Broken.
        """
        known = None if whole else self.known(game_id, since=since)
        if known is not None:
            loaded = self._go_on(known, idempotency)
            if loaded is not None:
                return loaded
        loaded = None if whole else self._from_round(game_id, idempotency)
        if whole or (loaded is not None and not _knows(loaded.game, since)):
            loaded = self._whole(game_id, idempotency)
        return loaded

    def known(self, game_id: str, *, since: int | None = None) -> Loaded | None:
        """The position that this process has seen last, without asking the database; None if
        none. It need not be the newest: only an append tells."""
        known = self.positions.get(game_id)
        return known if known is not None and _knows(known.game, since) else None

    def keep(
        self, game: Game, head_hash: str, secret: bytes, rematch_of: str | None = None
    ) -> None:
        """Remember the position that an append has led to."""
        self.positions.keep(Loaded(game, secret, head_hash, rematch_of))

    def _from_round(self, game_id: str, idempotency: Idempotency | None) -> Loaded | None:
        read = self._record(sql.LOAD, game_id, idempotency)
        if read is None:
            return None
        try:
            loaded, version = read.folded(fold_round)
            if loaded.game.version == version:
                return self._keep(loaded)
        except Broken:
            pass
        # The summary is no part of the record: all is read without its help.
        log.warning("The summary of game %s does not lead to its latest round.", game_id)
        return self._whole(game_id, idempotency)

    def _whole(self, game_id: str, idempotency: Idempotency | None) -> Loaded | None:
        read = self._record(sql.LOAD_WHOLE, game_id, idempotency)
        return None if read is None else self._keep(read.folded(fold)[0])

    def _go_on(self, known: Loaded, idempotency: Idempotency | None) -> Loaded | None:
        """The newest position from a known one; None if the database does not have that one."""
        game = known.game
        read = self._read(sql.TAIL, game.game_id, idempotency, game.version)
        (*around, bodies, hashes, before) = read.rows[0] if read.rows else _NO_TAIL
        if before is None or before.hex() != known.head_hash:
            self.positions.forget(known)
            return None
        if bodies is not None:
            game = folded(follow, game.copy(), decided(bodies))
        head_hash = hashes[-HASH_BYTES:].hex()
        loaded = read.loaded(game, tuple(around), head_hash, known.secret, known.rematch_of)
        return loaded if bodies is None else self._keep(loaded)

    def _keep(self, loaded: Loaded) -> Loaded:
        self.positions.keep(loaded)
        return loaded

    def _read(
        self,
        statement: LiteralString,
        game_id: str,
        idempotency: Idempotency | None,
        version: int | None = None,
    ) -> _Read:
        parameters: dict[str, Any] = {
            "game_id": game_id,
            "token_id": idempotency.token_id if idempotency else None,
            "key": idempotency.key if idempotency else None,
            "version": version,
        }
        used: list[Row] = []
        if idempotency is None:
            rows = self.database.ask(STATEMENTS[statement], parameters)
        else:
            rows, used = self.database.run_both(statement, sql.KEY_USED, parameters)
        return _Read(game_id, rows, used)

    def _record(
        self, statement: LiteralString, game_id: str, idempotency: Idempotency | None
    ) -> _Read | None:
        """What LOAD reads; None if there is no such game."""
        read = self._read(statement, game_id, idempotency)
        if not read.rows or read.rows[0][0] != 0:
            return None
        if len(read.rows) == 1:
            raise _missing(orjson.loads(read.rows[0][1])[-1])
        return read

    def events(self, game_id: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The events after the version `after`, at most `limit` of them; none for no game. Raises
        Archived."""
        last = LAST if limit is None else min(LAST, after + limit)
        if after >= LAST or last <= after:
            return []
        parameters = {"game_id": game_id, "after": after, "last": last}
        bodies, hashes, before, detached = self.database.run(sql.EVENTS, parameters)[0]
        if detached is not None:
            raise Archived
        if bodies is None:
            return []
        return from_bodies(parsed(bodies), hashes, before.hex() if before else ZERO_HASH)

    def fold_at(self, game_id: str, version: int) -> Game | None:
        """The game as it stood after the event `version`; None if there is no such event."""
        if version < 1:
            return None
        game = folded(fold, game_id, self.events(game_id, 0, version))
        return game if game.version == version else None

    def head(self, game_id: str) -> Head | None:
        """The game's newest version, without loading the game."""
        rows = self.database.run(sql.HEAD, {"game_id": game_id})
        if not rows:
            return None
        version, status, visibility, rematch, own_hash, detached = rows[0]
        if own_hash is None:
            raise _missing(detached)
        return Head(version, status, visibility, rematch, own_hash.hex())

    def append(self, append: Append) -> Appended:
        """Append events with all that is to be true at the same instant, or nothing at all.

        psycopg.Error as it comes: the caller has to find out whether it was stored. Broken if the
        newest event has no time.
        """
        try:
            with self.database.connection() as connection:
                appended = send(bounded(connection), append)
        except (InvalidDatetimeFormat, DatetimeFieldOverflow) as error:
            raise Broken("an event's row has no time") from error
        if self.on_append is not None and appended.status == APPENDED:
            self.on_append(append.game_id, append.turn_player)
        return appended

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

    def drop_deadline(self, game_id: str, kind: str, round_number: int, turn: int) -> None:
        """Remove a deadline of a turn that no longer runs."""
        parameters = {"game_id": game_id, "kind": kind, "round": round_number, "turn": turn}
        self.database.run(sql.DROP_DEADLINE, parameters)

    def drop_deadlines(self, turns: Iterable[tuple[str, int, int]]) -> None:
        """Remove the deadlines of turns `(game_id, round, turn)` that no longer run."""
        game_ids, rounds, numbers = zip(*turns, strict=True)
        parameters = {"game_ids": [*game_ids], "rounds": [*rounds], "turns": [*numbers]}
        self.database.run(sql_batches.DROP_MANY, parameters)


def _missing(detached: str | None) -> Archived | Broken:
    """Why a game has no events, by the month that is detached."""
    return Broken("a game has no record") if detached is None else Archived()


def _record(row: Row) -> Record:
    game_id, path, body_hash, first, last = row
    return Record(game_id, path, body_hash, first or 0, last or 0)


def _knows(game: Game, since: int | None) -> bool:
    """Whether the position knows the expired turns from the round `since` on."""
    return since is None or game.known_from <= max(1, since)


def decided(bodies: bytes | str) -> list[Event]:
    """The events of a JSON array of bodies. Raises Broken."""
    try:
        return [
            Event(each["version"], each["type"], each["by"], each["data"], each["at"])
            for each in orjson.loads(bodies)
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise Broken("an event's row is no event") from error


def folded(
    folding: Callable[[Start, Iterable[AnyEvent]], Game], start: Start, events: Iterable[AnyEvent]
) -> Game:
    """`folding(start, events)`, which begins at a game's id or at a position. Raises Broken:
    whatever goes wrong in it lies in the events, as it depends on nothing else."""
    try:
        return folding(start, events)
    except Exception as error:
        raise Broken("a game's record does not fold") from error
