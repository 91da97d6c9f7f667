"""Tickets that open the stream of one game, for clients that can send no header. Stored hashed."""

from __future__ import annotations

from . import sql_watching as sql
from .database import Database
from .pool import Pool

MOST = 16
"""Tickets that one token has for one game at a time; a new one ends the oldest."""


class Tickets:
    """Each method is one statement. Raises Unavailable as the store does."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def add(self, game_id: str, token_id: str, ticket_hash: bytes, seconds: float) -> None:
        """A ticket to the game for whoever the token stands for, for `seconds`."""
        self._database.run(
            sql.ADD_TICKET,
            {
                "game_id": game_id,
                "token_id": token_id,
                "ticket_hash": ticket_hash,
                "seconds": seconds,
                "others": MOST - 1,
            },
        )

    def token(self, game_id: str, ticket_hash: bytes) -> str | None:
        """The id of the token that the ticket stands for; None if it opens nothing."""
        parameters = {"game_id": game_id, "ticket_hash": ticket_hash}
        rows = self._database.run(sql.TICKET, parameters)
        return str(rows[0][0]) if rows else None
