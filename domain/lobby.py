"""The lobby: opening a table, sitting down, getting ready, leaving, and the start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from . import randomness, registry, sandbox
from .bots import BOTS
from .commands import (
    ChangeSeat,
    ChangeTable,
    CloseTable,
    Context,
    CreateGame,
    LeaveSeat,
    RemoveSeat,
    SeatBot,
    StartGame,
    TakeSeat,
)
from .play import by_player
from .refusals import (
    ALREADY_SEATED,
    FORBIDDEN,
    NOT_ENOUGH_SEATS,
    NOT_IN_LOBBY,
    NOT_READY,
    TABLE_FULL,
    VALIDATION,
    Refused,
    fault,
    invalid,
)
from .registry import RULESETS
from .rounds import deal_round
from .ruleset import Ruleset
from .state import ACTIVE, LOBBY, Game
from .unfolding import Unfolding
from .wording import joined

TURN_SECONDS = (3, 14 * 24 * 3600)
"""The shortest and the longest turn, in seconds (table.turn-timer)."""

SPECTATOR_DELAY_SECONDS = (0, 3600)
"""By how much later spectators may see a match at least and at most, in seconds."""

_SEED = re.compile(r"(?:[0-9a-f]{2}){1,32}")


def create_game(game: Game, command: CreateGame, context: Context) -> Unfolding:
    """Open a table with the caller as host."""
    try:
        rules = registry.get(command.ruleset)
    except KeyError:
        values = ", ".join(sorted(RULESETS))
        raise invalid("ruleset", "must be one of {values}", values=values) from None
    most = rules.seats[1] if command.max_seats is None else command.max_seats
    errors = _option_errors(rules, command.options)
    delay = command.spectator_delay_seconds
    errors += _table_errors(rules, command.turn_seconds, most, delay)
    if command.visibility not in ("public", "private"):
        errors.append(fault("visibility", "must be public or private"))
    if command.deal is not None and not sandbox.is_deal(command.deal):
        errors.append(fault("deal", "must be 1 to 64 lower-case letters, digits and inner hyphens"))
    _raise_if(errors)
    unfolding = Unfolding(game, context, {"kind": "player", "player_id": command.player_id})
    unfolding.game.rules = rules
    data: dict[str, Any] = {
        "ruleset": rules.id,
        "ruleset_version": rules.name,
        "options": {option.name: option.default for option in rules.options} | command.options,
        "turn_seconds": command.turn_seconds,
        "max_seats": most,
        "visibility": command.visibility,
        "commitment": randomness.commitment(context.secret, game.game_id),
    }
    # Only where there is one, as the records of tables without it say nothing of it.
    if delay:
        data["spectator_delay_seconds"] = delay
    if command.deal is not None:
        data["sandbox"] = {"deal": command.deal}
    unfolding.record("game.created", data)
    unfolding.by = {**unfolding.by, "seat": command.seat}
    unfolding.record("seat.taken", {"seat": command.seat, "player_id": command.player_id})
    return unfolding


def take_seat(game: Game, command: TakeSeat, context: Context) -> Unfolding:
    """A player joins and is ready."""
    if command.player_id in game.removed:
        raise Refused(FORBIDDEN, "The host has removed you from this table.")
    _check_seed(command.client_seed)
    _require_lobby(game)
    if game.seat_of(command.player_id) is not None:
        raise Refused(ALREADY_SEATED, "You are seated at this table already.")
    seat = _free_seat(game, command.kept, command.player_id)
    data: dict[str, Any] = {"seat": seat, "player_id": command.player_id}
    if command.client_seed is not None:
        data["client_seed"] = command.client_seed
    by = {"kind": "player", "seat": seat, "player_id": command.player_id}
    unfolding = Unfolding(game, context, by)
    unfolding.record("seat.taken", data)
    return unfolding


def seat_bot(game: Game, command: SeatBot, context: Context) -> Unfolding:
    """The host seats a computer player."""
    host = _require_host(game, command.player_id)
    if command.bot not in BOTS:
        raise invalid("bot", "must be one of {values}", values=", ".join(sorted(BOTS)))
    _require_lobby(game)
    seat = _free_seat(game, command.kept, None)
    unfolding = Unfolding(game, context, by_player(game, host))
    unfolding.record("seat.taken", {"seat": seat, "bot": command.bot})
    return unfolding


def change_seat(game: Game, command: ChangeSeat, context: Context) -> Unfolding:
    """A player gives a seed of their own, or is ready again."""
    number = _require_seat(game, command.player_id)
    _check_seed(command.client_seed)
    if command.ready is False:
        raise invalid("ready", "can only be true: a change of the table is what unsets it")
    _require_lobby(game)
    seat = game.seats[number]
    unfolding = Unfolding(game, context, by_player(game, number))
    if command.client_seed is not None and command.client_seed != seat.client_seed:
        unfolding.record("seat.seeded", {"seat": number, "client_seed": command.client_seed})
    if command.ready and not seat.ready:
        unfolding.record("seat.ready", {"seat": number})
    return unfolding


def leave_seat(game: Game, command: LeaveSeat, context: Context) -> Unfolding:
    """A player gives their seat up; who has none has nothing to give up."""
    number = game.seat_of(command.player_id)
    if number is None:
        return Unfolding(game, context, {})
    _require_lobby(game)
    unfolding = Unfolding(game, context, by_player(game, number))
    data: dict[str, Any] = {"seat": number}
    heir = _next_human(game, number)
    if number == game.host and heir is not None:
        data["host"] = heir
    unfolding.record("seat.left", data)
    if heir is None:
        unfolding.record("game.cancelled", {"reason": "empty"})
    return unfolding


def remove_seat(game: Game, command: RemoveSeat, context: Context) -> Unfolding:
    """The host removes whoever sits in a seat; removing oneself is leaving."""
    host = _require_host(game, command.player_id)
    _require_lobby(game)
    if command.seat == host:
        return leave_seat(game, LeaveSeat(command.player_id), context)
    unfolding = Unfolding(game, context, by_player(game, host))
    if command.seat in game.seats:
        unfolding.record("seat.left", {"seat": command.seat})
    return unfolding


def change_table(game: Game, command: ChangeTable, context: Context) -> Unfolding:
    """The host changes settings; what is so already is not recorded."""
    host = _require_host(game, command.player_id)
    rules = game.rules
    turn_seconds = game.turn_seconds if command.turn_seconds is None else command.turn_seconds
    max_seats = game.max_seats if command.max_seats is None else command.max_seats
    delay = command.spectator_delay_seconds
    delay = game.spectator_delay_seconds if delay is None else delay
    errors = _option_errors(rules, command.options or {})
    errors += _table_errors(rules, turn_seconds, max_seats, delay)
    if game.status == LOBBY and not errors and max_seats <= max(game.seats):
        errors.append(fault("max_seats", "seat {seat} is taken", seat=max(game.seats)))
    _raise_if(errors)
    _require_lobby(game)
    options = game.options | (command.options or {})
    data: dict[str, Any] = {}
    if options != game.options:
        data["options"] = options
    if turn_seconds != game.turn_seconds:
        data["turn_seconds"] = turn_seconds
    if max_seats != game.max_seats:
        data["max_seats"] = max_seats
    if delay != game.spectator_delay_seconds:
        data["spectator_delay_seconds"] = delay
    unfolding = Unfolding(game, context, by_player(game, host))
    if data:
        unfolding.record("table.changed", data)
    return unfolding


def start_game(game: Game, command: StartGame, context: Context) -> Unfolding:
    """The host starts the match; a match that runs already is left alone."""
    host = _require_host(game, command.player_id)
    unfolding = Unfolding(game, context, by_player(game, host))
    if game.status == ACTIVE:
        return unfolding
    _require_lobby(game)
    least = game.rules.seats[0]
    if len(game.seats) < least:
        raise Refused(
            NOT_ENOUGH_SEATS,
            "At least {least} seats must be taken.",
            rule="table.ready",
            facts={"seats": len(game.seats), "least": least},
        )
    waiting = [number for number, seat in game.seats.items() if not seat.ready]
    if waiting:
        raise Refused(
            NOT_READY,
            "Not everyone is ready.",
            rule="table.ready",
            facts={"waiting": waiting},
        )
    unfolding.record("game.started", {"seats": list(game.seats)})
    deal_round(unfolding)
    return unfolding


def close_table(game: Game, command: CloseTable, context: Context) -> Unfolding:
    """The clock has everyone leave a table that nobody starts, the host last, which cancels the
    game; nothing happens if anything else has happened since."""
    unfolding = Unfolding(game, context, {})
    if game.status != LOBBY or game.version != command.version:
        return unfolding
    humans = [number for number, seat in game.seats.items() if seat.player_id is not None]
    for number in sorted(humans, key=lambda number: number == game.host):
        unfolding.by = {"kind": "clock", "seat": number}
        unfolding.record("seat.left", {"seat": number})
    unfolding.record("game.cancelled", {"reason": "empty"})
    return unfolding


def _raise_if(errors: list[dict[str, str]]) -> None:
    if errors:
        told = (joined(": ", (error["field"], error["message"])) for error in errors)
        raise Refused(VALIDATION, joined("; ", told), errors=errors)


def _option_errors(rules: Ruleset, options: Mapping[str, Any]) -> list[dict[str, str]]:
    known = {option.name: option for option in rules.options}
    errors = []
    for name, value in options.items():
        if name not in known:
            errors.append(fault(f"options.{name}", "is no option of this game"))
        elif template := known[name].fault(value):
            errors.append(fault(f"options.{name}", template))
    return errors


def _table_errors(
    rules: Ruleset, turn_seconds: int, max_seats: int, delay: int
) -> list[dict[str, str]]:
    errors = []
    for field, value, (least, most) in (
        ("turn_seconds", turn_seconds, TURN_SECONDS),
        ("max_seats", max_seats, rules.seats),
        ("spectator_delay_seconds", delay, SPECTATOR_DELAY_SECONDS),
    ):
        if not least <= value <= most:
            errors.append(fault(field, "must be from {least} to {most}", least=least, most=most))
    return errors


def _check_seed(seed: str | None) -> None:
    if seed is not None and not _SEED.fullmatch(seed):
        raise invalid("client_seed", "must be 1 to 32 bytes in lower-case hex")


def _require_lobby(game: Game) -> None:
    if game.status != LOBBY:
        raise Refused(
            NOT_IN_LOBBY,
            "That can only be done before the start; now a player can resign."
            if game.status == ACTIVE
            else "That can only be done before the start, and this table is closed.",
            rule="table.lobby",
            facts={"status": game.status},
        )


def _require_seat(game: Game, player_id: str) -> int:
    seat = game.seat_of(player_id)
    if seat is None:
        raise Refused(FORBIDDEN, "You hold no seat at this table.")
    return seat


def _require_host(game: Game, player_id: str) -> int:
    seat = game.seat_of(player_id)
    if seat is None or seat != game.host:
        raise Refused(FORBIDDEN, "Only the host of the table may do that.")
    return seat


def _free_seat(game: Game, kept: Mapping[str, int], player_id: str | None) -> int:
    free = [seat for seat in range(game.max_seats) if seat not in game.seats]
    own = kept.get(player_id) if player_id is not None else None
    if own in free:
        assert own is not None
        return own
    # A seat is kept for a player of the last match who may still come.
    seated = {seat.player_id for seat in game.seats.values()} | game.removed
    for seat in free:
        if all(number != seat or player in seated for player, number in kept.items()):
            return seat
    raise Refused(TABLE_FULL, "No seat is free.", facts={"max_seats": game.max_seats})


def _next_human(game: Game, seat: int) -> int | None:
    humans = [number for number, other in game.seats.items() if other.player_id and number != seat]
    later = [number for number in humans if number > seat]
    return next(iter(later or humans), None)
