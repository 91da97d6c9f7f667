"""What a finished match was for each of its players."""

from __future__ import annotations

from typing import Literal, NamedTuple

from .state import ABANDONED, FINISHED, Game

Outcome = Literal["won", "drawn", "lost", "resigned", "abandoned"]


class PlayerResult(NamedTuple):
    """A player's match, over. Whoever resigned has resigned, however it ended for the others."""

    player_id: str
    outcome: Outcome


def results(game: Game) -> list[PlayerResult]:
    """One result for each player, bots excepted; none while the game runs, nor for a table that was
    closed before its start."""
    if game.status not in (FINISHED, ABANDONED):
        return []
    assert game.result is not None
    found = []
    for number in game.started:
        player_id = game.seats[number].player_id
        if player_id is not None:
            found.append(PlayerResult(player_id, _outcome(game, number)))
    return found


def _outcome(game: Game, seat: int) -> Outcome:
    assert game.result is not None
    if seat not in game.active:
        return "resigned"
    if game.status == ABANDONED:
        return "abandoned"
    if game.result["outcome"] == "drawn":
        return "drawn"
    return "won" if game.result.get("winner") == seat else "lost"
