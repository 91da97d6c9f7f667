"""Rematches of matches whose end spectators are not told yet: they would tell it.

Till then such a table is nobody's to see but theirs who play there or were invited, as all players
of the old match are.
"""

from __future__ import annotations

import threading
from typing import LiteralString

from .database import Database
from .pool import Pool

MOST = 20_000
"""Games that a process knows to tell nothing, or nothing any more."""

NOT_YET: LiteralString = """EXISTS (
    SELECT FROM games o WHERE o.game_id = g.rematch_of AND o.late_until > clock_timestamp()
)"""
"""Whether the game `g` tells that another one is over, though that is not told yet."""

_HIDDEN: LiteralString = f"""
SELECT {NOT_YET} FROM games g WHERE g.game_id = %(game_id)s::uuid
"""


class Rematches:
    """Which tables are not to be shown yet. One statement for a game, until it may be shown: from
    then on it may for good."""

    def __init__(self, pool: Pool, games: int = MOST) -> None:
        self.database = Database(pool)
        self._most = games
        self._lock = threading.Lock()
        self._shown: dict[str, None] = {}

    def hidden(self, game_id: str) -> bool:
        """Whether the game follows one whose end is not told to its spectators yet."""
        if game_id in self._shown:
            return False
        rows = self.database.run(_HIDDEN, {"game_id": game_id})
        if not rows or rows[0][0]:
            return bool(rows)
        with self._lock:
            self._shown[game_id] = None
            if len(self._shown) > self._most:
                del self._shown[next(iter(self._shown))]
        return False
