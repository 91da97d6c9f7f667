"""Games that a seat may be in: folded from events, like any game, that agree with its view.

What outlives the round is set so that the match ends with the round: that is how far a bot thinks.
"""

from __future__ import annotations

from typing import Any

from ..events import Event
from ..evolution import evolve
from ..registry import get
from ..rounds import VOID_ROUNDS
from ..state import Game
from .choices import View

_BY = {"kind": "bot", "seat": 0}


def happen(game: Game, type_: str, data: dict[str, Any]) -> None:
    """Fold `data` into `game` as its next event."""
    evolve(game, Event(game.version + 1, type_, _BY, data))


def started(view: View) -> Game:
    """The table of the view with its match begun and nothing dealt yet."""
    game = Game(view["game_id"])
    game.rules = get(view["ruleset_version"])
    created = {
        "ruleset": view["ruleset"],
        "ruleset_version": view["ruleset_version"],
        "options": {**view["options"], "rounds_to_win": 1},
        "turn_seconds": view["turn_seconds"],
        "max_seats": view["max_seats"],
        "visibility": view["visibility"],
        "commitment": view["shuffle"]["commitment"],
    }
    happen(game, "game.created", created)
    seats = [seat["seat"] for seat in view["seats"]]
    for seat in seats:
        happen(game, "seat.taken", {"seat": seat, "bot": "wise"})
    happen(game, "game.started", {"seats": seats})
    return game


def active(view: View) -> list[int]:
    """The seats still in the match."""
    return [seat["seat"] for seat in view["seats"] if seat["status"] in ("active", "away")]


def others(view: View) -> list[tuple[int, int]]:
    """The other seats still in the match, each with the size of its hand."""
    sizes = {seat["seat"]: seat["hand_size"] for seat in view["seats"]}
    return [(seat, sizes[seat]) for seat in active(view) if seat != view["you"]["seat"]]


def dealing(view: View) -> dict[str, Any]:
    """The `round.dealt` of the view's round, but for the cards and the turn. The last void round
    that a match can have is about to be played."""
    seats = [seat["seat"] for seat in view["seats"]]
    return {
        "round": view["round"]["number"],
        "first": view["round"]["first"],
        "scores": {str(seat): 0 for seat in seats},
        "active": active(view),
        "away": [],
        "expired": {str(seat): 0 for seat in seats},
        "voids": VOID_ROUNDS - 1,
    }


def turn(view: View) -> dict[str, int]:
    """The running turn, as the event that began it says it."""
    return {"seat": view["turn"]["seat"], "number": view["turn"]["number"]}
