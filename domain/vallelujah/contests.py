"""Which battalions of an army beat the one in the arena: tables of masks.

The battalions that may answer one of a given size, those of as many units and of one more, are
numbered in the order of the moves that field them. So a set of them is a mask, a legal list is in
canonical order as it is, and the beats of an army are those that lie within its banners and powers
and are strong enough: a look-up for each banner, and for each power of which it has enough units.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import groupby

from ..masks import numbers
from ..ruleset import Move
from .units import BANNER_BITS, BANNER_SHIFTS, BATTALIONS, POWER_MASKS, Battalion

# How many units of each power an army has is added up in digits of four bits, power 1 lowest.
_DIGIT = 4
_DIGITS = _DIGIT * len(POWER_MASKS)
_ONES = sum(1 << _DIGIT * place for place in range(len(POWER_MASKS)))
_TOPS = 8 * _ONES
"""The highest bit of each digit, which six units do not reach by themselves."""
_COUNTS = (1 << _DIGITS) - 1


class Contest:
    """The answers to a battalion of `size` units.

    `battalions` are all that may answer, `moves` the beats that field them, still without what is
    captured; `bit` is the bit of each, by its units. `banners` has for each banner its units, and
    for each choice of them the answers that can be formed, above the digits that count the chosen
    by their power. `powers` has for each power, by the top bit of its digit, its units and the
    answers that can be formed of each choice; `short` brings the top bits up of those powers of
    which there are enough for an answer that no banner has. `stronger` are the answers that beat a
    battalion of `size` units and that strength.
    """

    __slots__ = ("banners", "battalions", "bit", "moves", "powers", "short", "stronger")

    def __init__(self, size: int) -> None:
        sizes = (size, size + 1)
        self.battalions = tuple(each for each in BATTALIONS.values() if each.size in sizes)
        self.moves: tuple[Move, ...] = tuple(
            {"type": "beat", "units": list(each.names)} for each in self.battalions
        )
        self.bit = {each.units: 1 << number for number, each in enumerate(self.battalions)}
        self.banners = tuple(
            (banner, {units: found << _DIGITS | _count(units) for units, found in within.items()})
            for banner in (BANNER_BITS << shift for shift in BANNER_SHIFTS)
            for within in (self._within(banner),)
        )
        self.powers = {
            8 << _DIGIT * place: (power, self._within(power))
            for place, power in enumerate(POWER_MASKS)
        }
        self.short = (8 - max(size, 2)) * _ONES
        self.stronger = self._stronger(size)

    def _within(self, group: int) -> dict[int, int]:
        within = {0: 0}
        for unit in numbers(group):
            # Ever larger choices, each after all that it contains.
            for units in [chosen | 1 << unit for chosen in within]:
                found = self.bit.get(units, 0)
                for left_out in numbers(units):
                    found |= within[units ^ 1 << left_out]
                within[units] = found
        return within

    def _stronger(self, size: int) -> dict[int, int]:
        def strength(each: Battalion) -> int:
            return each.strength

        found = self._mask(each for each in self.battalions if each.size > size)
        stronger: dict[int, int] = {}
        equals = [each for each in self.battalions if each.size == size]
        equals.sort(key=strength, reverse=True)
        for own, same in groupby(equals, strength):
            stronger[own] = found
            found |= self._mask(same)
        return stronger

    def _mask(self, battalions: Iterable[Battalion]) -> int:
        found = 0
        for each in battalions:
            found |= self.bit[each.units]
        return found


def _count(units: int) -> int:
    """The digits that count `units` by their power."""
    return sum(1 << _DIGIT * (number % 9) for number in numbers(units))


contest = cache(Contest)
"""The contest for a battalion of so many units."""


# A move is judged by what has just been listed.
@lru_cache(maxsize=1 << 10)
def beats(army: int, units: int) -> int:
    """Every battalion of `army` that beats that of `units`, by its number in the contest."""
    arena = BATTALIONS[units]
    answers = contest(arena.size)
    # Banners share no unit, so their answers add up as well as their counts do.
    found = 0
    for banner, within in answers.banners:
        found += within[army & banner]
    enough = (found & _COUNTS) + answers.short & _TOPS
    found >>= _DIGITS
    while enough:
        top = enough & -enough
        power, within = answers.powers[top]
        found |= within[army & power]
        enough ^= top
    return found & answers.stronger[arena.strength]


def beaters(army: int, units: int) -> list[Battalion]:
    """Every battalion of `army` that beats that of `units`, in the order of their moves."""
    battalions = contest(units.bit_count()).battalions
    return [battalions[number] for number in numbers(beats(army, units))]
