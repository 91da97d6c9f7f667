"""Which battalions of an army beat the one in the arena: tables of masks.

The battalions that may answer one of a given size, those of as many units and of one more, are
numbered in the order of the moves that field them. So a set of them is a mask, a legal list is in
canonical order as it is, and the beats of an army are those that lie within its banners and powers
and are strong enough: fifteen look-ups, however large the army.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import groupby

from ..masks import numbers
from .units import BANNER_BITS, BANNER_SHIFTS, BATTALIONS, POWER_MASKS, Battalion

GROUPS = (*(BANNER_BITS << shift for shift in BANNER_SHIFTS), *POWER_MASKS)
"""The units of each banner and of each power: a battalion lies within one of them."""


class Contest:
    """The answers to a battalion of `size` units.

    `battalions` are all that may answer; `bit` is the bit of each, by its units. `within` has for
    each group, and for each choice of its units, the answers that can be formed of them;
    `stronger` those that beat a battalion of `size` units and that strength.
    """

    __slots__ = ("battalions", "bit", "stronger", "within")

    def __init__(self, size: int) -> None:
        sizes = (size, size + 1)
        self.battalions = tuple(each for each in BATTALIONS.values() if each.size in sizes)
        self.bit = {each.units: 1 << number for number, each in enumerate(self.battalions)}
        self.within = tuple((group, self._within(group)) for group in GROUPS)
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


contest = cache(Contest)
"""The contest for a battalion of so many units."""


# A move is judged by what has just been listed.
@lru_cache(maxsize=1 << 10)
def beats(army: int, units: int) -> int:
    """Every battalion of `army` that beats that of `units`, by its number in the contest."""
    arena = BATTALIONS[units]
    answers = contest(arena.size)
    found = 0
    for group, within in answers.within:
        found |= within[army & group]
    return found & answers.stronger[arena.strength]


def beaters(army: int, units: int) -> list[Battalion]:
    """Every battalion of `army` that beats that of `units`, in the order of their moves."""
    battalions = contest(units.bit_count()).battalions
    return [battalions[number] for number in numbers(beats(army, units))]
