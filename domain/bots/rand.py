"""The bot `random`: any legal move, each listed one equally likely."""

from __future__ import annotations

import random

from .choices import Entry, Late, Move, View, complete


def choose(view: View, listed: list[Entry], rng: random.Random, late: Late | None = None) -> Move:
    """A random legal move with a random choice where it has one."""
    entry = rng.choice(listed)
    wish = rng.choice([None, *entry["wish_from"]]) if "wish_from" in entry else None
    take = rng.choice(entry["take_from"]) if "take_from" in entry else None
    return complete(entry, wish=wish, take=take)
