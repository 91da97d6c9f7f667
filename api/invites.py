"""Invites to private tables."""

from __future__ import annotations

from flask import Response

from domain.game import Game

from . import access, changing, responses
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import not_found
from .schemas import games as schemas
from .services import services

blueprint = Blueprint("invites", __name__, description="Invites to private tables.")


@blueprint.route("/games/<id:game_id>/invites", methods=["POST"])
@operation(
    "createInvite",
    answers={201: Answer("The invite.", schemas.Invite, ("Location",))},
    body=schemas.EmptyObject,
    problems=("forbidden", "not-found"),
    idempotent=True,
    if_match=True,
)
def create_invite(call: Call, game_id: str) -> Response:
    """Make an invite.

    By the host. Its code lets whoever has it see the table (`?invite=`) and join it.
    """

    def check(game: Game) -> None:
        access.require_sight(game, call)
        call.require_play()
        access.host(game, call)
        call.validate()
        changing.require_match(call, game)

    with changing.problems(call):
        code = services().invites.create(
            game_id, check=check, idempotency=changing.idempotency(call)
        )
    return responses.json(
        {"code": code, "game_id": game_id},
        201,
        location=f"{changing.url(game_id)}?invite={code}",
    )


@blueprint.route("/games/<id:game_id>/invites/<code:code>", methods=["DELETE"])
@operation(
    "revokeInvite",
    answers={204: Answer("The code opens nothing any more.")},
    problems=("forbidden", "not-found"),
    if_match=True,
)
def revoke_invite(call: Call, game_id: str, code: str) -> Response:
    """Revoke an invite.

    By the host. Who has a seat keeps it.
    """
    loaded = services().store.load(game_id)
    if loaded is None:
        raise not_found()
    access.require_sight(loaded.game, call)
    call.require_play()
    access.host(loaded.game, call)
    call.validate()
    changing.require_match(call, loaded.game)
    if not services().invites.revoke(game_id, code):
        raise not_found("There is no such invite.")
    return responses.nothing()
