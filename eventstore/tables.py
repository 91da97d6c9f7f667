"""How many tables a player has: what is counted before one more is taken."""

from __future__ import annotations

from typing import LiteralString, NamedTuple

from .database import Database
from .pool import Pool

_HELD: LiteralString = """
SELECT count(*) FILTER (WHERE g.status = 'lobby' AND g.host_seat = s.seat), count(*),
    EXISTS (SELECT true FROM creations c
        WHERE c.token_id = %(token_id)s::uuid AND c.key = %(key)s
        UNION ALL SELECT true FROM idempotency i
        WHERE i.token_id = %(token_id)s::uuid AND i.key = %(key)s)
FROM seats s JOIN games g ON g.game_id = s.game_id
WHERE s.player_id = %(player_id)s::uuid AND s.live
    AND g.game_id IS DISTINCT FROM %(game_id)s::uuid
    AND coalesce(g.rematch_of <> %(game_id)s::uuid, true)
"""


class Held(NamedTuple):
    """What a player has now."""

    lobbies: int
    """Tables in the lobby with the player as host."""
    games: int
    """Tables and running games in which the player has a seat."""
    answered: bool
    """Whether something was done under this idempotency key before."""


class Tables:
    """Counts, apart from the games' own transactions."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def held(
        self,
        player_id: str,
        *,
        beside: str | None = None,
        token_id: str | None = None,
        key: str | None = None,
    ) -> Held:
        """What a player has `beside` this game and its rematch. `token_id`, `key`: under which
        the request may have been answered already."""
        parameters = {"player_id": player_id, "game_id": beside, "token_id": token_id, "key": key}
        return Held(*self._database.run(_HELD, parameters)[0])
