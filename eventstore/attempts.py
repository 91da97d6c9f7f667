"""Refused moves, kept apart from the games' events and bounded in number, size and age."""

from __future__ import annotations

import datetime
import logging
from typing import Any, LiteralString, NamedTuple

import orjson
import psycopg

from domain.attempts import KEPT, Attempt, as_posted, binding, deadline
from domain.commands import MakeMove
from domain.refusals import TURN_EXPIRED, Refused

from .errors import StoreError
from .ids import uuid7
from .pool import Row
from .sql import RFC3339
from .store import Loaded, Store

log = logging.getLogger(__name__)

MOST = 100
"""So many attempts of one seat are kept; the oldest go."""

KEEP = datetime.timedelta(days=90)
"""For how long an attempt is kept. One that was disputed stays with the dispute."""

_ADD: LiteralString = f"""
WITH gone AS (
    DELETE FROM attempts WHERE game_id = %(game_id)s::uuid AND attempt_id IN (
        SELECT attempt_id FROM attempts WHERE game_id = %(game_id)s::uuid AND seat = %(seat)s
        ORDER BY attempt_id DESC OFFSET {MOST - 1}
    )
)
INSERT INTO attempts (game_id, attempt_id, seat, player_id, at, version, due_at, move, bound,
    code, rule, detail)
VALUES (%(game_id)s::uuid, %(attempt_id)s::uuid, %(seat)s, %(player_id)s::uuid,
    %(at)s::timestamptz, %(version)s, %(due_at)s::timestamptz, %(move)s, %(bound)s,
    %(code)s, %(rule)s, %(detail)s)
"""

_COLUMNS: LiteralString = f"""
attempt_id::text, seat, player_id::text, to_char(at AT TIME ZONE 'UTC', '{RFC3339}'), version,
    to_char(due_at AT TIME ZONE 'UTC', '{RFC3339}'), move, bound, code, rule, detail
"""

_ONE: LiteralString = f"""
SELECT {_COLUMNS} FROM attempts
WHERE game_id = %(game_id)s::uuid AND attempt_id = %(attempt_id)s::uuid
"""

_LIST: LiteralString = f"""
SELECT {_COLUMNS} FROM attempts
WHERE game_id = %(game_id)s::uuid
    AND (%(player_id)s::uuid IS NULL OR player_id = %(player_id)s::uuid)
    AND (%(before)s::uuid IS NULL OR attempt_id < %(before)s::uuid)
ORDER BY attempt_id DESC LIMIT %(limit)s
"""

_PURGE: LiteralString = """
WITH old AS (
    SELECT game_id, attempt_id FROM attempts WHERE at < clock_timestamp() - %(keep)s
    ORDER BY at LIMIT %(limit)s
)
DELETE FROM attempts a USING old WHERE a.game_id = old.game_id AND a.attempt_id = old.attempt_id
RETURNING true
"""


class Page(NamedTuple):
    """Attempts, newest first. `next` is the id to go on before; None if there are no more."""

    items: list[Attempt]
    next: str | None


class Attempts:
    """The refused moves of all games."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.database = store.database

    def keep(
        self, refused: Refused, posted: MakeMove, bound: MakeMove, loaded: Loaded, received: str
    ) -> str | None:
        """Keep the refusal of `posted`, tied as in `bound` and judged on `loaded`: its id.

        None if it is not one to be kept, or if it could not be: a move is refused all the same,
        and the log says that a refusal was lost.
        """
        game = loaded.game
        seat = game.seat_of(posted.player_id)
        if seat is None or not game.started or refused.code not in KEPT:
            return None
        attempt_id = uuid7()
        row: dict[str, Any] = {
            "game_id": game.game_id,
            "attempt_id": attempt_id,
            "seat": seat,
            "player_id": posted.player_id,
            "at": received,
            "version": game.version,
            "due_at": None,
            "move": orjson.dumps(as_posted(posted)).decode(),
            "bound": orjson.dumps(binding(bound)).decode(),
            "code": refused.code,
            "rule": refused.rule,
            "detail": str(refused.detail),
        }
        try:
            late = refused.code == TURN_EXPIRED
            events = self._store.events(game.game_id, 0, game.version) if late else []
            row["due_at"] = deadline(game, events, seat, refused.code, bound)
            self.database.once(_ADD, row)
        except (psycopg.Error, StoreError) as error:
            told = error.sqlstate if isinstance(error, psycopg.Error) else str(error)
            log.warning("A refused move of game %s could not be kept: %s.", game.game_id, told)
            return None
        return attempt_id

    def get(self, game_id: str, attempt_id: str) -> Attempt | None:
        """One attempt, or None if there is none or it is no longer kept."""
        rows = self.database.run(_ONE, {"game_id": game_id, "attempt_id": attempt_id})
        return _attempt(rows[0]) if rows else None

    def page(
        self,
        game_id: str,
        *,
        player_id: str | None = None,
        before: str | None = None,
        limit: int = 50,
    ) -> Page:
        """At most `limit` attempts at a game from the one after `before` on, of one player only
        if told."""
        rows = self.database.run(
            _LIST,
            {"game_id": game_id, "player_id": player_id, "before": before, "limit": limit + 1},
        )
        items = [_attempt(row) for row in rows[:limit]]
        return Page(items, items[-1].attempt_id if len(rows) > limit else None)

    def purge(self, limit: int) -> int:
        """Remove attempts older than KEEP, at most `limit` of them; how many went."""
        return len(self.database.run(_PURGE, {"keep": KEEP, "limit": limit}))


def _attempt(row: Row) -> Attempt:
    cells = list(row)
    cells[6:8] = (orjson.loads(cell) for cell in row[6:8])
    return Attempt(*cells)
