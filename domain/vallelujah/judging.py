"""How each type of move of Vallelujah is judged, and recorded with what follows from it."""

from __future__ import annotations

from typing import Any

from ..refusals import Refused, illegal
from ..rounds import pass_turn, win_round
from ..ruleset import Move
from ..unfolding import Unfolding
from ..wording import Sentence
from .moves import may_lead_all
from .round import VallelujahRound
from .units import BATTALIONS, Battalion, battalion_of, in_byte_order, mask


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
    units, army = _own_units(play, seat, move), play.armies[seat]
    if units & units - 1 and not (units == army and may_lead_all(game, army)):
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
    arena, army = BATTALIONS.get(play.arena), play.armies[seat]
    own = battalion_of(move["units"])
    if (
        arena is None
        or own is None
        or own.units & ~army
        or own.strength <= arena.strength
        or own.size > arena.size + 1
    ):
        raise _refusal(play, seat, move, own)
    discarded = list(arena.names)
    data: dict[str, Any] = {
        "seat": seat,
        "units": list(own.names),
        "strength": own.strength,
        "discarded": discarded,
    }
    if own.units != army:
        data["captured"] = captured = _taken(arena, move.get("take"), "vallelujah.capture")
        discarded.remove(captured)
    elif move.get("take") is not None:
        raise illegal(
            "vallelujah.win",
            "A beat with your last units wins at once and captures nothing.",
            take=move["take"],
        )
    unfolding.record("battalion.beaten", data)
    _pass_on(unfolding, seat)


def _arena(play: VallelujahRound) -> Battalion:
    """The battalion in the arena, of a move that needs one."""
    if not play.arena:
        raise illegal("vallelujah.lead", "The arena is empty: lead one unit.")
    return BATTALIONS[play.arena]


def _refusal(play: VallelujahRound, seat: int, move: Move, own: Battalion | None) -> Refused:
    """Why `seat` may not beat with the units of `move`, which form the battalion `own`, if any."""
    arena = _arena(play)
    units = _own_units(play, seat, move)
    if own is None:
        return illegal(
            "vallelujah.battalion",
            "These units are neither of one banner nor of one power.",
            units=in_byte_order(units),
        )
    if not arena.size <= own.size <= arena.size + 1:
        return illegal(
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
    return illegal(
        "vallelujah.strength",
        "The battalion to beat is {arena_strength}; yours is {strength}.",
        strength=own.strength,
        arena_strength=arena.strength,
    )


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
    if play.beats(seat, arena):
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
        pass_turn(unfolding, game.following[seat])
    else:
        win_round(unfolding, seat, "emptied")


PERFORMERS = {"lead": _lead, "beat": _beat, "take": _take}
