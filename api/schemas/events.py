"""Events: one component for each type in the domain's catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marshmallow import fields, validate

from domain.events import CATALOGUE, PUBLIC, EventType, Field
from eventstore.exports import SIGNED

from .fields import (
    Answered,
    Integer,
    QueryInteger,
    boolean,
    hash_,
    integer,
    integers,
    nested,
    open_text,
    text,
    texts,
    time,
    uuid,
)
from .games import ChainHead, GameQuery, OptionsInForce, wait


class EventActor(Answered):
    """Who caused an event."""

    kind = open_text("What kind of actor.", ("player", "clock", "bot"), required=True)
    seat = integer("The seat, in all but `game.created`.")
    player_id = uuid("The player, of the kind `player`.")


class TurnRef(Answered):
    """The turn that begins with an event."""

    seat = integer("Whose turn it is.", required=True)
    number = integer("Its number in the round.", required=True)


class SandboxMark(Answered):
    """That a game is none but one for tests."""

    deal = text("The name that its cards follow from.", required=True)


def _by_seat(values: fields.Field[Any], meaning: str, **more: Any) -> fields.Dict:
    return fields.Dict(
        keys=fields.String(),
        values=values,
        metadata={"description": f"{meaning} By seat number."},
        **more,
    )


_KINDS: dict[str, Callable[..., fields.Field[Any]]] = {
    "card": text,
    "cards": texts,
    "figure": text,
    "integer": integer,
    "options": lambda meaning, **more: nested(
        OptionsInForce, metadata={"description": meaning}, **more
    ),
    "player": uuid,
    "sandbox": lambda meaning, **more: nested(
        SandboxMark, metadata={"description": meaning}, **more
    ),
    "seat": integer,
    "seats": integers,
    "seat-cards": lambda meaning, **more: _by_seat(fields.List(fields.String()), meaning, **more),
    "seat-numbers": lambda meaning, **more: _by_seat(Integer(), meaning, **more),
    "text": text,
    "time": time,
    "turn": lambda meaning, **more: nested(TurnRef, metadata={"description": meaning}, **more),
}

_WHO_SEES = {
    "hidden": " Hidden until the game is over.",
    "own": " Until the game is over, only that seat sees it.",
    "by-seat": " Until the game is over, each seat sees its own only.",
}


def _data_field(field: Field) -> fields.Field[Any]:
    meaning = field.meaning + _WHO_SEES.get(field.visibility, "")
    required = field.required and field.visibility == PUBLIC
    if field.values:
        return open_text(meaning, field.values, required=required)
    return _KINDS[field.kind](meaning, required=required)


def component_name(event_type: str) -> str:
    """`card.played` → `CardPlayed`."""
    return "".join(part.capitalize() for part in event_type.replace(".", "-").split("-"))


def _variant(event_type: EventType) -> type[Answered]:
    name = component_name(event_type.type)
    data = type(
        f"{name}Data",
        (Answered,),
        {
            "__doc__": f"The data of `{event_type.type}`.",
            **{field.name: _data_field(field) for field in event_type.fields},
        },
    )
    return type(
        f"{name}Event",
        (Answered,),
        {
            "__doc__": event_type.meaning,
            **_envelope(),
            "type": text(
                "Its type.",
                required=True,
                validate=validate.OneOf((event_type.type,)),
            ),
            "data": nested(data, required=True),
        },
    )


def _envelope() -> dict[str, fields.Field[Any]]:
    return {
        "game_id": uuid("The game.", required=True),
        "version": integer("Counts from 1 in each game, without a gap.", required=True),
        "at": time("When it was recorded.", required=True),
        "by": nested(EventActor, required=True),
        "prev_hash": hash_("The hash of the event before; zeros for the first.", required=True),
        "hash": hash_(
            "SHA-256 of `prev_hash` and the whole event, hidden parts included.", required=True
        ),
    }


VARIANTS: dict[str, type[Answered]] = {
    name: _variant(event_type) for name, event_type in CATALOGUE.items()
}
"""The component of each type."""

OtherEvent = type(
    "OtherEvent",
    (Answered,),
    {
        "__doc__": "An event of a type that is newer than this document. Skip it.",
        **_envelope(),
        "type": text("Its type.", required=True),
        "data": fields.Dict(
            keys=fields.String(), required=True, metadata={"description": "Its data."}
        ),
    },
)


class ExportSigned(Answered):
    """The last line of an export: the game's last event, signed."""

    type = text("`export.signed`.", required=True, validate=validate.OneOf((SIGNED,)))
    game_id = uuid("The game.", required=True)
    version = integer("The last event's version.", required=True)
    hash = hash_("The last event's hash.", required=True)
    at = time("When the last event was recorded.", required=True)
    sandbox = boolean("True for a sandbox game; absent for others. It is signed too.")
    jws = text(
        "Compact JWS (EdDSA) over `{game_id, version, hash, at}`, and of a sandbox game `sandbox`.",
        required=True,
    )


class AnyEvent(fields.Field[Any]):
    """Any event; documented as the component `GameEvent`."""


class MadeMove(Answered):
    """A move that was made: its events, the game after them, and the receipt."""

    events = fields.List(
        AnyEvent(), required=True, metadata={"description": "The events that it led to."}
    )
    game = fields.Nested("Game", required=True)
    receipt = text(
        "Compact JWS (EdDSA) over `{game_id, version, hash, at, player_id}` of the event that is "
        "the move itself, with `sandbox`, true, in a sandbox game. Keep it: it proves the move, "
        "whatever becomes of the record.",
        required=True,
    )


class EventList(Answered):
    """A page of a game's history."""

    items = fields.List(AnyEvent(), required=True, metadata={"description": "Ascending versions."})
    next_cursor = text("More follows: the value for `after`.")
    head = nested(ChainHead, required=True)


MAX_PAGE = 1000
"""Events on a page, at most."""


class EventsQuery(GameQuery):
    """Which part of the history."""

    after = QueryInteger(
        load_default=0,
        validate=validate.Range(0, 2**31 - 1),
        metadata={"description": "Only events with a greater version."},
    )
    limit = QueryInteger(
        validate=validate.Range(1, MAX_PAGE),
        metadata={
            "description": "How many at most: 100 if not told, in NDJSON without end.",
        },
    )
    wait = wait("until there is an event after `after`; what comes then may be no event at all")
