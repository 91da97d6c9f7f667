"""Vallelujah, version 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evolution import TABLE_EVOLVERS, AnyEvent
from ..ruleset import Move, Reason, Ruleset
from ..state import Game
from ..wording import GERMAN
from . import moves
from .judging import PERFORMERS
from .round import EVOLVERS, VallelujahRound, dealt
from .rules import OPTIONS, RULES, TERMS
from .units import UNITS, in_byte_order, names
from .wording_de import CATALOGUE


class Vallelujah(Ruleset):
    """Vallelujah under the rules of its sheet and the rulings on it."""

    id = "vallelujah"
    version = 1
    title = "Vallelujah"
    seats = (2, 6)
    cards = UNITS
    hand_size = 9
    has_dealer = False
    turns_up = False
    turn_limit = 300
    repeats = True
    options = OPTIONS
    rules = RULES
    terms = TERMS
    translations = {GERMAN: CATALOGUE}
    evolvers = TABLE_EVOLVERS | EVOLVERS
    performers = PERFORMERS

    def dealt(self, game: Game, data: Mapping[str, Any]) -> VallelujahRound:
        return dealt(game, data)

    def seat_resigned(self, game: Game, seat: int) -> None:
        # Fewer seats are in play from now on: no earlier position can come again.
        game.play.forget()

    def is_repetition(self, game: Game, seat: int) -> bool:
        play: VallelujahRound = game.play
        # The same seat is to move: before the third time the turn went round the table twice.
        return len(play.seen) >= 4 and play.seen.count(play.position(seat)) > 1

    def check_shape(self, move: Move) -> None:
        moves.check_shape(move)

    legal_moves = staticmethod(moves.canonical)

    def listed_moves(self, game: Game, seat: int) -> list[dict[str, Any]]:
        return moves.listed(game, game.play, seat)

    def reason(self, game: Game, seat: int, move: Move) -> Reason:
        return moves.reason(game.play, seat, move)

    def move_of(self, event: AnyEvent) -> Move | None:
        return moves.move_of(event)

    def hand(self, game: Game, seat: int) -> list[str]:
        return names(game.play.armies[seat])

    def hand_count(self, game: Game, seat: int) -> int:
        return int(game.play.armies[seat].bit_count())

    def table_view(self, game: Game) -> dict[str, Any]:
        play: VallelujahRound = game.play
        shown: dict[str, Any] = {"discarded": in_byte_order(play.discarded)}
        if play.arena:
            shown["arena"] = {
                "units": in_byte_order(play.arena),
                "strength": play.strength,
                "seat": play.arena_seat,
            }
        return shown
