"""The bot `greedy`: empties its hand as fast as the next move lets it.

Each ruleset has its own eye for what a good move is; ties are broken at random, so that two
greedy seats do not play the same cycle for ever.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from .choices import Move, complete

View = dict[str, Any]
Entry = dict[str, Any]


def choose(view: View, listed: list[Entry], rng: random.Random) -> Move:
    """The best-looking legal move of the seat's own view."""
    return _CHOOSERS[view["ruleset"]](view, listed, rng)


def _halleluja(view: View, listed: list[Entry], rng: random.Random) -> Move:
    """Play rather than keep or draw; harm the next seat; save a G for a bad hand."""
    plays = [entry for entry in listed if entry["move"]["type"] == "play"]
    if not plays:
        return complete(listed[0])
    hand = view["you"]["hand"]
    symbols = Counter(card.split("-")[1] for card in hand)
    figures = Counter(card[0] for card in hand)
    worth = {"E": 3.0, "H": 3.0, "G": -1.0}

    def score(entry: Entry) -> float:
        card = entry["move"]["card"]
        figure, symbol = card[0], card.split("-")[1]
        follow_ups = symbols[symbol] - 1 + 0.5 * (figures[figure] - 1)
        return worth.get(figure, 0.0) + follow_ups + rng.random() * 0.01

    best = max(plays, key=score)
    wish = None
    if "wish_from" in best:
        left = Counter(card.split("-")[1] for card in hand if card != best["move"]["card"])
        wish = max(best["wish_from"], key=lambda symbol: (left[symbol], rng.random()))
    return complete(best, wish=wish)


def _power(unit: str) -> int:
    return int(unit.rsplit("-", 1)[1])


def _vallelujah(view: View, listed: list[Entry], rng: random.Random) -> Move:
    """Win if it can; else field many units, keep a hand that holds together, capture what fits."""
    army = set(view["you"]["hand"])
    best: tuple[float, Move] | None = None
    for entry in listed:
        units = set(entry["move"].get("units", ()))
        arena = view["table"].get("arena", {}).get("units", [])
        takes = entry.get("take_from") or [None]
        for take in takes:
            gained = take or entry["move"].get("take")
            if gained is None and entry["move"]["type"] == "beat" and units != army:
                gained = arena[0]
            left = (army - units) | ({gained} if gained else set())
            value = _vallelujah_worth(left, units) + rng.random() * 0.01
            if best is None or value > best[0]:
                best = (value, complete(entry, take=take))
    assert best is not None
    return best[1]


def _vallelujah_worth(left: set[str], fielded: set[str]) -> float:
    """How good the army `left` looks: few units, in few groups, and hard to beat ones."""
    if not left:
        return 1000.0
    banners = Counter(unit.rsplit("-", 1)[0] for unit in left)
    powers = Counter(_power(unit) for unit in left)
    biggest = max(*banners.values(), *powers.values())
    strong = sum(_power(unit) for unit in left) / len(left)
    return -3.0 * len(left) + 1.5 * biggest + 0.2 * strong + 0.5 * len(fielded)


_CHOOSERS: dict[str, Callable[[View, list[Entry], random.Random], Move]] = {
    "halleluja": _halleluja,
    "vallelujah": _vallelujah,
}
