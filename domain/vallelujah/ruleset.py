"""Vallelujah, version 1: how moves are judged and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evolution import TABLE_EVOLVERS, AnyEvent
from ..refusals import illegal
from ..ruleset import After, Move, Reason, Ruleset
from ..state import Game
from ..unfolding import Unfolding
from . import moves
from .round import EVOLVERS, VallelujahRound, dealt
from .rules import OPTIONS, RULES
from .units import BATTALIONS, UNITS, Battalion, in_byte_order, mask, names

REPETITIONS = 3
"""A position that stands so often makes the round void (vallelujah.repetition)."""


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
    options = OPTIONS
    rules = RULES
    evolvers = TABLE_EVOLVERS | EVOLVERS

    def dealt(self, game: Game, data: Mapping[str, Any]) -> VallelujahRound:
        return dealt(game, data)

    def turn_began(self, game: Game) -> None:
        turn = game.turn
        assert turn is not None
        play: VallelujahRound = game.play
        position = play.position(game, turn.seat)
        play.seen[position] = play.seen.get(position, 0) + 1

    def is_repetition(self, game: Game, seat: int) -> bool:
        play: VallelujahRound = game.play
        return play.seen.get(play.position(game, seat), 0) + 1 >= REPETITIONS

    def check_shape(self, move: Move) -> None:
        moves.check_shape(move)

    def perform(self, unfolding: Unfolding, seat: int, move: Move) -> After:
        return _PERFORM[move["type"]](unfolding, seat, move)

    def legal_moves(self, game: Game, seat: int) -> list[Move]:
        return moves.canonical(game, game.play, seat)

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


def _lead(unfolding: Unfolding, seat: int, move: Move) -> After:
    game = unfolding.game
    play: VallelujahRound = game.play
    if play.arena:
        raise illegal(
            "vallelujah.must-beat",
            "There is a battalion in the arena: beat it, or take from it if you cannot.",
            arena=in_byte_order(play.arena),
            strength=play.strength,
        )
    units = _own_units(play, seat, move)
    army = play.armies[seat]
    if units.bit_count() > 1 and not (units == army and moves.may_lead_all(game, army)):
        whole = units == army and game.options["lead_all"]
        raise illegal(
            "vallelujah.battalion" if whole else "vallelujah.lead",
            "Your army is not one battalion." if whole else "Lead exactly one unit.",
            units=in_byte_order(units),
        )
    led = BATTALIONS[units]
    unfolding.record(
        "battalion.led", {"seat": seat, "units": list(led.names), "strength": led.strength}
    )
    return _pass_on(game, seat)


def _beat(unfolding: Unfolding, seat: int, move: Move) -> After:
    game = unfolding.game
    play: VallelujahRound = game.play
    if not play.arena:
        raise illegal("vallelujah.lead", "The arena is empty: lead one unit.")
    units = _own_units(play, seat, move)
    battalion = _judge_beat(play, units)
    captured = _captured(play, move, wins=units == play.armies[seat])
    data: dict[str, Any] = {
        "seat": seat,
        "units": list(battalion.names),
        "strength": battalion.strength,
        "discarded": [unit for unit in in_byte_order(play.arena) if unit != captured],
    }
    if captured is not None:
        data["captured"] = captured
    unfolding.record("battalion.beaten", data)
    return _pass_on(game, seat)


def _judge_beat(play: VallelujahRound, units: int) -> Battalion:
    """The battalion of `units`, which beats the one in the arena."""
    count, most = units.bit_count(), play.arena.bit_count() + 1
    own = BATTALIONS.get(units)
    if own is None:
        raise illegal(
            "vallelujah.battalion",
            "These units are neither of one banner nor of one power.",
            units=in_byte_order(units),
        )
    if not most - 1 <= count <= most:
        raise illegal(
            "vallelujah.count",
            f"A beat has {most - 1} or {most} units here; yours has {count}.",
            count=count,
            arena_count=most - 1,
        )
    if own.strength <= play.strength:
        raise illegal(
            "vallelujah.strength",
            f"The battalion to beat is {play.strength}; yours is {own.strength}.",
            strength=own.strength,
            arena_strength=play.strength,
        )
    return own


def _captured(play: VallelujahRound, move: Move, *, wins: bool) -> str | None:
    take = move.get("take")
    if wins:
        if take is not None:
            raise illegal(
                "vallelujah.win",
                "A beat with your last units wins at once and captures nothing.",
                take=take,
            )
        return None
    return _taken(play, take, "vallelujah.capture")


def _taken(play: VallelujahRound, take: str | None, rule: str) -> str:
    arena = in_byte_order(play.arena)
    if take is None:
        if len(arena) == 1:
            return arena[0]
        raise illegal(rule, "Name the one unit of the battalion that you take.", take_from=arena)
    if take not in arena:
        raise illegal(rule, f"{take} is not in the arena.", take=take, take_from=arena)
    return take


def _take(unfolding: Unfolding, seat: int, move: Move) -> After:
    game = unfolding.game
    play: VallelujahRound = game.play
    if not play.arena:
        raise illegal("vallelujah.lead", "The arena is empty: lead one unit.")
    if moves.can_beat(play.armies[seat], play.arena.bit_count(), play.strength):
        raise illegal(
            "vallelujah.must-beat",
            "You can beat this battalion, so you must.",
            arena_count=play.arena.bit_count(),
            arena_strength=play.strength,
        )
    captured = _taken(play, move.get("take"), "vallelujah.take")
    discarded = [unit for unit in in_byte_order(play.arena) if unit != captured]
    unfolding.record("arena.taken", {"seat": seat, "captured": captured, "discarded": discarded})
    return After(game.next_active(seat))


_PERFORM = {"lead": _lead, "beat": _beat, "take": _take}


def _own_units(play: VallelujahRound, seat: int, move: Move) -> int:
    units = mask(move["units"])
    missing = units & ~play.armies[seat]
    if missing:
        raise illegal(
            "vallelujah.own-units",
            f"Not in your army: {', '.join(in_byte_order(missing))}.",
            units=in_byte_order(missing),
        )
    return units


def _pass_on(game: Game, seat: int) -> After:
    if not game.play.armies[seat]:
        return After(winner=seat)
    return After(game.next_active(seat))
