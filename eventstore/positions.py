"""Positions as they were last seen, kept by the process: a bounded number, the least used go first.

Nothing here is ever taken for the newest without asking: an append names the version and the hash
that it was decided on, and a read fetches what came after them. So a position that somebody else
has gone on from, or that a restored database never had, costs a second look and no more.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import NamedTuple

from domain.game import Game

CACHED_GAMES = 4000
"""Positions that one process keeps: about 5 KB each."""


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


# Not frozen only because that takes longer to make, and each move makes one.
@dataclass(slots=True)
class Loaded:
    """A game, and what was true at the same instant of the database. It is shared and so never
    changed: whoever wants to go on from `game` copies it."""

    game: Game
    secret: bytes = field(repr=False)
    head_hash: str
    rematch_of: str | None = None
    """The game whose players have their seats kept in this one."""
    now: str = ""
    """The game's clock, which is the database's but in a sandbox; "" for a position that was not
    asked for just now, and so need not be the newest."""
    rematch: str | None = None
    """The game that its players play next, once it is open."""
    record: Record | None = None
    """What was answered to the idempotency key that was asked about, in this game."""
    elsewhere: Record | None = None
    """The same for any other game."""
    late_seconds: int = 0
    """How long ago the game stood so: for spectators where the host has set a delay. `now` is so
    long ago as well."""


class Positions:
    """The newest position that this process has seen of each of at most `games` games."""

    def __init__(self, games: int = CACHED_GAMES) -> None:
        self._most = games
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Loaded] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, game_id: str) -> Loaded | None:
        """The position that was kept last; its `now` is empty."""
        with self._lock:
            known = self._known.get(game_id)
            if known is not None:
                self._known.move_to_end(game_id)
            return known

    def keep(self, loaded: Loaded) -> None:
        """Remember a position, unless a later one is known."""
        game = loaded.game
        if loaded.now:
            loaded = Loaded(game, loaded.secret, loaded.head_hash, loaded.rematch_of)
        game_id, known = game.game_id, self._known
        with self._lock:
            before = known.get(game_id)
            if before is not None and not _adds(game, before.game):
                return
            known[game_id] = loaded
            known.move_to_end(game_id)
            if len(known) > self._most:
                known.popitem(last=False)

    def forget(self, known: Loaded) -> None:
        """Drop a position that the database does not have, if it is still the one that is kept."""
        game_id = known.game.game_id
        with self._lock:
            kept = self._known.get(game_id)
            if kept is not None and kept.head_hash == known.head_hash:
                del self._known[game_id]


def _adds(game: Game, known: Game) -> bool:
    """Whether `game` says more than `known`: later, or of earlier rounds too."""
    if game.version == known.version:
        return game.known_from < known.known_from
    return game.version > known.version
