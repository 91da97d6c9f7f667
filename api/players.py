"""Registering players."""

from __future__ import annotations

from flask import Response

from . import responses
from .auth import OWN_SCOPES, Access, new_token, token_hash
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .schemas.players import NewPlayer, RegisteredPlayer
from .services import services

blueprint = Blueprint("players", __name__, description="Who plays.")


@blueprint.route("/players", methods=["POST"])
@operation(
    "registerPlayer",
    access=Access.OPEN,
    answers={201: Answer("The player and its first token.", RegisteredPlayer, ("Location",))},
    body=NewPlayer,
    body_required=True,
    problems=("unavailable",),
    body_example={"name": "Brother Anselm"},
)
def register_player(call: Call) -> Response:
    """Register a player.

    The answer holds the player's first token. It is shown this once and stored hashed: keep it.
    """
    call.validate()
    token = new_token()
    player = services().players.register(call.fields["name"], token_hash(token), OWN_SCOPES)
    body = {
        "player_id": player.player_id,
        "name": player.name,
        "token": token,
        "token_id": player.token_id,
        "scopes": list(OWN_SCOPES),
    }
    return responses.secret(responses.json(body, 201, location="/v1/me"))
