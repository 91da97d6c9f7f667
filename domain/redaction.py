"""The one exit through which events leave: hidden unless listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .events import BY_SEAT, CATALOGUE, OWN, PUBLIC, Recorded

_BY_FIELDS = ("kind", "seat", "player_id")


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks: a seat, a spectator (no seat), or an auditor who may see everything."""

    seat: int | None = None
    everything: bool = False


SPECTATOR = Viewer()
EVERYTHING = Viewer(everything=True)


def redact(event: Recorded, viewer: Viewer, over: bool) -> dict[str, Any]:
    """`event` as `viewer` may see it; all of it once the game is over.

    A type or field that the catalogue does not list is not shown while the game runs.
    """
    shown: dict[str, Any] = {
        "game_id": event.game_id,
        "version": event.version,
        "type": event.type,
        "at": event.at,
        "by": {name: event.by[name] for name in _BY_FIELDS if name in event.by},
        "data": event.data if over or viewer.everything else _visible_data(event, viewer.seat),
        "prev_hash": event.prev_hash,
        "hash": event.hash,
    }
    return shown


def _visible_data(event: Recorded, seat: int | None) -> dict[str, Any]:
    listed = CATALOGUE.get(event.type)
    if listed is None:
        return {}
    shown: dict[str, Any] = {}
    for field in listed.fields:
        if field.name not in event.data:
            continue
        value = event.data[field.name]
        if field.visibility == PUBLIC or (
            field.visibility == OWN and seat is not None and seat == event.data.get("seat")
        ):
            shown[field.name] = value
        elif field.visibility == BY_SEAT and seat is not None and str(seat) in value:
            shown[field.name] = {str(seat): value[str(seat)]}
    return shown
