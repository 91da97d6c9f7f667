"""Which battalions of an army beat the one in the arena: tables of masks.

The battalions that may answer one of a given size, those of as many units and of one more, are
numbered in the order of the moves that field them. So a set of them is a mask, a legal list is in
canonical order as it is, and the beats of an army are those that lie within its banners and powers
and are strong enough: a look-up for each banner, and for each power of which it has enough units.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import groupby

from ..masks import numbers
from ..ruleset import Move
from .units import BANNER_BITS, BANNER_SHIFTS, BATTALIONS, POWER_MASKS, Battalion

# How many units of each power an army has is added up in digits of four bits, power 1 lowest.
_DIGIT = 4
_ONES = sum(1 << _DIGIT * place for place in range(len(POWER_MASKS)))
_TOPS = 8 * _ONES
"""The highest bit of each digit, which six units do not reach by themselves."""

_BANNERS = tuple(BANNER_BITS << shift for shift in BANNER_SHIFTS)
_FIRST, _SECOND, _THIRD, _FOURTH, _FIFTH, _SIXTH = _BANNERS


class Contest:
    """The answers to a battalion of `size` units.

    `battalions` are all that may answer, `moves` the beats that field them, still without what is
    captured; `bit` is the bit of each, by its units. `banners` has for each banner, by each choice
    of its units, the answers that can be formed, and, `above` them, the digits that count the
    chosen by their power. `powers` has for some powers, by the top bits of their digits, the units
    of each and the answers that can be formed of each choice of them; `short` brings the top bits
    up of those powers of which there are enough for an answer that no banner has. `stronger` are
    the answers that beat a battalion of `size` units and that strength; no digit is among them.
    """

    __slots__ = ("above", "banners", "battalions", "bit", "moves", "powers", "short", "stronger")

    def __init__(self, size: int) -> None:
        sizes = (size, size + 1)
        self.battalions = tuple(each for each in BATTALIONS.values() if each.size in sizes)
        self.moves: tuple[Move, ...] = tuple(
            {"type": "beat", "units": list(each.names)} for each in self.battalions
        )
        self.bit = {each.units: 1 << number for number, each in enumerate(self.battalions)}
        self.above = len(self.battalions)
        self.banners = tuple(
            {
                units: _count(units) << self.above | found
                for units, found in self._within(banner).items()
            }
            for banner in _BANNERS
        )
        self.powers: dict[int, tuple[tuple[int, dict[int, int]], ...]] = {0: ()}
        for place, power in enumerate(POWER_MASKS):
            top, group = 8 << _DIGIT * place, (power, self._within(power))
            self.powers |= {tops | top: (*some, group) for tops, some in self.powers.items()}
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


@cache
def _count(units: int) -> int:
    """The digits that count `units` by their power."""
    return sum(1 << _DIGIT * (number % 9) for number in numbers(units))


contest = cache(Contest)
"""The contest for a battalion of so many units."""


def beats(army: int, arena: Battalion) -> int:
    """Every battalion of `army` that beats `arena`, by its number in the contest."""
    answers = contest(arena.size)
    # Banners share no unit, so their answers add up as well as their counts do.
    first, second, third, fourth, fifth, sixth = answers.banners
    found = (
        first[army & _FIRST]
        + second[army & _SECOND]
        + third[army & _THIRD]
        + fourth[army & _FOURTH]
        + fifth[army & _FIFTH]
        + sixth[army & _SIXTH]
    )
    enough = (found >> answers.above) + answers.short & _TOPS
    for power, within in answers.powers[enough]:
        found |= within[army & power]
    return found & answers.stronger[arena.strength]


def beaters(army: int, arena: Battalion) -> list[Battalion]:
    """Every battalion of `army` that beats `arena`, in the order of their moves."""
    battalions = contest(arena.size).battalions
    return [battalions[number] for number in numbers(beats(army, arena))]
