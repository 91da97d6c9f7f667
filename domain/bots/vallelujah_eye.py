"""An eye for Vallelujah."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache

from ..masks import numbers
from ..state import Game
from ..vallelujah.contests import beaters
from ..vallelujah.moves import may_lead_all
from ..vallelujah.units import (
    BANNER_BITS,
    BANNERS,
    BATTALIONS,
    NAMES,
    NUMBER,
    POWERS,
    UNITS,
    mask,
)
from . import worlds
from .choices import Move, View

TRUST = 2.0
PLAYED = 1200

_BIT = {unit: 1 << number for unit, number in NUMBER.items()}
_GROUPS = len(POWERS) + len(BANNERS)
_SIZES = (1 << 8 * _GROUPS) - 1
_WINS = 1000.0
_PER_FIELDED = 0.5


def _sums_of(banner: int, bits: int) -> int:
    """Of some units of a banner: a byte for how many are of each power and each banner, and above
    these the sum of their powers. Those of several banners can be added."""
    sums = bits.bit_count() << 8 * (len(POWERS) + banner)
    for place in numbers(bits):
        sums += (1 << 8 * place) + (place + 1 << 8 * _GROUPS)
    return sums


_SUMS = tuple(
    [_sums_of(banner, bits) for bits in range(BANNER_BITS + 1)] for banner in range(len(BANNERS))
)
"""By banner, and by which of its units there are."""


def rate(view: View, moves: list[Move]) -> list[float]:
    """A win, else many units fielded and an army left that is small, hangs together and is strong
    for its size."""
    army = mask(view["you"]["hand"])
    arena = mask(view["table"].get("arena", {}).get("units", ()))
    return [_rating(move, army, arena) for move in moves]


def quick(game: Game) -> Move:
    """The best-rated move of whose turn it is."""
    assert game.turn is not None
    army, arena = game.play.armies[game.turn.seat], game.play.arena
    if not arena:
        if army.bit_count() == 1 or may_lead_all(game, army):
            return {"type": "lead", "units": list(BATTALIONS[army].names)}
        left = max([army ^ 1 << number for number in numbers(army)], key=_worth)
        return {"type": "lead", "units": [_name(army ^ left)]}
    found = beaters(army, arena)
    taken = [1 << number for number in numbers(arena)]
    if not found:
        return {"type": "take", "take": _name(max(taken, key=lambda unit: _worth(army | unit)))}
    best, captured, highest = found[0], 0, -_WINS
    for battalion in found:
        left = army ^ battalion.units
        if not left:
            return {"type": "beat", "units": list(battalion.names)}
        for unit in taken:
            rating = _worth(left | unit) + _PER_FIELDED * battalion.size
            if rating > highest:
                best, captured, highest = battalion, unit, rating
    move: Move = {"type": "beat", "units": list(best.names)}
    if len(taken) > 1:
        move["take"] = _name(captured)
    return move


def _name(unit: int) -> str:
    return NAMES[unit.bit_length() - 1]


def _rating(move: Move, army: int, arena: int) -> float:
    fielded = 0
    units = move.get("units", ())
    for unit in units:
        fielded |= _BIT[unit]
    if fielded == army:
        return _WINS
    take = move.get("take")
    # That a single unit is taken need not be said.
    taken = arena if take is None else _BIT[take]
    return _worth(army ^ fielded | taken) + _PER_FIELDED * len(units)


@lru_cache(maxsize=1 << 16)
def _worth(army: int) -> float:
    """How good it is to hold `army`, which is not empty."""
    first, second, third, fourth, fifth, sixth = _SUMS
    sums = (
        first[army & BANNER_BITS]
        + second[army >> 9 & BANNER_BITS]
        + third[army >> 18 & BANNER_BITS]
        + fourth[army >> 27 & BANNER_BITS]
        + fifth[army >> 36 & BANNER_BITS]
        + sixth[army >> 45]
    )
    count = army.bit_count()
    most = max((sums & _SIZES).to_bytes(_GROUPS))
    return 1.5 * most - 3.0 * count + 0.2 * (sums >> 8 * _GROUPS) / count


def dealer(view: View) -> Callable[[random.Random], Game]:
    """The units that the seat has not seen are dealt to the others, the rest are out of play."""
    me, own = view["you"]["seat"], view["you"]["hand"]
    arena, discarded = view["table"].get("arena"), view["table"]["discarded"]
    fielded = arena["units"] if arena else []
    seen = {*own, *fielded, *discarded}
    unseen = [unit for unit in UNITS if unit not in seen]
    others = worlds.others(view)
    table = worlds.started(view)
    dealing, turn = worlds.dealing(view), worlds.turn(view)

    def deal(rng: random.Random) -> Game:
        units = rng.sample(unseen, len(unseen))
        hands = {me: own}
        for seat, size in others:
            hands[seat] = [units.pop() for _ in range(size)]
        game = table.copy()
        if not arena:
            _dealt(game, hands, units)
            # Whoever took left an empty arena; what it took is in its hand.
            taken = {"seat": me, "captured": own[0], "discarded": discarded, "turn": turn}
            worlds.happen(game, "arena.taken", taken)
            return game
        seat = arena["seat"]
        _dealt(game, {**hands, seat: [*hands.get(seat, ()), *fielded]}, units)
        beaten = {
            "seat": seat,
            "units": fielded,
            "strength": arena["strength"],
            "discarded": discarded,
            "turn": turn,
        }
        worlds.happen(game, "battalion.beaten", beaten)
        return game

    def _dealt(game: Game, hands: dict[int, list[str]], undealt: list[str]) -> None:
        held = {str(seat): hand for seat, hand in hands.items()}
        worlds.happen(game, "round.dealt", {**dealing, "hands": held, "undealt": undealt})

    return deal
