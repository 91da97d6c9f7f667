"""What was asked for: the command that a recorded event answers."""

from __future__ import annotations

from collections.abc import Sequence

from ..commands import (
    AdvanceClock,
    BotMove,
    ChangeSeat,
    ChangeTable,
    CloseTable,
    ComeBack,
    Command,
    CreateGame,
    ExpireTurn,
    ExtendTurn,
    LeaveSeat,
    MakeMove,
    RemoveSeat,
    Resign,
    SeatBot,
    StartGame,
    TakeSeat,
)
from ..events import Recorded
from ..ruleset import Move
from ..state import Game


def command_behind(game: Game, events: Sequence[Recorded], index: int) -> Command | None:
    """The command that `events[index]` is the first answer to, in the position `game`; None if
    there is none that could be. It is for the referee to say whether it was allowed."""
    event = events[index]
    kind = event.by.get("kind")
    if kind == "clock":
        return _by_clock(game, event)
    if kind == "bot":
        move, turn = _move(game, events, index), game.turn
        if move is None or turn is None:
            return None
        return BotMove(event.by["seat"], move, game.round, turn.number)
    if kind == "player":
        return _by_player(game, events, index)
    return None


def creation(events: Sequence[Recorded]) -> CreateGame:
    """The command that the first two events answer: a table is opened, its host sits down."""
    created, seated = events[0].data, events[1].data if len(events) > 1 else {}
    # A seat that the table does not have is found where it was taken.
    seat = seated.get("seat")
    host = seat if type(seat) is int and 0 <= seat < created["max_seats"] else 0
    return CreateGame(
        events[0].by["player_id"],
        created["ruleset_version"],
        dict(created["options"]),
        created["turn_seconds"],
        created["max_seats"],
        created["visibility"],
        host,
        created.get("spectator_delay_seconds", 0),
        created["sandbox"]["deal"] if "sandbox" in created else None,
    )


def _by_clock(game: Game, event: Recorded) -> Command | None:
    turn = game.turn
    if turn is None:
        # All leave at once; how long an operator lets a table wait is in no record.
        return CloseTable(game.version) if event.type == "seat.left" else None
    if event.type == "turn.expired":
        return ExpireTurn(game.round, turn.number)
    if event.type == "turn.extended":
        seconds = event.data["seconds"]
        if type(seconds) is int and seconds > 0:
            return ExtendTurn(game.round, turn.number, seconds)
    return None


def _by_player(game: Game, events: Sequence[Recorded], index: int) -> Command | None:
    event = events[index]
    player, data = event.by["player_id"], event.data
    if not isinstance(player, str):
        return None
    match event.type:
        case "seat.taken":
            kept = _passed_over(game, data["seat"])
            if "bot" in data:
                return SeatBot(player, data["bot"], kept)
            return TakeSeat(player, data.get("client_seed"), kept)
        case "seat.seeded":
            return ChangeSeat(player, client_seed=data["client_seed"])
        case "seat.ready":
            return ChangeSeat(player, ready=True)
        case "seat.left":
            if game.seat_of(player) == data["seat"]:
                return LeaveSeat(player)
            return RemoveSeat(player, data["seat"])
        case "table.changed":
            return ChangeTable(
                player,
                data.get("options"),
                data.get("turn_seconds"),
                data.get("max_seats"),
                data.get("spectator_delay_seconds"),
            )
        case "game.started":
            return StartGame(player)
        case "clock.advanced":
            return AdvanceClock(player, data["ahead_ms"], data["until_ms"])
        case "seat.resigned":
            return Resign(player)
        case "seat.back":
            # An exclamation that comes with it is judged by itself, to the same effect.
            return ComeBack(player)
    move = _move(game, events, index)
    return None if move is None else MakeMove(player, move)


def _passed_over(game: Game, seat: int) -> dict[str, int]:
    """Lower free seats, as kept for others: the record of a rematch does not say for whom."""
    free = (other for other in range(seat) if other not in game.seats)
    return {f"kept-{other}": other for other in free}


def _move(game: Game, events: Sequence[Recorded], index: int) -> Move | None:
    """The move that begins at `index`. What was shuffled for it comes before it."""
    first = events[index]
    for event in events[index:]:
        if event.by != first.by or event.at != first.at:
            break
        move = game.rules.move_of(event)
        if move is not None:
            return move
        if event.type != "pile.reshuffled":
            break
    if first.type != "pile.reshuffled" or game.turn is None:
        return None
    # What was shuffled for is not there; a move that shuffles is one that names no card.
    legal = game.rules.legal_moves(game, game.turn.seat)
    return next((move for move in legal if set(move) == {"type"}), None)
