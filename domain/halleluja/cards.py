"""The 32 cards: figures A to H, each with four symbols.

Inside, a card is its number in the byte order of the names (figure by figure, each with its four
symbols), and a hand is a 32-bit mask of such numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from ..masks import mask_of

FIGURES = "ABCDEFGH"
SYMBOLS = ("apple", "clover", "rose", "strawberry")

CARDS: tuple[str, ...] = tuple(f"{figure}-{symbol}" for symbol in SYMBOLS for figure in FIGURES)
"""The whole set in its unshuffled order: symbol by symbol, A to H."""

NAMES: tuple[str, ...] = tuple(sorted(CARDS))
NUMBER: dict[str, int] = {card: number for number, card in enumerate(NAMES)}
BIT: dict[str, int] = {card: 1 << number for card, number in NUMBER.items()}
FIGURE: dict[str, int] = {card: FIGURES.index(card[0]) for card in CARDS}

ANNOYED, MITRE, SITTING = (FIGURES.index(figure) for figure in "EGH")
"""The figures that do something: E, G and H."""

FIGURE_MASKS: tuple[int, ...] = tuple(0b1111 << figure * 4 for figure in range(8))
SYMBOL_MASKS: tuple[int, ...] = tuple(
    sum(1 << figure * 4 + symbol for figure in range(8)) for symbol in range(4)
)

FITTING: tuple[int, ...] = tuple(
    FIGURE_MASKS[card >> 2] | SYMBOL_MASKS[card & 3] for card in range(32)
)
"""What may lie on each card, by its figure or its own symbol."""


def figure(card: int) -> int:
    """The index of the card's figure in `FIGURES`."""
    return card >> 2


def symbol(card: int) -> int:
    """The index of the card's symbol in `SYMBOLS`."""
    return card & 3


def mask(cards: Iterable[str]) -> int:
    """The mask of the cards named."""
    return mask_of(cards, BIT)


@lru_cache(maxsize=4096)
def _names(held: int) -> tuple[str, ...]:
    return tuple(card for card in CARDS if held >> NUMBER[card] & 1)


def names(held: int) -> list[str]:
    """The names of the cards in the mask `held`, in the unshuffled order."""
    return list(_names(held))
