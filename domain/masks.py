"""Sets of cards as bits of an integer: card number n is the bit 1 << n."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping


def mask_of(cards: Iterable[str], number: Mapping[str, int]) -> int:
    """The mask of `cards`, whose numbers are in `number`; KeyError for one that is not."""
    held = 0
    for card in cards:
        held |= 1 << number[card]
    return held


def numbers(held: int) -> Iterator[int]:
    """The numbers in the mask `held`, ascending."""
    while held:
        lowest = held & -held
        yield lowest.bit_length() - 1
        held ^= lowest
