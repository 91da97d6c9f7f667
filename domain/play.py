"""Play: moves, expired turns, seats that are away, and resignations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import randomness
from .commands import BotMove, ComeBack, Context, ExpireTurn, ExtendTurn, MakeMove, Resign
from .refusals import (
    FORBIDDEN,
    GAME_NOT_ACTIVE,
    NOT_YOUR_TURN,
    STALE_TURN,
    TURN_EXPIRED,
    Refused,
)
from .rounds import pass_turn, win_match
from .ruleset import Move
from .state import ACTIVE, Game, Turn
from .unfolding import Push, Unfolding


def make_move(game: Game, command: MakeMove, context: Context) -> Unfolding:
    """Judge and record a player's move and all that follows from it."""
    seat = _playing_seat(game, command.player_id)
    move = command.move
    game.rules.check_shape(move)
    _require_active(game, seat)
    _require_named_turn(game, seat, command)
    turn = _running(game)
    free = move["type"] in game.rules.free_moves
    if not free and seat != turn.seat:
        raise _out_of_turn(game, seat, turn, named=command.turn is not None)
    unfolding = Unfolding(game, context, by_player(game, seat))
    if seat in game.away:
        unfolding.record("seat.back", {"seat": seat})
    _play(unfolding, seat, move)
    return unfolding


def require_time(game: Game, command: MakeMove, now: str) -> None:
    """Refuse a move of the running turn that `now` comes too late, as the append would."""
    due, turn = game.due_at, game.turn
    if due is None or turn is None or now <= due:
        return
    if turn.seat == game.seat_of(command.player_id):
        raise _too_late({"due_at": due, "received_at": now})


def push(game: Game, move: Move, context: Context) -> None:
    """Play `move` for the seat whose turn it is, with all that follows from it, on `game` itself.

    For searching and simulating: `move` must have the shape of a move, and a move that is not
    legal raises `Refused` and changes nothing. No events are kept.
    """
    pusher(game, context)(move)


def pusher(game: Game, context: Context) -> Callable[[Move], None]:
    """`push` for one move of `game` after the other."""
    pushing, performers = Push(game, context), game.rules.performers

    def push_next(move: Move) -> None:
        turn = game.turn
        assert turn is not None
        performers[move["type"]](pushing, turn.seat, move)
        if game.away:
            _settle(pushing)

    return push_next


def bind(game: Game, command: MakeMove) -> MakeMove:
    """`command` tied to the turn that it found on its first look, if that is its player's.

    A move that lost a race is judged again on a later position; so tied it cannot land on another
    turn than its own, nor twice in one (table.turn-named).
    """
    seat = game.seat_of(command.player_id)
    turn = game.turn
    if command.touched is not None or turn is None or seat is None:
        return command
    if command.move.get("type") in game.rules.free_moves:
        return replace(command, touched=game.spoke.get(seat, 0))
    if seat != turn.seat:
        return command
    return replace(
        command,
        round=game.round if command.round is None else command.round,
        turn=turn.number if command.turn is None else command.turn,
        touched=game.touched,
    )


def lands_once(game: Game, command: MakeMove) -> bool:
    """Whether of two equal copies of `command` at most one can count, even if the second is judged
    without `bind`: it names its turn, and nobody can make such a move twice in one."""
    named = command.round is not None and command.turn is not None
    return named and not game.rules.may_repeat(game, command.move)


def make_bot_move(game: Game, command: BotMove, context: Context) -> Unfolding:
    """A computer player's move; nothing happens if the turn it was chosen for is over."""
    unfolding = Unfolding(game, context, {"kind": "bot", "seat": command.seat})
    turn = game.turn
    if turn is None or (game.round, turn.number) != (command.round, command.turn):
        return unfolding
    if turn.seat != command.seat or game.seats[turn.seat].bot is None:
        return unfolding
    game.rules.check_shape(command.move)
    _play(unfolding, command.seat, command.move)
    return unfolding


def expire_turn(game: Game, command: ExpireTurn, context: Context) -> Unfolding:
    """Record that the turn's time ran out, and play it for the seat (table.auto-pick)."""
    turn = game.turn
    if turn is None or (game.round, turn.number) != (command.round, command.turn):
        return Unfolding(game, context, {})
    seat = turn.seat
    unfolding = Unfolding(game, context, _by_clock(seat))
    unfolding.record("turn.expired", {"seat": seat, "due_at": game.due_at})
    if seat not in game.away and unfolding.game.expired[seat] >= game.options["away_after"]:
        unfolding.record("seat.away", {"seat": seat})
        if _abandon_if_nobody_is_left(unfolding):
            return unfolding
    _play_turn_out(unfolding)
    _settle(unfolding)
    return unfolding


def extend_turn(game: Game, command: ExtendTurn, context: Context) -> Unfolding:
    """The turn gets time back that an outage of the service took from it (table.turn-timer)."""
    turn = game.turn
    if turn is None or (game.round, turn.number) != (command.round, command.turn):
        return Unfolding(game, context, {})
    unfolding = Unfolding(game, context, _by_clock(turn.seat))
    given = {"seat": turn.seat, "seconds": command.seconds, "reason": "outage"}
    unfolding.record("turn.extended", given)
    return unfolding


def resign(game: Game, command: Resign, context: Context) -> Unfolding:
    """A seat leaves the match for good (table.resigning); resigning again changes nothing."""
    seat = game.seat_of(command.player_id)
    if seat is None:
        raise Refused(FORBIDDEN, "You hold no seat in this game.")
    unfolding = Unfolding(game, context, by_player(game, seat))
    if seat in game.resigned:
        return unfolding
    _require_active(game, seat)
    turn = _running(game)
    unfolding.record("seat.resigned", {"seat": seat})
    left = unfolding.game.active
    if len(left) == 1:
        win_match(unfolding, left[0], "resignations")
        return unfolding
    if _abandon_if_nobody_is_left(unfolding):
        return unfolding
    game.rules.after_resignation(unfolding, seat)
    if seat == turn.seat:
        pass_turn(unfolding, unfolding.game.next_active(seat))
        _settle(unfolding)
    return unfolding


def come_back(game: Game, command: ComeBack, context: Context) -> Unfolding:
    """A seat is no longer away (table.back); a seat that is not away changes nothing."""
    seat = _playing_seat(game, command.player_id)
    unfolding = Unfolding(game, context, by_player(game, seat))
    _require_active(game, seat)
    if seat in game.away:
        unfolding.record("seat.back", {"seat": seat})
    return unfolding


def by_player(game: Game, seat: int) -> dict[str, Any]:
    """`by` of what the player in `seat` does."""
    return {"kind": "player", "seat": seat, "player_id": game.seats[seat].player_id}


def _by_clock(seat: int) -> dict[str, Any]:
    return {"kind": "clock", "seat": seat}


def _playing_seat(game: Game, player_id: str) -> int:
    seat = game.seat_of(player_id)
    if seat is None:
        raise Refused(FORBIDDEN, "You hold no seat in this game.")
    if seat in game.resigned:
        raise Refused(FORBIDDEN, "You have resigned from this game.", rule="table.resigning")
    return seat


def _running(game: Game) -> Turn:
    assert game.turn is not None
    return game.turn


def _require_active(game: Game, seat: int) -> None:
    if game.status != ACTIVE:
        raise Refused(
            GAME_NOT_ACTIVE,
            "The match has not begun yet." if game.status == "lobby" else "The match is over.",
            rule="table.over",
            facts={"status": game.status},
        )


def _require_named_turn(game: Game, seat: int, command: MakeMove) -> None:
    turn = _running(game)
    round_number = game.round if command.round is None else command.round
    number = turn.number if command.turn is None else command.turn
    free = command.move["type"] in game.rules.free_moves
    mark = game.spoke.get(seat, 0) if free else game.touched
    touched = mark if command.touched is None else command.touched
    if (round_number, number) == (game.round, turn.number) and touched == mark:
        return
    facts = {
        "named": {"round": round_number, "turn": number},
        "running": {"round": game.round, "turn": turn.number, "seat": turn.seat},
    }
    if (round_number, number) in game.ran_out.get(seat, ()):
        raise _too_late(facts)
    raise Refused(
        STALE_TURN,
        "The turn that this move was meant for is not the one that runs.",
        rule="table.turn-named",
        facts=facts,
    )


def _out_of_turn(game: Game, seat: int, turn: Turn, *, named: bool) -> Refused:
    """What a seat is told that moves when it is another's turn. A move that names no turn and
    comes after the seat's own ran out is late, whoever was first to find that it had."""
    facts = {"seat": seat, "turn": {"seat": turn.seat, "number": turn.number}}
    if not named and game.expired[seat]:
        return _too_late(facts)
    return Refused(
        NOT_YOUR_TURN,
        "It is the turn of seat {turn[seat]}, not yours.",
        rule="table.turn-order",
        facts=facts,
    )


def _too_late(facts: dict[str, Any]) -> Refused:
    return Refused(
        TURN_EXPIRED,
        "The time of your turn had run out, and it was played for you.",
        rule="table.turn-timer",
        facts=facts,
    )


def _play(unfolding: Unfolding, seat: int, move: Move) -> None:
    game = unfolding.game
    game.rules.performers[move["type"]](unfolding, seat, move)
    if game.away:
        _settle(unfolding)


def _play_turn_out(unfolding: Unfolding) -> None:
    """Pick legal moves for the running turn until it has passed on."""
    game = unfolding.game
    turn = _running(game)
    seat, meant = turn.seat, (game.round, turn.number)
    while game.turn is not None and (game.round, game.turn.number) == meant:
        choices = game.rules.legal_moves(game, seat)
        pick = unfolding.chance(randomness.AUTO_PICK, n=game.version).below(len(choices))
        move = game.rules.with_due_call(game, seat, choices[pick])
        game.rules.performers[move["type"]](unfolding, seat, move)


def _settle(unfolding: Unfolding) -> None:
    """Play the turns of seats that are away, until someone else's turn begins or the end."""
    game = unfolding.game
    while game.turn is not None and game.turn.seat in game.away:
        unfolding.by = _by_clock(game.turn.seat)
        _play_turn_out(unfolding)


def _abandon_if_nobody_is_left(unfolding: Unfolding) -> bool:
    game = unfolding.game
    if any(game.seats[seat].bot is None and seat not in game.away for seat in game.active):
        return False
    unfolding.record_end("game.abandoned", {"reason": "no-players"})
    return True
