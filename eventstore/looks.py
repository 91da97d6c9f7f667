"""Looks that auditors take at hidden cards of running games: each is recorded, none is removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import LiteralString, NamedTuple

from .database import Database
from .ids import uuid7
from .sql import RFC3339

_ADD: LiteralString = """
INSERT INTO looks (game_id, look_id, player_id, token_id, operation, version)
VALUES (%(game_id)s::uuid, %(look_id)s::uuid, %(player_id)s::uuid, %(token_id)s::uuid,
    %(operation)s, %(version)s)
ON CONFLICT (game_id, look_id) DO NOTHING
"""

_LIST: LiteralString = f"""
SELECT look_id::text, to_char(at AT TIME ZONE 'UTC', '{RFC3339}'), player_id::text, operation,
    version
FROM looks
WHERE game_id = %(game_id)s::uuid AND (%(before)s::uuid IS NULL OR look_id < %(before)s::uuid)
ORDER BY look_id DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class Look:
    """A look: by whom, with which operation, and at which version of the game."""

    look_id: str
    at: str
    player_id: str
    operation: str
    version: int


class Page(NamedTuple):
    """Looks, newest first. `next` is the id to go on before; None if there are no more."""

    items: list[Look]
    next: str | None


class Looks:
    """The looks at all games."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def record(
        self, game_id: str, version: int, *, player_id: str, token_id: str, operation: str
    ) -> None:
        """Record that this player is about to be shown hidden cards; Unavailable if that cannot
        be done, and then nothing may be shown."""
        self.database.run(
            _ADD,
            {
                "game_id": game_id,
                "look_id": uuid7(),
                "player_id": player_id,
                "token_id": token_id,
                "operation": operation,
                "version": version,
            },
        )

    def page(self, game_id: str, *, before: str | None = None, limit: int = 50) -> Page:
        """At most `limit` looks at a game from the one after `before` on."""
        rows = self.database.run(_LIST, {"game_id": game_id, "before": before, "limit": limit + 1})
        items = [Look(*row) for row in rows[:limit]]
        return Page(items, items[-1].look_id if len(rows) > limit else None)
