"""Which moves of Vallelujah are legal, how they are listed, and what shape they have."""

from __future__ import annotations

from typing import Any

from ..evolution import AnyEvent
from ..masks import numbers
from ..refusals import VALIDATION, Refused
from ..ruleset import Move, Reason
from ..state import Game
from .round import VallelujahRound
from .units import (
    BANNER_BITS,
    BANNER_SHIFTS,
    BATTALIONS,
    NUMBER,
    POWER_MASKS,
    Battalion,
    battalions_within,
    in_byte_order,
    mask,
    repeated,
)

_FIELDS: dict[str, dict[str, bool]] = {
    "lead": {"units": True},
    "beat": {"units": True, "take": False},
    "take": {"take": False},
}
"""Each type of move, its fields, and whether they must be there."""


def check_shape(move: Move) -> None:
    """Refuse what is no move of Vallelujah in any position."""
    type_ = move.get("type")
    fields = _FIELDS.get(type_) if isinstance(type_, str) else None
    if fields is None:
        message = f"must be one of {', '.join(_FIELDS)}"
        errors = [{"field": "type", "message": message}]
        raise Refused(VALIDATION, "That is no move of Vallelujah.", errors=errors)
    errors = [
        {"field": name, "message": f"does not belong to {type_}"}
        for name in move
        if name != "type" and name not in fields
    ]
    if fields.get("units"):
        errors += _faults_of_units(move.get("units"))
    if "take" in fields and "take" in move and not _is_unit(move["take"]):
        errors.append({"field": "take", "message": "must be a unit"})
    if errors:
        raise Refused(VALIDATION, "That is no move of Vallelujah.", errors=errors)


def _is_unit(value: Any) -> bool:
    return isinstance(value, str) and value in NUMBER


def _faults_of_units(units: Any) -> list[dict[str, str]]:
    if units is None:
        return [{"field": "units", "message": "is missing"}]
    if not isinstance(units, list) or not units:
        return [{"field": "units", "message": "must be a list of at least one unit"}]
    faults = [
        {"field": f"units.{place}", "message": "must be a unit"}
        for place, unit in enumerate(units)
        if not _is_unit(unit)
    ]
    if not faults and len(set(units)) != len(units):
        faults.append({"field": "units", "message": "must name each unit once"})
    return faults


def can_beat(army: int, count: int, to_beat: int) -> bool:
    """Whether `army` holds a battalion that beats one of `count` units and strength `to_beat`."""
    for shift in BANNER_SHIFTS:
        bits = army & BANNER_BITS << shift
        held = bits.bit_count()
        if held > count or (held == count and BATTALIONS[bits].strength > to_beat):
            return True
    for power, units in enumerate(POWER_MASKS, start=1):
        held = (army & units).bit_count()
        if held > count or (held == count and repeated(power, count) > to_beat):
            return True
    return False


def beats(army: int, count: int, to_beat: int) -> list[Battalion]:
    """Every battalion of `army` that beats one of `count` units and strength `to_beat`."""
    found: list[Battalion] = []
    for shift in BANNER_SHIFTS:
        units = army & BANNER_BITS << shift
        held = units.bit_count()
        if held >= count:
            found += [each for each in battalions_within(units, count) if each.strength > to_beat]
        if held > count:
            found += battalions_within(units, count + 1)
    for power, same_power in enumerate(POWER_MASKS, start=1):
        units = army & same_power
        held = units.bit_count()
        # A single unit is of one banner already.
        if held >= count > 1 and repeated(power, count) > to_beat:
            found += battalions_within(units, count)
        if held > count:
            found += battalions_within(units, count + 1)
    found.sort()
    return found


def canonical(game: Game, play: VallelujahRound, seat: int) -> list[Move]:
    """Every legal move, fully specified, in the order of their JCS bytes."""
    army = play.armies[seat]
    if not play.arena:
        return _leads(game, army)
    arena = BATTALIONS[play.arena]
    found = beats(army, arena.size, play.strength)
    if not found:
        return [{"type": "take", "take": unit} for unit in arena.names]
    if arena.size == 1:
        return [{"type": "beat", "units": list(each.names)} for each in found]
    # In JCS bytes `take` sorts before `type`, so the winning beats, which take nothing, are last.
    moves: list[Move] = [
        {"type": "beat", "units": list(each.names), "take": unit}
        for unit in arena.names
        for each in found
        if each.units != army
    ]
    if army in BATTALIONS and BATTALIONS[army] in found:
        moves.append({"type": "beat", "units": list(BATTALIONS[army].names)})
    return moves


def _leads(game: Game, army: int) -> list[Move]:
    leads = [BATTALIONS[1 << number] for number in numbers(army)]
    if may_lead_all(game, army):
        leads.append(BATTALIONS[army])
        leads.sort()
    return [{"type": "lead", "units": list(each.names)} for each in leads]


def may_lead_all(game: Game, army: int) -> bool:
    """Whether the whole army, of more than one unit, may be led (vallelujah.lead-all)."""
    return bool(game.options["lead_all"]) and army.bit_count() > 1 and army in BATTALIONS


def listed(game: Game, play: VallelujahRound, seat: int) -> list[dict[str, Any]]:
    """The legal moves for a client: the units to choose from grouped, with the rules."""
    army = play.armies[seat]
    if not play.arena:
        return [_listed_lead(move, army) for move in _leads(game, army)]
    arena = in_byte_order(play.arena)
    entries = [
        _listed_beat(list(each.names), arena, wins=each.units == army)
        for each in beats(army, len(arena), play.strength)
    ]
    if entries:
        return entries
    if len(arena) == 1:
        return [{"move": {"type": "take", "take": arena[0]}, "rules": ["vallelujah.take"]}]
    return [{"move": {"type": "take"}, "rules": ["vallelujah.take"], "take_from": arena}]


def _listed_lead(move: Move, army: int) -> dict[str, Any]:
    return {"move": move, "rules": _rules_of_lead(move, army)}


def _rules_of_lead(move: Move, army: int) -> list[str]:
    whole = len(move["units"]) > 1
    rules = ["vallelujah.lead-all" if whole else "vallelujah.lead"]
    if len(move["units"]) == army.bit_count():
        rules.append("vallelujah.win")
    return rules


def _listed_beat(units: list[str], arena: list[str], *, wins: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "move": {"type": "beat", "units": units},
        "rules": _rules_of_beat(units, wins=wins),
    }
    if not wins and len(arena) > 1:
        entry["take_from"] = arena
    return entry


def _rules_of_beat(units: list[str], *, wins: bool) -> list[str]:
    rules = ["vallelujah.strength", "vallelujah.count"]
    if len(units) > 1:
        rules.append("vallelujah.battalion")
    rules.append("vallelujah.win" if wins else "vallelujah.capture")
    return rules


def move_of(event: AnyEvent) -> Move | None:
    """The move that `event` itself is, if it is one."""
    data = event.data
    # Of a single unit nothing is to be chosen, so a fully specified move does not name it.
    take = {"take": data["captured"]} if "captured" in data and data["discarded"] else {}
    match event.type:
        case "battalion.led":
            return {"type": "lead", "units": data["units"]}
        case "battalion.beaten":
            return {"type": "beat", "units": data["units"], **take}
        case "arena.taken":
            return {"type": "take", **take}
    return None


def reason(play: VallelujahRound, seat: int, move: Move) -> Reason:
    """Why the legal `move` is legal."""
    army = play.armies[seat]
    if move["type"] == "lead":
        whole = len(move["units"]) > 1
        detail = "Your army is one battalion." if whole else "The arena is empty: one unit leads."
        return Reason(_rules_of_lead(move, army), detail, {"units": move["units"]})
    arena = BATTALIONS[play.arena]
    facts: dict[str, Any] = {"arena_strength": arena.strength, "arena_count": arena.size}
    if move["type"] == "take":
        return Reason(["vallelujah.take"], "You cannot beat this battalion: you take.", facts)
    own = BATTALIONS[mask(move["units"])]
    facts |= {"strength": own.strength, "count": own.size}
    detail = f"The battalion to beat is {arena.strength}; yours is {own.strength}."
    return Reason(_rules_of_beat(list(own.names), wins=own.units == army), detail, facts)
