"""Computer players: what a bot is shown, and what it answers."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from typing import Any

from domain import bots
from domain.game import Game, view
from domain.redaction import Viewer

THINKING_SECONDS = 0.05
"""How long a bot that searches may think about a move, on however slow a machine."""
SANDBOX_TRIES = 8
"""How many moves such a bot plays out in the sandbox, where one call can have it think a hundred
times. A count, no time: so it plays the same again."""

_dice = random.SystemRandom()


def choose_move(game: Game, seat: int) -> dict[str, Any]:
    """The move that the bot of this seat makes. It sees what a player on its seat would see.

    The dice are the system's, so nobody can foretell a bot's move; in the sandbox those of the
    deal, so that tests meet the same moves again.
    """
    name = game.seats[seat].bot
    if name is None:
        raise ValueError(f"seat {seat} has no bot")
    shown = view(game, Viewer(seat))
    listed = shown["you"]["legal_moves"]
    if game.deal is not None and game.turn is not None:
        # Not by the version: how often the clock is moved makes no difference.
        dice = random.Random(f"{game.deal} {game.round} {game.turn.number}")
        return bots.choose(name, shown, listed, dice, _after(SANDBOX_TRIES))
    until = time.monotonic() + THINKING_SECONDS
    return bots.choose(name, shown, listed, _dice, lambda: time.monotonic() >= until)


def _after(tries: int) -> Callable[[], bool]:
    """Says that it is late once it was asked so often."""
    asked = itertools.count()
    return lambda: next(asked) >= tries
