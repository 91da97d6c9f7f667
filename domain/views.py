"""The game as a caller may see it. What is not put in here by name stays hidden."""

from __future__ import annotations

from typing import Any

from .redaction import Viewer
from .state import Game


def listed_moves(game: Game, seat: int) -> list[dict[str, Any]]:
    """The legal moves of `seat` now, choices grouped, each with the round and turn in it."""
    turn = game.turn
    if turn is None or turn.seat != seat:
        return []
    listed = game.rules.listed_moves(game, seat)
    for entry in listed:
        entry["move"] = {**entry["move"], "round": game.round, "turn": turn.number}
    return listed


def view(game: Game, viewer: Viewer) -> dict[str, Any]:
    """The game as `viewer` sees it: open cards for everyone, a hand for its seat, every hand once
    the game is over. Absent rather than null."""
    open_hands = viewer.everything or game.over
    shown: dict[str, Any] = {
        "game_id": game.game_id,
        "ruleset": game.ruleset,
        "ruleset_version": game.ruleset_version,
        "status": game.status,
        "version": game.version,
        "visibility": game.visibility,
        "options": game.options,
        "turn_seconds": game.turn_seconds,
        "max_seats": game.max_seats,
        "seats": [_seat_view(game, number, open_hands) for number in game.seats],
        "shuffle": {"commitment": game.commitment},
    }
    if game.spectator_delay_seconds:
        shown["spectator_delay_seconds"] = game.spectator_delay_seconds
    if game.deal is not None:
        shown |= {"sandbox": True, "deal": game.deal}
    if game.host is not None:
        shown["host"] = game.host
    if game.secret is not None:
        shown["shuffle"]["secret"] = game.secret
    if game.round:
        shown["round"] = {"number": game.round, "first": game.first}
        shown["table"] = game.rules.table_view(game)
    if game.turn is not None:
        shown["turn"] = _turn_view(game)
    if game.result is not None:
        shown["result"] = game.result
    if viewer.seat is not None and viewer.seat in game.seats:
        shown["you"] = _own_view(game, viewer.seat)
    return shown


def _seat_view(game: Game, number: int, open_hands: bool) -> dict[str, Any]:
    seat = game.seats[number]
    shown: dict[str, Any] = {"seat": number, "status": seat_status(game, number)}
    if seat.player_id is not None:
        shown["player"] = {"player_id": seat.player_id}
    else:
        shown["bot"] = seat.bot
    if game.round:
        shown["score"] = game.scores[number]
        shown["hand_size"] = game.rules.hand_count(game, number)
        if open_hands:
            shown["hand"] = game.rules.hand(game, number)
    return shown


def seat_status(game: Game, number: int) -> str:
    """`seated` or `ready` before the start, `active`, `away` or `resigned` after it."""
    if not game.started:
        return "ready" if game.seats[number].ready else "seated"
    if number not in game.active:
        return "resigned"
    return "away" if number in game.away else "active"


def _turn_view(game: Game) -> dict[str, Any]:
    turn = game.turn
    assert turn is not None
    shown: dict[str, Any] = {"seat": turn.seat, "number": turn.number}
    if game.due_at is not None:
        shown["due_at"] = game.due_at
    return shown | game.rules.turn_view(game)


def _own_view(game: Game, seat: int) -> dict[str, Any]:
    shown: dict[str, Any] = {"seat": seat}
    if game.round:
        shown["hand"] = game.rules.hand(game, seat)
        shown["legal_moves"] = listed_moves(game, seat)
        shown |= game.rules.own_view(game, seat)
    return shown
