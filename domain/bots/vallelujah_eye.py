"""An eye for Vallelujah."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from operator import mul

from ..state import Game
from ..vallelujah.units import BANNER_BITS, BANNER_SHIFTS, NUMBER, POWER_MASKS, POWERS, UNITS, mask
from . import worlds
from .choices import Move, View

TRUST = 2.0
PLAYED = 1200

_BIT = {unit: 1 << number for unit, number in NUMBER.items()}
_GROUPS = (*POWER_MASKS, *(BANNER_BITS << shift for shift in BANNER_SHIFTS))
"""The units of each power, then of each banner."""
_WINS = 1000.0


def rate(view: View, moves: list[Move]) -> list[float]:
    """A win, else many units fielded and an army left that is small, hangs together and is strong
    for its size."""
    army = mask(view["you"]["hand"])
    arena = mask(view["table"].get("arena", {}).get("units", ()))
    return [_rating(move, army, arena) for move in moves]


def quick(game: Game) -> Move:
    """The best-rated move of whose turn it is."""
    assert game.turn is not None
    seat = game.turn.seat
    moves = game.rules.legal_moves(game, seat)
    if len(moves) == 1:
        return moves[0]
    army, arena = game.play.armies[seat], game.play.arena
    best, highest = moves[0], -_WINS
    for move in moves:
        rating = _rating(move, army, arena)
        if rating > highest:
            best, highest = move, rating
    return best


def _rating(move: Move, army: int, arena: int) -> float:
    fielded = 0
    units = move.get("units", ())
    for unit in units:
        fielded |= _BIT[unit]
    if fielded == army:
        return _WINS
    take = move.get("take")
    # That a single unit is taken need not be said.
    taken = arena if take is None else _BIT[take]
    return _worth(army ^ fielded | taken) + 0.5 * len(units)


@lru_cache(maxsize=1 << 16)
def _worth(army: int) -> float:
    """How good it is to hold `army`, which is not empty."""
    held = [(army & group).bit_count() for group in _GROUPS]
    count = army.bit_count()
    powers: int = sum(map(mul, POWERS, held))
    return 1.5 * max(held) - 3.0 * count + 0.2 * powers / count


def dealer(view: View) -> Callable[[random.Random], Game]:
    """The units that the seat has not seen are dealt to the others, the rest are out of play."""
    me, own = view["you"]["seat"], view["you"]["hand"]
    arena, discarded = view["table"].get("arena"), view["table"]["discarded"]
    fielded = arena["units"] if arena else []
    seen = {*own, *fielded, *discarded}
    unseen = [unit for unit in UNITS if unit not in seen]
    others = worlds.others(view)
    table = worlds.started(view)
    dealing, turn = worlds.dealing(view), worlds.turn(view)

    def deal(rng: random.Random) -> Game:
        units = rng.sample(unseen, len(unseen))
        hands = {me: own}
        for seat, size in others:
            hands[seat] = [units.pop() for _ in range(size)]
        game = table.copy()
        if not arena:
            _dealt(game, hands, units)
            # Whoever took left an empty arena; what it took is in its hand.
            taken = {"seat": me, "captured": own[0], "discarded": discarded, "turn": turn}
            worlds.happen(game, "arena.taken", taken)
            return game
        seat = arena["seat"]
        _dealt(game, {**hands, seat: [*hands.get(seat, ()), *fielded]}, units)
        beaten = {
            "seat": seat,
            "units": fielded,
            "strength": arena["strength"],
            "discarded": discarded,
            "turn": turn,
        }
        worlds.happen(game, "battalion.beaten", beaten)
        return game

    def _dealt(game: Game, hands: dict[int, list[str]], undealt: list[str]) -> None:
        held = {str(seat): hand for seat, hand in hands.items()}
        worlds.happen(game, "round.dealt", {**dealing, "hands": held, "undealt": undealt})

    return deal
