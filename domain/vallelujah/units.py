"""The 54 units: six banners, each with the powers 1 to 9; and the battalions they can form.

Inside, a unit is its number in the byte order of the names, banner by banner, and a set of units
is a 54-bit mask of such numbers.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

from ..masks import mask_of, numbers

BANNERS = ("crimson", "azure", "forest", "gold", "slate", "coral")
POWERS = range(1, 10)

UNITS: tuple[str, ...] = tuple(f"{banner}-{power}" for banner in BANNERS for power in POWERS)
"""The whole set in its unshuffled order: banner by banner, 1 to 9."""

NAMES: tuple[str, ...] = tuple(sorted(UNITS))
NUMBER: dict[str, int] = {unit: number for number, unit in enumerate(NAMES)}
BIT: dict[str, int] = {unit: 1 << number for unit, number in NUMBER.items()}

BANNER_SHIFTS: tuple[int, ...] = tuple(range(0, 54, 9))
BANNER_BITS = 0b111111111
"""The nine units of a banner, shifted down."""
POWER_MASKS: tuple[int, ...] = tuple(
    sum(1 << shift + power - 1 for shift in BANNER_SHIFTS) for power in POWERS
)
"""All units of a power, by power - 1."""


def in_byte_order(held: int) -> list[str]:
    """The units in the mask `held` as events and moves list them."""
    names = []
    while held:
        lowest = held & -held
        names.append(NAMES[lowest.bit_length() - 1])
        held ^= lowest
    return names


def names(held: int) -> list[str]:
    """The units in the mask `held`, in the unshuffled order."""
    return [unit for unit in UNITS if held >> NUMBER[unit] & 1]


@dataclass(frozen=True, slots=True, eq=False)
class Battalion:
    """Units of one banner or of one power (vallelujah.battalion): the mask, and the names in byte
    order. `strength` is the powers, high to low, read as one number."""

    units: int
    size: int
    strength: int
    names: tuple[str, ...]


def _all_battalions() -> dict[int, Battalion]:
    masks = {bits << shift for shift in BANNER_SHIFTS for bits in range(1, 512)}
    for same_power in POWER_MASKS:
        bits = [1 << number for number in numbers(same_power)]
        masks |= {sum(some) for count in range(2, 7) for some in combinations(bits, count)}
    # A list that goes on sorts before one that ends there: a comma before the closing bracket.
    in_order = sorted(masks, key=lambda units: [*numbers(units), len(NAMES)])
    return {units: _battalion(units) for units in in_order}


def _battalion(units: int) -> Battalion:
    powers = sorted((number % 9 + 1 for number in numbers(units)), reverse=True)
    strength = int("".join(map(str, powers)))
    return Battalion(units, len(powers), strength, tuple(in_byte_order(units)))


BATTALIONS: dict[int, Battalion] = _all_battalions()
"""Every battalion there is, by its mask, in the order of the JCS bytes of moves that field it."""

BY_NAMES: dict[tuple[str, ...], Battalion] = {each.names: each for each in BATTALIONS.values()}
"""The same by the names of the units in byte order, as events and listed moves have them."""


def battalion_of(units: Collection[str]) -> Battalion | None:
    """The battalion that the units named form, in whatever order; None if they form none."""
    # They mostly are in the battalion's order, which takes one look-up.
    return BY_NAMES.get(tuple(units)) or BATTALIONS.get(mask_of(units, BIT))


def mask(units: Collection[str]) -> int:
    """The mask of the units named."""
    # They mostly are a battalion in its order, which takes one look-up.
    known = BY_NAMES.get(tuple(units))
    return mask_of(units, BIT) if known is None else known.units
