"""Tables and games: opening, listing, seeing, changing the settings."""

from __future__ import annotations

import secrets
from typing import Any

from flask import Response, request

from domain.commands import ChangeTable, Command, CreateGame
from domain.game import Game
from eventstore.lists import SeatSummary, Summary

from . import access, changing, paging, presenting, responses, waits
from .auth import AUDIT, Access, unauthenticated
from .documentation import Blueprint
from .holding import holding
from .operation import Answer, Call, operation
from .problems import forbidden
from .schemas import games as schemas
from .services import services

blueprint = Blueprint("games", __name__, description="Tables and games.")


@blueprint.route("/games", methods=["POST"])
@operation(
    "createGame",
    answers={201: Answer("The table, in the lobby.", schemas.Game, ("Location", "ETag"))},
    body=schemas.NewGame,
    body_required=True,
    problems=("forbidden", "rate-limited"),
    idempotent=True,
    body_example={"ruleset": "halleluja", "options": {"rounds_to_win": 2}, "turn_seconds": 60},
)
def create_game(call: Call) -> Response:
    """Open a table.

    The caller sits in its first seat and is its host. The commitment to the shuffle's secret is in
    it from the start, before anyone gives a seed. What a sandbox player opens is a sandbox game,
    whose `deal` names its cards.
    """
    call.require_play()
    if "deal" in call.sent and not call.sandbox:
        raise forbidden("Only players registered with sandbox true name a deal.")
    call.validate()
    command = CreateGame(
        call.player.player_id,
        call.fields["ruleset"],
        call.fields.get("options", {}),
        call.fields["turn_seconds"],
        call.fields.get("max_seats"),
        call.fields["visibility"],
        spectator_delay_seconds=call.fields["spectator_delay_seconds"],
        deal=call.fields.get("deal", secrets.token_hex(8)) if call.sandbox else None,
    )
    with changing.problems(call), holding().room(call, hosting=True):
        outcome = services().executor.create(command, idempotency=changing.idempotency(call))
    return changing.answer(call, outcome, created=changing.url(outcome.game.game_id))


@blueprint.route("/games", methods=["GET"])
@operation(
    "listGames",
    access=Access.OPTIONAL,
    answers={200: Answer("A page of games.", schemas.GameList, ("ETag", "Link"))},
    query=schemas.GamesQuery,
    problems=("rate-limited",),
    if_none_match=True,
)
def list_games(call: Call) -> Response:
    """List tables and games.

    Those that the caller may see, newest first. `mine` and `turn` need a token. With `turn=me` and
    `wait` one call tells an app that some game needs its player.
    """
    call.validate()
    mine, my_turn = call.query.get("mine", False), "turn" in call.query
    if (mine or my_turn) and call.caller is None:
        raise unauthenticated()

    def look() -> tuple[Response, bool]:
        response, count = _page(call, mine=mine, my_turn=my_turn)
        conditional = "If-None-Match" in request.headers
        return response, response.status_code != 304 if conditional else count > 0

    return waits.for_turn(call, look) if my_turn else look()[0]


def _page(call: Call, *, mine: bool, my_turn: bool) -> tuple[Response, int]:
    """A page of games as an answer, and how many there are on it."""
    query = call.query
    page = services().lists.games(
        viewer=call.player_id,
        sandbox=call.sandbox,
        everything=call.caller is not None and AUDIT in call.caller.scopes,
        status=query.get("status"),
        ruleset=query.get("ruleset"),
        mine=mine,
        my_turn=my_turn,
        before=paging.read_cursor(query.get("cursor")),
        limit=query["limit"],
    )
    items = [_summary(each) for each in page.items]
    if page.next is None:
        return responses.tagged({"items": items}), len(items)
    cursor = paging.cursor(page.next)
    response = responses.tagged({"items": items, "next_cursor": cursor})
    return paging.link_next(response, cursor=cursor), len(items)


@blueprint.route("/games/<id:game_id>", methods=["GET"])
@operation(
    "getGame",
    access=Access.OPTIONAL,
    answers={200: Answer("The game.", schemas.Game, ("ETag",))},
    query=schemas.WaitingGameQuery,
    problems=("not-found", "rate-limited"),
    if_none_match=True,
)
def get_game(call: Call, game_id: str) -> Response:
    """Get a game.

    As the caller may see it: with their own hand if they have a seat, with every hand once it is
    over. With If-None-Match and `wait` the answer comes as soon as something has changed, or as a
    304 when the time is up.
    """
    loaded = waits.for_change(
        call, lambda: access.load(call, game_id), lambda loaded: tag(loaded.game, loaded.rematch)
    )
    body = presenting.game(
        loaded.game,
        access.viewer(loaded.game, call),
        now=loaded.now,
        head_hash=loaded.head_hash,
        rematch=loaded.rematch,
    )
    return responses.tagged(body, tag(loaded.game, loaded.rematch))


@blueprint.route("/games/<id:game_id>", methods=["PATCH"])
@operation(
    "changeTable",
    answers={200: Answer("The table.", schemas.Game, ("ETag",))},
    body=schemas.TableChange,
    body_required=True,
    problems=("forbidden", "not-found", "not-in-lobby"),
    if_match=True,
    body_example={"turn_seconds": 30},
)
def change_table(call: Call, game_id: str) -> Response:
    """Change a table's settings.

    By the host, in the lobby. The other players must then say again that they are ready. Options
    that are left out keep their value.
    """

    def command() -> Command:
        return ChangeTable(
            call.player.player_id,
            call.fields.get("options"),
            call.fields.get("turn_seconds"),
            call.fields.get("max_seats"),
            call.fields.get("spectator_delay_seconds"),
        )

    return changing.answer(call, changing.change(call, game_id, command, may=access.host))


def tag(game: Game, rematch: str | None) -> str:
    """The ETag of a read: the version, with an `r` once a rematch exists, which is no event."""
    return f"{game.version}r" if rematch else str(game.version)


def _summary(game: Summary) -> dict[str, Any]:
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
        "seats": [_seat_summary(seat) for seat in game.seats],
        "created_at": game.created_at,
        "updated_at": game.updated_at,
    }
    if game.spectator_delay_seconds:
        shown["spectator_delay_seconds"] = game.spectator_delay_seconds
    if game.sandbox:
        shown["sandbox"] = True
    if game.host is not None:
        shown["host"] = game.host
    if game.turn_seat is not None:
        shown["turn"] = {"seat": game.turn_seat}
        if game.due_at is not None:
            shown["turn"]["due_at"] = game.due_at
    if game.rematch is not None:
        shown["rematch"] = game.rematch
    return shown


def _seat_summary(seat: SeatSummary) -> dict[str, Any]:
    shown: dict[str, Any] = {"seat": seat.seat, "status": seat.status}
    if seat.player_id is None:
        shown["bot"] = seat.bot
    else:
        shown["player"] = {"player_id": seat.player_id}
        if seat.name is not None:
            shown["player"]["name"] = seat.name
    return shown
