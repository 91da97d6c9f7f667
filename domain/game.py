"""The whole domain in a few functions: decide, evolve, legal moves, views.

A game is a position (`Game`) folded from events. `evolve` changes the position in place, as a
chess board is pushed; `decide` works on a copy and leaves the position it was given alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from . import commands, evolution, lobby, play, sandbox
from .commands import Command, Context
from .events import Event
from .evolution import AnyEvent
from .explaining import Explanation, explain
from .play import bind, lands_once, push, pusher, require_time
from .refusals import Refused
from .registry import pinned
from .ruleset import Ruleset
from .state import Game, Seat, Turn
from .unfolding import Unfolding
from .views import listed_moves, view

__all__ = [
    "Context",
    "Decision",
    "Event",
    "Explanation",
    "Game",
    "Refused",
    "Seat",
    "Turn",
    "bind",
    "decide",
    "differences",
    "evolve",
    "explain",
    "fold",
    "fold_round",
    "follow",
    "lands_once",
    "legal_moves",
    "listed_moves",
    "new_game",
    "overdue",
    "push",
    "pusher",
    "require_time",
    "view",
]


class Decision(NamedTuple):
    """The events that a command leads to, none if it asks for what is so already, and the game
    after them; call `game.stamp(at)` with the time of their append."""

    events: list[Event]
    game: Game


def new_game(game_id: str) -> Game:
    """A game before its first event."""
    return Game(game_id)


def evolve(game: Game, event: AnyEvent) -> Game:
    """Apply `event`, the one after `game.version`, to `game` in place and return it.

    ValueError for an event out of order, or of a type or ruleset that is not known.
    """
    if not game.version:
        game.rules = _rules_of(event)
    return evolution.evolve(game, event)


def _rules_of(event: AnyEvent) -> Ruleset:
    name = str(event.data.get("ruleset_version"))
    try:
        return pinned(name)
    except KeyError:
        raise ValueError(f"no ruleset {name!r}, or not a record's first event") from None


def fold(game_id: str, events: Iterable[AnyEvent]) -> Game:
    """The game that `events`, in order from version 1, lead to."""
    return follow(Game(game_id), events)


def follow(game: Game, events: Iterable[AnyEvent]) -> Game:
    """`game` itself after `events`, which follow it in order. ValueError as `evolve`."""
    following = iter(events)
    if not game.version:
        # The rules are known from the first event on.
        for first in following:
            evolve(game, first)
            return evolution.follow(game, following)
    return evolution.follow(game, following) if game.version else game


def fold_round(game_id: str, events: Iterable[AnyEvent]) -> Game:
    """The same from the events up to `game.started` and those from a later `round.dealt` on, which
    names all that outlives a round.

    Only `ran_out` then lacks the rounds before, which `known_from` tells. ValueError as `evolve`.
    """
    game, following = Game(game_id), iter(events)
    for event in following:
        if game.started and not game.round and event.type == "round.dealt":
            game.version = max(game.version, event.version - 1)
            game.known_from = event.data["round"]
            return follow(evolve(game, event), following)
        evolve(game, event)
    return game


def differences(one: Game, other: Game) -> list[str]:
    """The names of what differs between two positions, of what both of them know."""
    since = max(one.known_from, other.known_from)
    names = []
    for name in Game.__slots__:
        if name in ("known_from", "play", "ran_out"):
            continue
        if getattr(one, name, None) != getattr(other, name, None):
            names.append(name)
    if _ran_out_since(one, since) != _ran_out_since(other, since):
        names.append("ran_out")
    if one.round and other.round:
        names += [
            f"play.{name}"
            for name in type(one.play).__slots__
            if not name.startswith("_")
            and getattr(one.play, name) != getattr(other.play, name, None)
        ]
    return names


def _ran_out_since(game: Game, since: int) -> dict[int, set[tuple[int, int]]]:
    later = {
        seat: {(number, turn) for number, turn in turns if number >= since}
        for seat, turns in game.ran_out.items()
    }
    return {seat: turns for seat, turns in later.items() if turns}


_DECIDERS: dict[type, Callable[[Game, Any, Context], Unfolding]] = {
    commands.CreateGame: lobby.create_game,
    commands.TakeSeat: lobby.take_seat,
    commands.SeatBot: lobby.seat_bot,
    commands.ChangeSeat: lobby.change_seat,
    commands.LeaveSeat: lobby.leave_seat,
    commands.RemoveSeat: lobby.remove_seat,
    commands.ChangeTable: lobby.change_table,
    commands.StartGame: lobby.start_game,
    commands.CloseTable: lobby.close_table,
    commands.MakeMove: play.make_move,
    commands.BotMove: play.make_bot_move,
    commands.Resign: play.resign,
    commands.ComeBack: play.come_back,
    commands.ExpireTurn: play.expire_turn,
    commands.ExtendTurn: play.extend_turn,
    commands.AdvanceClock: sandbox.advance_clock,
}


def decide(game: Game, command: Command, context: Context) -> Decision:
    """What `command` leads to in this position. `Refused` if the rules do not allow it."""
    unfolding = _DECIDERS[type(command)](game, command, context)
    return Decision(unfolding.events, unfolding.game)


def legal_moves(game: Game, seat: int) -> Sequence[dict[str, Any]]:
    """The canonical list of legal moves of `seat`: sorted by JCS bytes, fully specified, without
    calls and exclamations; empty when it is not that seat's turn."""
    if game.turn is None or game.turn.seat != seat:
        return []
    return game.rules.legal_moves(game, seat)


def overdue(game: Game, now: str) -> bool:
    """Whether the running turn was due before `now`; a move exactly at the due time counts."""
    due = game.due_at
    return due is not None and now > due
