"""Sets of cards as bits of an integer: card number n is the bit 1 << n."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def mask_of(cards: Iterable[str], bits: Mapping[str, int]) -> int:
    """The mask of `cards`, each of which has its bit in `bits`; KeyError for one that has none."""
    held = 0
    for card in cards:
        held |= bits[card]
    return held


def nth(held: int, place: int) -> int:
    """The number at `place`, from 0, of those in the mask `held`, ascending."""
    below = 0
    # Far up, half of the mask is left out at a time; the last few numbers are counted off.
    while place > 8:
        half = held.bit_length() // 2
        lower = held & (1 << half) - 1
        count = lower.bit_count()
        if place < count:
            held = lower
        else:
            place -= count
            held >>= half
            below += half
    while place:
        held &= held - 1
        place -= 1
    return below + (held ^ held - 1).bit_length() - 1


def numbers(held: int) -> list[int]:
    """The numbers in the mask `held`, ascending."""
    found = []
    while held:
        higher = held & held - 1
        found.append((held ^ higher).bit_length() - 1)
        held = higher
    return found
