"""Each game's eye: what a bot has to know of the game itself."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Protocol

from ..state import Game
from . import halleluja_eye, vallelujah_eye
from .choices import Move, View

Deal = Callable[[random.Random], Game]
"""Deals a game that may be the one that a seat sees."""


class Eye(Protocol):
    """What a bot has to know of one game."""

    TRUST: float
    """What a point of weight is worth beside a won playout."""
    PLAYED: int
    """So many moves can be played in a bot's 50 ms."""

    def rate(self, view: View, moves: list[Move]) -> list[float]:
        """How good each postable move looks to the seat of the view; higher is better."""

    def weigh(self, view: View, moves: list[Move]) -> list[float]:
        """The same as a player who looks ahead would say."""

    def dealer(self, view: View) -> Deal:
        """Deals games in which the seat sees this view, each of them equally likely."""

    def quick(self, game: Game) -> Move:
        """The best-rated move of whose turn it is, chosen fast: what playouts play."""


EYES: dict[str, Eye] = {"halleluja": halleluja_eye, "vallelujah": vallelujah_eye}
"""By the id of the ruleset."""
