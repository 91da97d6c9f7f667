"""The 54 units: six banners, each with the powers 1 to 9; and what makes a battalion.

Inside, a unit is its number in the unshuffled order (banner by banner, 1 to 9) and a set of units
is a 54-bit mask of such numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations

BANNERS = ("crimson", "azure", "forest", "gold", "slate", "coral")
POWERS = range(1, 10)

UNITS: tuple[str, ...] = tuple(f"{banner}-{power}" for banner in BANNERS for power in POWERS)
NUMBER: dict[str, int] = {unit: number for number, unit in enumerate(UNITS)}

BANNER_BITS = 0b111111111
"""The nine units of a banner, shifted down."""
BANNER_SHIFTS: tuple[int, ...] = tuple(range(0, 54, 9))
POWER_MASKS: tuple[int, ...] = tuple(
    sum(1 << shift + power - 1 for shift in BANNER_SHIFTS) for power in POWERS
)
"""All units of a power, by power - 1."""


def mask(units: Iterable[str]) -> int:
    """The mask of the units named."""
    held = 0
    for unit in units:
        held |= 1 << NUMBER[unit]
    return held


def numbers(held: int) -> Iterator[int]:
    """The numbers in the mask `held`, ascending: the unshuffled order."""
    while held:
        lowest = held & -held
        yield lowest.bit_length() - 1
        held ^= lowest


def names(held: int) -> list[str]:
    """The units in the mask `held`, in the unshuffled order."""
    return [UNITS[number] for number in numbers(held)]


def in_byte_order(held: int) -> list[str]:
    """The units in the mask `held` as events and moves list them."""
    return sorted(names(held))


def _digits(bits: int) -> int:
    strength = 0
    for power in reversed(POWERS):
        if bits & 1 << power - 1:
            strength = strength * 10 + power
    return strength


_BANNER_STRENGTH: tuple[int, ...] = tuple(_digits(bits) for bits in range(512))


def strength(battalion: int) -> int | None:
    """The powers of `battalion`, high to low, read as one number; None if it is no battalion:
    neither of one banner nor of one power (vallelujah.battalion)."""
    if not battalion:
        return None
    lowest = (battalion & -battalion).bit_length() - 1
    shift = lowest - lowest % 9
    bits = battalion >> shift
    if bits <= BANNER_BITS:
        return _BANNER_STRENGTH[bits]
    if battalion & ~POWER_MASKS[lowest % 9]:
        return None
    return repeated(lowest % 9 + 1, battalion.bit_count())


def repeated(power: int, count: int) -> int:
    """The strength of `count` units of the same power."""
    return power * int("1" * count)


@cache
def subsets(held: int, count: int) -> tuple[int, ...]:
    """All sets of `count` of the units in the mask `held` (at most nine)."""
    bits = [1 << number for number in numbers(held)]
    return tuple(sum(chosen) for chosen in combinations(bits, count))
