"""evolve: what each event of the table does to the state. It judges nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Any

from .events import Event, Recorded
from .ruleset import Evolver
from .state import ABANDONED, ACTIVE, CANCELLED, FINISHED, Game, Seat, Turn

AnyEvent = Event | Recorded
Data = Mapping[str, Any]
"""An event's data."""
By = Mapping[str, Any]
"""Whose doing an event is."""


def evolve(game: Game, event: AnyEvent) -> Game:
    """Apply `event`, the one after `game.version`, to `game` in place and return it.

    `game.rules` are set already, for the first event too. ValueError for an event out of order
    or of a type that the game's rules do not know.
    """
    return follow(game, (event,))


def follow(game: Game, events: Iterable[AnyEvent]) -> Game:
    """`evolve` for one event after the other."""
    version, evolvers = game.version, game.rules.evolvers
    for event in events:
        type_, data = event.type, event.data
        if event.version != version + 1:
            raise ValueError(f"event {event.version} does not follow version {version}")
        version += 1
        if (version == 1) != (type_ == "game.created"):
            raise ValueError(f"a record begins with game.created, not with {type_}")
        evolver = evolvers.get(type_)
        if evolver is None:
            raise ValueError(f"{game.ruleset_version} knows no event {type_}")
        game.version = version
        evolver(game, data, event.by)
        if "turn" in data:
            turn = data["turn"]
            begin_turn(game, turn["seat"], turn["number"], event.at)
    return game


def begin_turn(game: Game, seat: int, number: int, at: str) -> None:
    """The running turn, if any, is over, and the turn `number` of `seat` begins at `at`."""
    turn = game.turn
    if turn is not None and game.expired[turn.seat]:
        _end_turn(game)
    game.turn = Turn(seat, number, at) if at else _unstamped_turn(seat, number)
    game.touched = game.version
    game.play.begin_turn(seat)


# A search begins the same few turns over and over.
_unstamped_turn = lru_cache(maxsize=1 << 12)(partial(Turn, at=""))


def _end_turn(game: Game) -> None:
    turn = game.turn
    if turn is not None and game.expired[turn.seat] and not turn.expired:
        game.expired = {**game.expired, turn.seat: 0}
    game.turn = None


def _running(game: Game) -> Turn:
    assert game.turn is not None
    return game.turn


def _created(game: Game, data: Data, by: By) -> None:
    game.ruleset = data["ruleset"]
    game.ruleset_version = data["ruleset_version"]
    game.options = dict(data["options"])
    game.turn_seconds = data["turn_seconds"]
    game.max_seats = data["max_seats"]
    game.visibility = data["visibility"]
    game.spectator_delay_seconds = data.get("spectator_delay_seconds", 0)
    game.commitment = data["commitment"]
    if "sandbox" in data:
        game.deal = data["sandbox"]["deal"]


def _seat_taken(game: Game, data: Data, by: By) -> None:
    seat = Seat(data.get("player_id"), data.get("bot"), data.get("client_seed"))
    game.seats = dict(sorted({**game.seats, data["seat"]: seat}.items()))
    if seat.player_id is not None:
        game.sat = game.sat | {seat.player_id}
    if game.host is None:
        game.host = data["seat"]


def _seat_seeded(game: Game, data: Data, by: By) -> None:
    number = data["seat"]
    seat = game.seats[number]
    seeded = Seat(seat.player_id, seat.bot, data["client_seed"], seat.ready)
    game.seats = {**game.seats, number: seeded}


def _with_ready(seat: Seat, ready: bool) -> Seat:
    return Seat(seat.player_id, seat.bot, seat.client_seed, ready)


def _seat_ready(game: Game, data: Data, by: By) -> None:
    number = data["seat"]
    game.seats = {**game.seats, number: _with_ready(game.seats[number], True)}


def _seat_left(game: Game, data: Data, by: By) -> None:
    number = data["seat"]
    gone = game.seats[number]
    game.seats = {other: seat for other, seat in game.seats.items() if other != number}
    if gone.player_id is not None and gone.player_id != by.get("player_id"):
        game.removed = game.removed | {gone.player_id}
    if number == game.host:
        game.host = data.get("host")


def _table_changed(game: Game, data: Data, by: By) -> None:
    if "options" in data:
        game.options = dict(data["options"])
    game.turn_seconds = data.get("turn_seconds", game.turn_seconds)
    game.max_seats = data.get("max_seats", game.max_seats)
    delay = data.get("spectator_delay_seconds", game.spectator_delay_seconds)
    game.spectator_delay_seconds = delay
    game.seats = {
        number: _with_ready(seat, seat.bot is not None or number == game.host)
        for number, seat in game.seats.items()
    }


def _game_started(game: Game, data: Data, by: By) -> None:
    game.status = ACTIVE
    game.started = tuple(data["seats"])
    game.set_active(game.started)
    game.scores = dict.fromkeys(game.started, 0)
    game.expired = dict.fromkeys(game.started, 0)


def _by_number(numbers: dict[str, int]) -> dict[int, int]:
    return {int(seat): number for seat, number in numbers.items()}


def _round_dealt(game: Game, data: Data, by: By) -> None:
    game.round = data["round"]
    game.first = data["first"]
    game.opener = data.get("dealer", data["first"])
    game.scores = _by_number(data["scores"])
    game.set_active(tuple(data["active"]))
    game.away = frozenset(data["away"])
    game.expired = _by_number(data["expired"])
    game.voids = data["voids"]
    game.ahead_ms = data.get("ahead_ms", 0)
    game.spoke = {}
    game.play = game.rules.dealt(game, data)


def _round_won(game: Game, data: Data, by: By) -> None:
    _end_turn(game)
    game.scores = _by_number(data["scores"])
    game.voids = 0


def _round_void(game: Game, data: Data, by: By) -> None:
    _end_turn(game)
    game.voids += 1


def _turn_expired(game: Game, data: Data, by: By) -> None:
    turn = _running(game)
    game.turn = Turn(turn.seat, turn.number, turn.at, turn.extended, True)
    game.expired = {**game.expired, turn.seat: game.expired[turn.seat] + 1}
    before = game.ran_out.get(turn.seat, frozenset())
    game.ran_out = {**game.ran_out, turn.seat: before | {(game.round, turn.number)}}
    game.touched = game.version


def _turn_extended(game: Game, data: Data, by: By) -> None:
    turn = _running(game)
    extended = turn.extended + data["seconds"]
    game.turn = Turn(turn.seat, turn.number, turn.at, extended, turn.expired)


def _clock_advanced(game: Game, data: Data, by: By) -> None:
    assert game.deal is not None
    game.ahead_ms = data["ahead_ms"]


def _seat_away(game: Game, data: Data, by: By) -> None:
    game.away = game.away | {data["seat"]}


def _seat_back(game: Game, data: Data, by: By) -> None:
    seat = data["seat"]
    game.away = game.away - {seat}
    game.expired = {**game.expired, seat: 0}


def _seat_resigned(game: Game, data: Data, by: By) -> None:
    seat = data["seat"]
    game.set_active(tuple(other for other in game.active if other != seat))
    game.away = game.away - {seat}
    game.rules.seat_resigned(game, seat)


def _ended(status: str, outcome: str) -> Evolver:
    def evolver(game: Game, data: Data, by: By) -> None:
        game.turn = None
        game.status = status
        game.secret = data.get("secret")
        result: dict[str, Any] = {"outcome": outcome, "reason": data["reason"]}
        if "seat" in data:
            result["winner"] = data["seat"]
        if game.started:
            result["scores"] = {str(seat): score for seat, score in game.scores.items()}
        game.result = result

    return evolver


ENDINGS: dict[str, tuple[str, str]] = {
    "game.won": (FINISHED, "won"),
    "game.drawn": (FINISHED, "drawn"),
    "game.abandoned": (ABANDONED, "abandoned"),
    "game.cancelled": (CANCELLED, "cancelled"),
}
"""The events that end a game, each the last of its game: the status then, and the outcome."""

TABLE_EVOLVERS: dict[str, Evolver] = {
    "game.created": _created,
    "seat.taken": _seat_taken,
    "seat.seeded": _seat_seeded,
    "seat.ready": _seat_ready,
    "seat.left": _seat_left,
    "table.changed": _table_changed,
    "game.started": _game_started,
    "round.dealt": _round_dealt,
    "round.won": _round_won,
    "round.void": _round_void,
    "turn.expired": _turn_expired,
    "turn.extended": _turn_extended,
    "clock.advanced": _clock_advanced,
    "seat.away": _seat_away,
    "seat.back": _seat_back,
    "seat.resigned": _seat_resigned,
    **{ending: _ended(*ended) for ending, ended in ENDINGS.items()},
}
