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
    BANNER_SHIFTS,
    BANNERS,
    BATTALIONS,
    NAMES,
    NUMBER,
    POWER_MASKS,
    POWERS,
    UNITS,
    mask,
)
from . import worlds
from .choices import Move, View

TRUST = 4.0
PLAYED = 700

Worth = Callable[[int], float]
"""How good it is to hold an army, which is not empty."""

_BIT = {unit: 1 << number for unit, number in NUMBER.items()}
_GROUPS = (*POWER_MASKS, *(BANNER_BITS << shift for shift in BANNER_SHIFTS))
"""The units of each power, then of each banner: a battalion lies within one of them."""
_ABOVE = 8 * len(_GROUPS)
_SIZES = (1 << _ABOVE) - 1
_WINS = 1000.0
_PER_FIELDED = 0.5


def _sums_of(banner: int, bits: int) -> int:
    """Of some units of a banner: a byte for how many are in each of the groups, and above these
    the sum of their powers. Those of several banners can be added."""
    sums = bits.bit_count() << 8 * (len(POWERS) + banner)
    for place in numbers(bits):
        sums += (1 << 8 * place) + (place + 1 << _ABOVE)
    return sums


_SUMS = tuple(
    [_sums_of(banner, bits) for bits in range(BANNER_BITS + 1)] for banner in range(len(BANNERS))
)
"""By banner, and by which of its units there are."""


def rate(view: View, moves: list[Move]) -> list[float]:
    """A win, else many units fielded and an army left that is small, hangs together and is strong
    for its size."""
    return _ratings(view, moves, _at_a_glance, _PER_FIELDED)


def weigh(view: View, moves: list[Move]) -> list[float]:
    """A win, else an army left that few battalions, and strong ones, would field."""
    return _ratings(view, moves, _by_battalions, 0.0)


def quick(game: Game) -> Move:
    """The best-rated move of whose turn it is."""
    assert game.turn is not None
    army, arena = game.play.armies[game.turn.seat], game.play.arena
    if not arena:
        if army.bit_count() == 1 or may_lead_all(game, army):
            return {"type": "lead", "units": list(BATTALIONS[army].names)}
        left = max([army ^ 1 << number for number in numbers(army)], key=_at_a_glance)
        return {"type": "lead", "units": [_name(army ^ left)]}
    taken = [1 << number for number in numbers(arena)]
    found = beaters(army, BATTALIONS[arena])
    if not found:
        captured = max(taken, key=lambda unit: _at_a_glance(army | unit))
        return {"type": "take", "take": _name(captured)}
    highest, move = -_WINS, None
    for battalion in found:
        left = army ^ battalion.units
        if not left:
            return {"type": "beat", "units": list(battalion.names)}
        for unit in taken:
            rating = _at_a_glance(left | unit) + _PER_FIELDED * battalion.size
            if rating > highest:
                highest, move = rating, (battalion, unit)
    assert move is not None
    battalion, unit = move
    beat: Move = {"type": "beat", "units": list(battalion.names)}
    return beat if len(taken) == 1 else {**beat, "take": _name(unit)}


def _name(unit: int) -> str:
    return NAMES[unit.bit_length() - 1]


def _ratings(view: View, moves: list[Move], worth: Worth, per_fielded: float) -> list[float]:
    army = mask(view["you"]["hand"])
    arena = mask(view["table"].get("arena", {}).get("units", ()))
    ratings = []
    for move in moves:
        units = move.get("units", ())
        left = army ^ mask(units)
        take = move.get("take")
        # That a single unit is taken need not be said.
        taken = arena if take is None else _BIT[take]
        ratings.append(worth(left | taken) + per_fielded * len(units) if left else _WINS)
    return ratings


@lru_cache(maxsize=1 << 16)
def _at_a_glance(army: int) -> float:
    """Few units, many of them in one group, strong ones."""
    sums, count = _sums(army), army.bit_count()
    most = max((sums & _SIZES).to_bytes(len(_GROUPS)))
    return 1.5 * most - 3.0 * count + 0.2 * (sums >> _ABOVE) / count


def _by_battalions(army: int) -> float:
    """Few battalions, of strong units."""
    return 0.3 * (_sums(army) >> _ABOVE) / army.bit_count() - _battalions(army)


@lru_cache(maxsize=1 << 16)
def _battalions(army: int) -> int:
    """In how many battalions the army could be fielded, the largest first."""
    sizes = (_sums(army) & _SIZES).to_bytes(len(_GROUPS), "little")
    left = army & ~_GROUPS[sizes.index(max(sizes))]
    return 1 + _battalions(left) if left else 1


def _sums(army: int) -> int:
    first, second, third, fourth, fifth, sixth = _SUMS
    return (
        first[army & BANNER_BITS]
        + second[army >> 9 & BANNER_BITS]
        + third[army >> 18 & BANNER_BITS]
        + fourth[army >> 27 & BANNER_BITS]
        + fifth[army >> 36 & BANNER_BITS]
        + sixth[army >> 45]
    )


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
