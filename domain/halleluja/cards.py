"""The 32 cards: figures A to H, each with four symbols.

Inside, a card is its number in the unshuffled order (symbol by symbol, A to H) and a hand is a
32-bit mask of such numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

FIGURES = "ABCDEFGH"
SYMBOLS = ("apple", "clover", "rose", "strawberry")

CARDS: tuple[str, ...] = tuple(f"{figure}-{symbol}" for symbol in SYMBOLS for figure in FIGURES)
NUMBER: dict[str, int] = {card: number for number, card in enumerate(CARDS)}

ANNOYED, MITRE, SITTING = (FIGURES.index(figure) for figure in "EGH")
"""The figures that do something: E, G and H."""

FIGURE_MASKS: tuple[int, ...] = tuple(
    sum(1 << symbol * 8 + figure for symbol in range(4)) for figure in range(8)
)
SYMBOL_MASKS: tuple[int, ...] = tuple(0xFF << symbol * 8 for symbol in range(4))

BYTE_ORDER: tuple[int, ...] = tuple(sorted(range(32), key=CARDS.__getitem__))
"""Card numbers in the byte order of their names."""


def figure(card: int) -> int:
    """The index of the card's figure in `FIGURES`."""
    return card & 7


def symbol(card: int) -> int:
    """The index of the card's symbol in `SYMBOLS`."""
    return card >> 3


def mask(cards: Iterable[str]) -> int:
    """The mask of the cards named."""
    held = 0
    for card in cards:
        held |= 1 << NUMBER[card]
    return held


def numbers(held: int) -> Iterator[int]:
    """The numbers in the mask `held`, ascending: the unshuffled order."""
    while held:
        lowest = held & -held
        yield lowest.bit_length() - 1
        held ^= lowest


def names(held: int) -> list[str]:
    """The names of the cards in the mask `held`, in the unshuffled order."""
    return [CARDS[number] for number in numbers(held)]
