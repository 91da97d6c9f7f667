"""Games as spectators see them where the host has set a delay: as they stood so long ago.

How long ago something happened is told by the database's clock, by which it was recorded. The lobby
and the start are never late. What a process has shown it does not take back, whatever becomes of
that clock.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from domain.game import follow, new_game

from . import sql_watching as sql
from .database import Database
from .errors import Archived, Broken
from .pool import Pool, Row
from .positions import Loaded, Positions
from .recorded import HASH_BYTES
from .store import decided, folded

log = logging.getLogger(__name__)

EARLIER_GAMES = 1000
"""Earlier positions that one process keeps."""


class Past(NamedTuple):
    """How a game stood, without its secret, and when its last event of then happened."""

    loaded: Loaded
    at: str


class Earlier:
    """Earlier positions of the games of one database. Raises Unavailable when that is away for a
    while, and Broken."""

    def __init__(self, pool: Pool, games: int = EARLIER_GAMES) -> None:
        self.database = Database(pool)
        self.positions = Positions(games)

    def of(self, live: Loaded) -> Loaded:
        """The game of `live`, which has begun, as it stood `late_seconds` ago; its `now` is so
        long ago too."""
        past = self.of_all([live.game.game_id], patient=False).get(live.game.game_id)
        if past is None:
            raise Broken("a game has no record")
        return replace(past.loaded, secret=live.secret, rematch_of=live.rematch_of)

    def of_all(self, game_ids: Collection[str], *, patient: bool = True) -> dict[str, Past]:
        """The same of several games; those whose events are not there are missing, but Archived is
        raised for whoever is not `patient`. One statement."""
        known = {game_id: self.positions.get(game_id) for game_id in game_ids}
        found = dict(self._read(known, patient))
        lost = [game_id for game_id, past in found.items() if past is None]
        if lost:
            # What was known is no part of the record that the database has.
            found |= self._read(dict.fromkeys(lost), patient)
        return {game_id: past for game_id, past in found.items() if past is not None}

    def _read(
        self, known: Mapping[str, Loaded | None], patient: bool
    ) -> Iterator[tuple[str, Past | None]]:
        if not known:
            return
        versions = [0 if each is None else each.game.version for each in known.values()]
        parameters = {"games": list(known), "versions": versions}
        for game_id, *row, detached in self.database.run(sql.EARLIER, parameters):
            if detached is not None:
                if not patient:
                    raise Archived
                continue
            before, own_hash = known[game_id], row[-2]
            if before is not None and (own_hash is None or own_hash.hex() != before.head_hash):
                self.positions.forget(before)
                yield game_id, None
            elif before is not None or row[3] is not None:
                past = self._past(game_id, tuple(row), before)
                if past is not None:
                    yield game_id, past

    def _past(self, game_id: str, row: Row, before: Loaded | None) -> Past | None:
        """None for a game whose record is broken: an audit says what is wrong."""
        try:
            return self._folded(game_id, row, before)
        except Broken as error:
            log.error("A match cannot be shown: %s.", error, extra={"game_id": game_id})
            return None

    def _folded(self, game_id: str, row: Row, before: Loaded | None) -> Past:
        seconds, now, rematch, bodies, hashes, _, at = row
        game = new_game(game_id) if before is None else before.game
        head_hash = "" if before is None else before.head_hash
        if bodies is not None:
            events = decided(bodies)
            game = folded(follow, game.copy(), events)
            head_hash, at = hashes[-HASH_BYTES:].hex(), events[-1].at
        then = game.clock(now)
        loaded = Loaded(game, b"", head_hash, None, then, rematch, late_seconds=seconds)
        self.positions.keep(loaded)
        return Past(loaded, at)
