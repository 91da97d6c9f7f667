"""An eye for Halleluja."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache

from ..halleluja.cards import (
    ANNOYED,
    CARDS,
    FIGURE_MASKS,
    MITRE,
    NUMBER,
    SITTING,
    SYMBOL_MASKS,
    SYMBOLS,
    figure,
    mask,
    symbol,
)
from ..masks import numbers
from ..state import Game
from . import worlds
from .choices import Move, View

TRUST = 1.0
PLAYED = 1200

_OF_FIGURE = {ANNOYED: 3.0, SITTING: 3.0, MITRE: -2.0}
"""What is gained by playing such a card now: harm the next seat, but save a G."""
_NEVER = -1000.0


def rate(view: View, moves: list[Move]) -> list[float]:
    """Playing rather than keeping; the next seat harmed, a G saved, and a hand left that follows
    the card played and fits on many others."""
    hand = mask(view["you"]["hand"])
    return [_rating(move, hand) for move in moves]


weigh = rate


def quick(game: Game) -> Move:
    """The best-rated move of whose turn it is, with the call that is due."""
    assert game.turn is not None
    seat = game.turn.seat
    moves = game.rules.legal_moves(game, seat)
    hand = game.play.hands[seat]
    best, highest = moves[0], 2 * _NEVER
    if len(moves) > 1:
        for move in moves:
            rating = _rating(move, hand)
            if rating > highest:
                best, highest = move, rating
    return game.rules.with_due_call(game, seat, best)


def _rating(move: Move, hand: int) -> float:
    if move["type"] != "play":
        return _NEVER
    card = NUMBER[move["card"]]
    wish = move.get("wish")
    in_force = symbol(card) if wish is None else SYMBOLS.index(wish)
    left = hand & ~(1 << card)
    same_symbol = left & SYMBOL_MASKS[in_force]
    rating = _OF_FIGURE.get(figure(card), 0.0) + _fitting(left) + 0.5 * same_symbol.bit_count()
    return rating + 3.0 if same_symbol or left & FIGURE_MASKS[figure(card)] else rating


@lru_cache(maxsize=1 << 16)
def _fitting(hand: int) -> float:
    """On how many of the other cards one of `hand` could be played, as a share of 8 points."""
    fits = 0
    for card in numbers(hand):
        fits |= FIGURE_MASKS[figure(card)] | SYMBOL_MASKS[symbol(card)]
    return 8.0 * (fits & ~hand).bit_count() / (32 - hand.bit_count())


def dealer(view: View) -> Callable[[random.Random], Game]:
    """The cards that the seat has not seen are in the other hands, the draw pile and under the top
    card, in any order."""
    me, own, drawn = view["you"]["seat"], view["you"]["hand"], view["you"].get("drawn")
    shown = view["table"]
    seen = {*own, shown["top"]}
    unseen = [card for card in CARDS if card not in seen]
    others = worlds.others(view)
    table = worlds.started(view)
    dealing, turn = worlds.dealing(view), worlds.turn(view)
    held = [card for card in own if card != drawn]
    buried = shown["discard_pile"] - 1
    wish = SYMBOLS.index(shown["symbol_in_force"]) if shown["wished"] else None

    def deal(rng: random.Random) -> Game:
        cards = rng.sample(unseen, len(unseen))
        laid = [cards.pop() for _ in range(buried)] + [shown["top"]]
        hands = {str(seat): [cards.pop() for _ in range(size)] for seat, size in others}
        # What was laid is dealt to this seat, to play it card by card.
        hands[str(me)] = [*held, *laid[1:]]
        pile = cards if drawn is None else [drawn, *cards]
        dealt = {**dealing, "hands": hands, "turned_up": laid[0], "undealt": pile}
        events = [("round.dealt", dealt)]
        events += [("card.played", {"seat": me, "card": card}) for card in laid[1:]]
        events[-1][1]["turn"] = turn
        if drawn is not None:
            events.append(("cards.drawn", {"seat": me, "reason": "no-match", "cards": [drawn]}))
        game = table.copy()
        for type_, data in events:
            worlds.happen(game, type_, data)
        # Both outlast a reshuffle of the cards that brought them.
        if wish is not None:
            game.play.wish_for(wish)
        game.play.pending = view["turn"].get("pending_draw", 0)
        return game

    return deal
