"""Computer players: what a bot is shown, and what it answers."""

from __future__ import annotations

import random
import time
from typing import Any

from domain import bots
from domain.game import Game, view
from domain.redaction import Viewer

THINKING_SECONDS = 0.05
"""How long a bot that searches may think about a move, on however slow a machine."""

_dice = random.SystemRandom()


def choose_move(game: Game, seat: int) -> dict[str, Any]:
    """The move that the bot of this seat makes. It sees what a player on its seat would see.

    The dice are the system's, so nobody can foretell a bot's move; in the sandbox those of the
    deal, so that tests meet the same moves again.
    """
    name = game.seats[seat].bot
    if name is None:
        raise ValueError(f"seat {seat} has no bot")
    until = time.monotonic() + THINKING_SECONDS
    shown = view(game, Viewer(seat))
    listed = shown["you"]["legal_moves"]
    dice: random.Random = _dice
    if game.deal is not None and game.turn is not None:
        # Not by the version: how often the clock is moved makes no difference.
        dice = random.Random(f"{game.deal} {game.round} {game.turn.number}")
    return bots.choose(name, shown, listed, dice, lambda: time.monotonic() >= until)
