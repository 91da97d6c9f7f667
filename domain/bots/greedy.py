"""The bot `greedy`: makes the move that looks best at once.

Of moves that look equally good it picks one at random, so that two greedy seats do not play the
same cycle for ever.
"""

from __future__ import annotations

import random

from .choices import Entry, Late, Move, View, every
from .eyes import EYES


def choose(view: View, listed: list[Entry], rng: random.Random, late: Late | None = None) -> Move:
    """The best-rated legal move."""
    moves = every(listed)
    ratings = EYES[view["ruleset"]].rate(view, moves)
    best = max(ratings)
    return rng.choice([move for move, rating in zip(moves, ratings, strict=True) if rating == best])
