"""Which moves of Vallelujah are legal, how they are listed, and what shape they have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from ..evolution import AnyEvent
from ..masks import nth, numbers
from ..refusals import VALIDATION, Refused, fault
from ..ruleset import Move, Reason, because
from ..state import Game
from .contests import Contest, beaters, contest
from .round import VallelujahRound
from .units import BATTALIONS, NAMES, NUMBER, Battalion, in_byte_order, mask

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
        errors = [fault("type", "must be one of {values}", values=", ".join(_FIELDS))]
        raise Refused(VALIDATION, "That is no move of Vallelujah.", errors=errors)
    errors = [
        fault(name, "does not belong to {type}", type=type_)
        for name in move
        if name != "type" and name not in fields
    ]
    if fields.get("units"):
        errors += _faults_of_units(move.get("units"))
    if "take" in fields and "take" in move and not _is_unit(move["take"]):
        errors.append(fault("take", "must be a unit"))
    if errors:
        raise Refused(VALIDATION, "That is no move of Vallelujah.", errors=errors)


def _is_unit(value: Any) -> bool:
    return isinstance(value, str) and value in NUMBER


def _faults_of_units(units: Any) -> list[dict[str, str]]:
    if units is None:
        return [fault("units", "is missing")]
    if not isinstance(units, list) or not units:
        return [fault("units", "must be a list of at least one unit")]
    faults = [
        fault(f"units.{place}", "must be a unit")
        for place, unit in enumerate(units)
        if not _is_unit(unit)
    ]
    if not faults and len(set(units)) != len(units):
        faults.append(fault("units", "must name each unit once"))
    return faults


_LEADS: tuple[Move, ...] = tuple({"type": "lead", "units": [unit]} for unit in NAMES)
_TAKES: tuple[Move, ...] = tuple({"type": "take", "take": unit} for unit in NAMES)


class _Unread(Sequence[Move]):
    """Moves that are written out where they are read: there can be more than a thousand, of which
    one is made."""

    __slots__ = ("_length",)

    _length: int

    @overload
    def __getitem__(self, index: int) -> Move: ...

    @overload
    def __getitem__(self, index: slice) -> list[Move]: ...

    def __getitem__(self, index: int | slice) -> Move | list[Move]:
        if type(index) is slice:
            return list(self)[index]
        place = index if index >= 0 else self._length + index
        if not 0 <= place < self._length:
            raise IndexError("no such move")
        return self._at(place)

    def __len__(self) -> int:
        return self._length

    def _at(self, place: int) -> Move:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class _Numbered(_Unread):
    """Those of `moves` whose numbers are in a mask."""

    __slots__ = ("_found", "_moves")

    def __init__(self, moves: Sequence[Move], found: int) -> None:
        self._moves = moves
        self._found = found
        self._length = found.bit_count()

    def _at(self, place: int) -> Move:
        return self._moves[nth(self._found, place)]

    def __iter__(self) -> Iterator[Move]:
        return map(self._moves.__getitem__, numbers(self._found))


class _Captures(_Unread):
    """The beats of a battalion of several units, each with each unit that may be captured."""

    __slots__ = ("_arena", "_beats", "_count", "_moves", "_wins")

    def __init__(self, arena: Battalion, answers: Contest, found: int, army: int) -> None:
        # In JCS bytes `take` sorts before `type`, so a winning beat, which takes nothing, is last.
        self._wins = found & answers.bit[army] if army in answers.bit else 0
        self._beats = found ^ self._wins if self._wins else found
        self._count = self._beats.bit_count()
        self._length = self._count * arena.size + (self._wins > 0)
        self._arena = arena
        self._moves = answers.moves

    def _at(self, place: int) -> Move:
        if self._wins and place == self._length - 1:
            return self._moves[nth(self._wins, 0)]
        taken, place = divmod(place, self._count)
        move = self._moves[nth(self._beats, place)].copy()
        move["take"] = self._arena.names[taken]
        return move

    def __iter__(self) -> Iterator[Move]:
        found = numbers(self._beats)
        for unit in self._arena.names:
            for number in found:
                yield {**self._moves[number], "take": unit}
        for number in numbers(self._wins):
            yield self._moves[number]


def canonical(game: Game, seat: int) -> Sequence[Move]:
    """Every legal move, fully specified, in the order of their JCS bytes."""
    play: VallelujahRound = game.play
    army = play.armies[seat]
    if not play.arena:
        return _leads(game, army)
    arena = BATTALIONS[play.arena]
    found = play.beats(seat, arena)
    if not found:
        return _Numbered(_TAKES, play.arena)
    answers = contest(arena.size)
    if arena.size > 1:
        return _Captures(arena, answers, found, army)
    return _Numbered(answers.moves, found)


def _leads(game: Game, army: int) -> Sequence[Move]:
    leads = _Numbered(_LEADS, army)
    if game.options["lead_all"] and may_lead_all(game, army):
        # In JCS bytes a list that goes on sorts before one that ends there.
        return [{"type": "lead", "units": in_byte_order(army)}, *leads]
    return leads


def may_lead_all(game: Game, army: int) -> bool:
    """Whether the whole army, of more than one unit, may be led (vallelujah.lead-all)."""
    return bool(game.options["lead_all"]) and army.bit_count() > 1 and army in BATTALIONS


def listed(game: Game, play: VallelujahRound, seat: int) -> list[dict[str, Any]]:
    """The legal moves for a client: the units to choose from grouped, with the rules."""
    army = play.armies[seat]
    if not play.arena:
        return [_listed_lead(move, army) for move in _leads(game, army)]
    arena = list(BATTALIONS[play.arena].names)
    entries = [
        _listed_beat(list(each.names), arena, wins=each.units == army)
        for each in beaters(army, BATTALIONS[play.arena])
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
        rules, units = _rules_of_lead(move, army), move["units"]
        if len(units) > 1:
            return because(rules, "Your army is one battalion.", units=units)
        return because(rules, "The arena is empty: one unit leads.", units=units)
    arena = BATTALIONS[play.arena]
    facts: dict[str, Any] = {"arena_strength": arena.strength, "arena_count": arena.size}
    if move["type"] == "take":
        return because(["vallelujah.take"], "You cannot beat this battalion: you take.", **facts)
    own = BATTALIONS[mask(move["units"])]
    facts |= {"strength": own.strength, "count": own.size}
    rules = _rules_of_beat(list(own.names), wins=own.units == army)
    return because(
        rules, "The battalion to beat is {arena_strength}; yours is {strength}.", **facts
    )
