"""Halleluja, version 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import randomness
from ..evolution import TABLE_EVOLVERS, AnyEvent
from ..ruleset import Move, Reason, Ruleset
from ..state import Game
from ..unfolding import Unfolding
from ..wording import GERMAN
from . import moves
from .cards import CARDS, NAMES, SYMBOLS, names
from .judging import PERFORMERS, record_pile
from .moves import DUE_CALLS
from .round import EVOLVERS, HallelujaRound, dealt
from .rules import OPTIONS, RULES, TERMS
from .wording_de import CATALOGUE


class Halleluja(Ruleset):
    """Halleluja under the rules of its sheet and the rulings on it."""

    id = "halleluja"
    version = 1
    title = "Halleluja"
    seats = (2, 4)
    cards = CARDS
    hand_size = 5
    has_dealer = True
    turns_up = True
    turn_limit = 500
    options = OPTIONS
    rules = RULES
    terms = TERMS
    translations = {GERMAN: CATALOGUE}
    evolvers = TABLE_EVOLVERS | EVOLVERS
    performers = PERFORMERS
    free_moves = frozenset({"exclaim"})

    def dealt(self, game: Game, data: Mapping[str, Any]) -> HallelujaRound:
        return dealt(game, data)

    def seat_resigned(self, game: Game, seat: int) -> None:
        if game.turn is not None and game.turn.seat == seat:
            game.play.pending = 0

    def after_resignation(self, unfolding: Unfolding, seat: int) -> None:
        play: HallelujaRound = unfolding.game.play
        hand = names(play.hands[seat])
        shuffled = unfolding.chance(randomness.RESHUFFLE, play.reshuffles).shuffled(hand)
        record_pile(unfolding, play, shuffled)

    def may_repeat(self, game: Game, move: Move) -> bool:
        # Whoever has drawn what was pending, and may still play, may have to draw once more.
        stays = game.options["annoyed_stacks"] and not game.options["annoyed_ends_turn"]
        return super().may_repeat(game, move) or (stays and move.get("type") == "draw")

    def check_shape(self, move: Move) -> None:
        moves.check_shape(move)

    legal_moves = staticmethod(moves.canonical)

    def listed_moves(self, game: Game, seat: int) -> list[dict[str, Any]]:
        return moves.listed(game, game.play, seat)

    def reason(self, game: Game, seat: int, move: Move) -> Reason:
        return moves.reason(game, game.play, seat, move)

    def move_of(self, event: AnyEvent) -> Move | None:
        return moves.move_of(event)

    def with_due_call(self, game: Game, seat: int, move: Move) -> Move:
        call = DUE_CALLS.get(game.play.hands[seat].bit_count())
        return move if call is None or move["type"] != "play" else {**move, "call": call}

    def hand(self, game: Game, seat: int) -> list[str]:
        return names(game.play.hands[seat])

    def hand_count(self, game: Game, seat: int) -> int:
        return int(game.play.hands[seat].bit_count())

    def table_view(self, game: Game) -> dict[str, Any]:
        play: HallelujaRound = game.play
        return {
            "top": NAMES[play.top],
            "symbol_in_force": SYMBOLS[play.symbol_in_force],
            "wished": play.wish is not None,
            "draw_pile": len(play.pile),
            "discard_pile": len(play.laid),
        }

    def own_view(self, game: Game, seat: int) -> dict[str, Any]:
        drawn = game.play.drawn
        if drawn is None or game.turn is None or game.turn.seat != seat:
            return {}
        return {"drawn": NAMES[drawn]}

    def turn_view(self, game: Game) -> dict[str, Any]:
        pending = game.play.pending
        return {"pending_draw": pending} if pending else {}
