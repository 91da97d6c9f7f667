"""Games and events as a caller sees them: the domain's views, with names, times and the head."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from domain import redaction, times
from domain.events import Recorded
from domain.game import Game, view
from domain.redaction import Viewer

from .services import services


def game(
    game: Game, viewer: Viewer, *, now: str, head_hash: str, rematch: str | None = None
) -> dict[str, Any]:
    """The game as `viewer` sees it at the time `now`."""
    shown = view(game, viewer)
    _name_players(shown["seats"])
    turn = shown.get("turn")
    if turn is not None:
        left = times.to_micros(turn["due_at"]) - times.to_micros(now)
        turn["remaining_ms"] = max(0, left // 1000)
    if game.sandbox:
        shown["clock"] = {"now": now, "ahead_ms": game.ahead_ms}
    shown["head"] = {"version": game.version, "hash": head_hash}
    if rematch is not None:
        shown["rematch"] = rematch
    return shown


def events(recorded: Iterable[Recorded], viewer: Viewer, over: bool) -> list[dict[str, Any]]:
    """The events as `viewer` sees them; there is no other way for an event to leave."""
    return [redaction.redact(event, viewer, over) for event in recorded]


def _name_players(seats: list[dict[str, Any]]) -> None:
    players = [seat["player"] for seat in seats if "player" in seat]
    if not players:
        return
    names = services().players.names([player["player_id"] for player in players])
    for player in players:
        if player["player_id"] in names:
            player["name"] = names[player["player_id"]]
