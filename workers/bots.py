"""Computer players: what a bot is shown, and what it answers."""

from __future__ import annotations

import random
from typing import Any

from domain import bots
from domain.game import Game, listed_moves, view
from domain.redaction import Viewer

_dice = random.SystemRandom()


def choose_move(game: Game, seat: int) -> dict[str, Any]:
    """The move that the bot of this seat makes. It sees what a player on its seat would see.

    The dice are the system's, so nobody can foretell a bot's move.
    """
    name = game.seats[seat].bot
    if name is None:
        raise ValueError(f"seat {seat} has no bot")
    return bots.choose(name, view(game, Viewer(seat)), listed_moves(game, seat), _dice)
