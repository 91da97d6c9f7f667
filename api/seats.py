"""Seats in the lobby: sitting down, seeds, getting ready, leaving, removing."""

from __future__ import annotations

from contextlib import ExitStack

from flask import Response

from domain.commands import (
    ChangeSeat,
    Command,
    LeaveSeat,
    RemoveSeat,
    SeatBot,
    TakeSeat,
)
from domain.game import Game

from . import access, changing
from .documentation import Blueprint
from .holding import holding
from .operation import Answer, Call, operation
from .problems import forbidden
from .schemas import games as schemas

blueprint = Blueprint("seats", __name__, description="Seats at a table in the lobby.")

_TABLE = Answer("The table.", schemas.Game, ("ETag",))


@blueprint.route("/games/<id:game_id>/seats", methods=["POST"])
@operation(
    "takeSeat",
    answers={201: Answer("The table.", schemas.Game, ("Location", "ETag"))},
    body=schemas.NewSeat,
    problems=("forbidden", "not-found", "not-in-lobby", "table-full", "already-seated"),
    idempotent=True,
    if_match=True,
    body_example={"client_seed": "5eed0123456789ab"},
)
def take_seat(call: Call, game_id: str) -> Response:
    """Sit down, or seat a computer player.

    Takes the lowest free seat. Who sits down is ready. With `bot`, the host seats a computer
    player of that kind. A private table needs the code of an `invite`.
    """

    counted: list[None] = []

    def may(game: Game, call: Call) -> None:
        if "bot" in call.sent:
            access.host(game, call)
        elif call.player_id in game.removed:
            raise forbidden("The host has removed you from this table.")
        elif not counted:
            counted.append(closing.enter_context(holding().room(call, beside=game_id)))

    def command() -> Command:
        player_id = call.player.player_id
        if "bot" in call.fields:
            return SeatBot(player_id, call.fields["bot"])
        return TakeSeat(player_id, call.fields.get("client_seed"))

    with ExitStack() as closing:
        outcome = changing.change(call, game_id, command, may=may)
    return changing.answer(call, outcome, created=changing.url(game_id))


@blueprint.route("/games/<id:game_id>/seats/me", methods=["PATCH"])
@operation(
    "changeSeat",
    answers={200: _TABLE},
    body=schemas.SeatChange,
    body_required=True,
    problems=("forbidden", "not-found", "not-in-lobby"),
    if_match=True,
    body_example={"ready": True},
)
def change_seat(call: Call, game_id: str) -> Response:
    """Change one's own seat.

    Give a seed for the shuffle, or say that one is ready again after the host changed the table.
    """

    def command() -> Command:
        return ChangeSeat(
            call.player.player_id, call.fields.get("client_seed"), call.fields.get("ready")
        )

    return changing.answer(call, changing.change(call, game_id, command, may=access.seated))


@blueprint.route("/games/<id:game_id>/seats/me", methods=["DELETE"])
@operation(
    "leaveSeat",
    answers={200: _TABLE},
    problems=("forbidden", "not-found", "not-in-lobby"),
    if_match=True,
)
def leave_seat(call: Call, game_id: str) -> Response:
    """Give up one's seat.

    In the lobby. A host who leaves hands the table on to the next player; the last player to leave
    cancels it. Who has no seat has nothing to give up, which is fine.
    """

    def command() -> Command:
        return LeaveSeat(call.player.player_id)

    return changing.answer(call, changing.change(call, game_id, command))


@blueprint.route("/games/<id:game_id>/seats/<seat:seat>", methods=["DELETE"])
@operation(
    "removeSeat",
    answers={200: _TABLE},
    problems=("forbidden", "not-found", "not-in-lobby"),
    if_match=True,
)
def remove_seat(call: Call, game_id: str, seat: int) -> Response:
    """Remove who sits in a seat.

    By the host, in the lobby. A player so removed cannot come back to this table.
    """

    def command() -> Command:
        return RemoveSeat(call.player.player_id, seat)

    return changing.answer(call, changing.change(call, game_id, command, may=access.host))
