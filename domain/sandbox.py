"""Sandbox games: dealt by name, on a clock that their host moves. Nothing of them is real.

The secret of such a game follows from the deal's name, so the same name deals the same cards, and
whoever knows the name can know them all.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from .commands import AdvanceClock, Context
from .play import by_player
from .refusals import FORBIDDEN, GAME_NOT_ACTIVE, Refused, invalid
from .state import Game
from .unfolding import Unfolding

MOST_AHEAD_MS = 366 * 24 * 3600 * 1000
"""So far a game's clock can be ahead, in all: 366 days."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


def is_deal(name: str) -> bool:
    """Whether `name` can name a deal: 1 to 64 of a to z, 0 to 9 and `-` within."""
    return _NAME.fullmatch(name) is not None


def secret_of(deal: str) -> bytes:
    """The secret of every game with this deal: SHA-256 of `abbot sandbox deal ` and the name."""
    return hashlib.sha256(b"abbot sandbox deal " + deal.encode()).digest()


def advance_clock(game: Game, command: AdvanceClock, context: Context) -> Unfolding:
    """The host moves the clock of a sandbox game forward; what comes due by that is another
    decision, made on the new time."""
    seat = game.seat_of(command.player_id)
    if game.deal is None or seat is None or seat != game.host:
        raise Refused(FORBIDDEN, "Only the host of a sandbox game moves its clock.")
    if game.turn is None:
        raise Refused(GAME_NOT_ACTIVE, "The match is not being played.")
    until = command.until_ms
    if not game.ahead_ms < command.ahead_ms <= until <= MOST_AHEAD_MS:
        days = MOST_AHEAD_MS // (24 * 3600 * 1000)
        raise invalid("advance_seconds", "The clock goes {days} days ahead at most.", days=days)
    unfolding = Unfolding(game, context, by_player(game, seat))
    data: dict[str, Any] = {"ahead_ms": command.ahead_ms, "until_ms": until}
    unfolding.record("clock.advanced", data)
    return unfolding
