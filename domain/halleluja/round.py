"""The cards of a round of Halleluja, and how events move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evolution import By, Data
from ..masks import mask_of
from ..state import Game
from .cards import (
    ANNOYED,
    BIT,
    FIGURE_MASKS,
    FITTING,
    MITRE,
    NUMBER,
    SYMBOL_MASKS,
    SYMBOLS,
    mask,
)

WORLDLY_WORDS = ("mau", "mau-mau")


class HallelujaRound:
    """Hands as masks by seat number; piles as card numbers, the last one on top. `fitting` is the
    mask of all cards that may lie on the top card (halleluja.match), `wild` of those that always
    may."""

    __slots__ = (
        "drawn",
        "fitting",
        "hands",
        "laid",
        "pending",
        "pile",
        "reshuffles",
        "wild",
        "wish",
        "worldly",
    )

    def __init__(self, hands: list[int], pile: list[int], laid: list[int], wild: int) -> None:
        self.hands = hands
        self.pile = pile
        self.laid = laid
        self.wild = wild
        self.wish: int | None = None
        self.fitting = FITTING[laid[-1]] | wild
        # The card just drawn that its seat may play or keep.
        self.drawn: int | None = None
        # What the seat to move must draw or pass on (annoyed_stacks).
        self.pending = 0
        self.worldly: dict[int, int] = {}
        self.reshuffles = 0

    def copy(self) -> HallelujaRound:
        """A copy that can be evolved on its own."""
        twin = HallelujaRound.__new__(HallelujaRound)
        twin.hands = self.hands[:]
        twin.pile = self.pile[:]
        twin.laid = self.laid[:]
        twin.wild = self.wild
        twin.fitting = self.fitting
        twin.wish = self.wish
        twin.drawn = self.drawn
        twin.pending = self.pending
        twin.worldly = self.worldly
        twin.reshuffles = self.reshuffles
        return twin

    def begin_turn(self, seat: int) -> None:
        """A turn of `seat` begins."""
        self.drawn = None
        if self.pending:
            self.lapse()

    @property
    def top(self) -> int:
        """The top card of the discard pile."""
        return self.laid[-1]

    @property
    def symbol_in_force(self) -> int:
        """The wished symbol while a wish stands, else the top card's."""
        return self.laid[-1] & 3 if self.wish is None else self.wish

    @property
    def available(self) -> int:
        """How many cards could still be drawn, discards under the top card included."""
        return len(self.pile) + len(self.laid) - 1

    def wish_for(self, symbol: int) -> None:
        """With the top card, a G, its player wished for `symbol`."""
        self.wish = symbol
        self.fitting = FIGURE_MASKS[MITRE] | SYMBOL_MASKS[symbol] | self.wild

    def hear(self, seat: int) -> None:
        """A worldly word of `seat` was heard."""
        self.worldly = {**self.worldly, seat: self.worldly.get(seat, 0) + 1}

    def lapse(self) -> None:
        """A pending draw for which there is no card at all has lapsed for good."""
        if self.pending and not self.available:
            self.pending = 0


def dealt(game: Game, data: Mapping[str, Any]) -> HallelujaRound:
    """The round that a `round.dealt` event lays out."""
    hands = [0] * (max(game.started) + 1)
    for seat, cards in data["hands"].items():
        hands[int(seat)] = mask(cards)
    pile = [NUMBER[card] for card in reversed(data["undealt"])]
    wild = FIGURE_MASKS[MITRE] if game.options["mitre_wild"] else 0
    return HallelujaRound(hands, pile, [NUMBER[data["turned_up"]]], wild)


def _card_played(game: Game, data: Data, by: By) -> None:
    play: HallelujaRound = game.play
    card = NUMBER[data["card"]]
    play.hands[data["seat"]] ^= 1 << card
    play.laid.append(card)
    play.drawn = play.wish = None
    play.fitting = FITTING[card] | play.wild
    if "wish" in data:
        play.wish_for(SYMBOLS.index(data["wish"]))
    if "call" in data and data["call"] in WORLDLY_WORDS:
        play.hear(data["seat"])
    if card >> 2 == ANNOYED and game.options["annoyed_stacks"]:
        play.pending += 2


def _cards_drawn(game: Game, data: Data, by: By) -> None:
    play: HallelujaRound = game.play
    cards, reason = data["cards"], data["reason"]
    play.hands[data["seat"]] |= mask_of(cards, BIT)
    del play.pile[len(play.pile) - len(cards) :]
    if reason == "no-match":
        play.drawn = NUMBER[cards[0]]
        game.touched = game.version
    elif reason == "annoyed":
        play.pending = 0
        game.touched = game.version
    if play.pending:
        play.lapse()


def _pile_reshuffled(game: Game, data: Data, by: By) -> None:
    play: HallelujaRound = game.play
    play.pile = [NUMBER[card] for card in reversed(data["draw_pile"])]
    play.reshuffles += 1
    given_up = [seat for seat in game.resigned if play.hands[seat]]
    if given_up:
        for seat in given_up:
            play.hands[seat] = 0
    else:
        play.laid = play.laid[-1:]


def _word_exclaimed(game: Game, data: Data, by: By) -> None:
    seat = data["seat"]
    game.play.hear(seat)
    game.spoke = {**game.spoke, seat: game.version}


def _nothing_moves(game: Game, data: Data, by: By) -> None:
    """Only whose turn it is changes."""


EVOLVERS = {
    "card.played": _card_played,
    "cards.drawn": _cards_drawn,
    "pile.reshuffled": _pile_reshuffled,
    "word.exclaimed": _word_exclaimed,
    "card.kept": _nothing_moves,
    "turn.skipped": _nothing_moves,
    "turn.passed": _nothing_moves,
}
