"""How each type of move of Vallelujah is judged, and recorded with what follows from it."""

from __future__ import annotations

from typing import Any

from ..refusals import illegal
from ..rounds import pass_turn, win_round
from ..ruleset import Move
from ..unfolding import Unfolding
from ..wording import Sentence
from .contests import beats
from .moves import may_lead_all
from .round import VallelujahRound
from .units import BATTALIONS, Battalion, in_byte_order, mask


def _lead(unfolding: Unfolding, seat: int, move: Move) -> None:
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
    if units.bit_count() > 1 and not (units == army and may_lead_all(game, army)):
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
    _pass_on(unfolding, seat)


def _beat(unfolding: Unfolding, seat: int, move: Move) -> None:
    game = unfolding.game
    play: VallelujahRound = game.play
    arena = _arena(play)
    units = _own_units(play, seat, move)
    battalion = _judge_beat(arena, units)
    discarded = list(arena.names)
    data: dict[str, Any] = {
        "seat": seat,
        "units": list(battalion.names),
        "strength": battalion.strength,
        "discarded": discarded,
    }
    captured = _captured(arena, move, wins=units == play.armies[seat])
    if captured is not None:
        data["captured"] = captured
        discarded.remove(captured)
    unfolding.record("battalion.beaten", data)
    _pass_on(unfolding, seat)


def _arena(play: VallelujahRound) -> Battalion:
    """The battalion in the arena, of a move that needs one."""
    if not play.arena:
        raise illegal("vallelujah.lead", "The arena is empty: lead one unit.")
    return BATTALIONS[play.arena]


def _judge_beat(arena: Battalion, units: int) -> Battalion:
    """The battalion of `units`, which beats the one in the arena."""
    own = BATTALIONS.get(units)
    if own is None:
        raise illegal(
            "vallelujah.battalion",
            "These units are neither of one banner nor of one power.",
            units=in_byte_order(units),
        )
    if not arena.size <= own.size <= arena.size + 1:
        raise illegal(
            "vallelujah.count",
            Sentence(
                "A beat has {least} or {most} units here; yours has {count}.",
                least=arena.size,
                most=arena.size + 1,
                count=own.size,
            ),
            count=own.size,
            arena_count=arena.size,
        )
    if own.strength <= arena.strength:
        raise illegal(
            "vallelujah.strength",
            "The battalion to beat is {arena_strength}; yours is {strength}.",
            strength=own.strength,
            arena_strength=arena.strength,
        )
    return own


def _captured(arena: Battalion, move: Move, *, wins: bool) -> str | None:
    take = move.get("take")
    if not wins:
        return _taken(arena, take, "vallelujah.capture")
    if take is not None:
        raise illegal(
            "vallelujah.win",
            "A beat with your last units wins at once and captures nothing.",
            take=take,
        )
    return None


def _taken(arena: Battalion, take: str | None, rule: str) -> str:
    if take is None:
        if arena.size == 1:
            return arena.names[0]
        raise illegal(
            rule,
            "Name the one unit of the battalion that you take.",
            take_from=list(arena.names),
        )
    if take not in arena.names:
        raise illegal(rule, "{take} is not in the arena.", take=take, take_from=list(arena.names))
    return take


def _take(unfolding: Unfolding, seat: int, move: Move) -> None:
    game = unfolding.game
    play: VallelujahRound = game.play
    arena = _arena(play)
    if beats(play.armies[seat], play.arena):
        raise illegal(
            "vallelujah.must-beat",
            "You can beat this battalion, so you must.",
            arena_count=arena.size,
            arena_strength=arena.strength,
        )
    captured = _taken(arena, move.get("take"), "vallelujah.take")
    discarded = list(arena.names)
    discarded.remove(captured)
    unfolding.record("arena.taken", {"seat": seat, "captured": captured, "discarded": discarded})
    pass_turn(unfolding, game.next_active(seat))


def _own_units(play: VallelujahRound, seat: int, move: Move) -> int:
    units = mask(move["units"])
    missing = units & ~play.armies[seat]
    if missing:
        raise illegal(
            "vallelujah.own-units",
            "Not in your army: {units}.",
            units=in_byte_order(missing),
        )
    return units


def _pass_on(unfolding: Unfolding, seat: int) -> None:
    game = unfolding.game
    if game.play.armies[seat]:
        pass_turn(unfolding, game.next_active(seat))
    else:
        win_round(unfolding, seat, "emptied")


PERFORMERS = {"lead": _lead, "beat": _beat, "take": _take}
