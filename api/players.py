"""Players: registering, and what anyone may know of one."""

from __future__ import annotations

from flask import Response

from eventstore.errors import AppsPlayer

from . import rates, responses
from .auth import ADMIN, AUDIT, OWN_SCOPES, Access, new_token, token_hash
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import forbidden, not_found
from .schemas.players import NewPlayer, PlayerProfile, PlayerScopes, RegisteredPlayer, ScopeChange
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
    A player of the sandbox is one for tests, for ever: its games are sandbox games, and it meets
    no real player.
    """
    call.validate()
    rates.count_registration()
    token = new_token()
    player = services().players.register(
        call.fields["name"], token_hash(token), OWN_SCOPES, sandbox=call.fields["sandbox"]
    )
    body = {
        "player_id": player.player_id,
        "name": player.name,
        "token": token,
        "token_id": player.token_id,
        "scopes": list(OWN_SCOPES),
    }
    if player.sandbox:
        body["sandbox"] = True
    return responses.secret(responses.json(body, 201, location="/v1/me"))


@blueprint.route("/players/<id:player_id>", methods=["GET"])
@operation(
    "getPlayer",
    access=Access.OPTIONAL,
    answers={200: Answer("The player.", PlayerProfile, ("ETag",))},
    problems=("not-found",),
    if_none_match=True,
)
def get_player(call: Call, player_id: str) -> Response:
    """Get a player's name and results.

    What became of the player's matches under each ruleset, once they are over; private tables count
    as well. A match counts a moment after its last event, for its spectators once they have seen
    that. Who was erased is not found.
    """
    everything = call.caller is not None and AUDIT in call.caller.scopes
    profile = services().standings.profile(player_id, viewer=call.player_id, everything=everything)
    if profile is None or profile.sandbox != call.sandbox:
        raise not_found("There is no such player.")
    call.validate()
    results = [record._asdict() for record in profile.results]
    return responses.tagged(
        {"player_id": profile.player_id, "name": profile.name, "results": results}
    )


@blueprint.route("/players/<id:player_id>/scopes", methods=["PATCH"])
@operation(
    "changeScopes",
    answers={200: Answer("What changed.", PlayerScopes)},
    body=ScopeChange,
    body_required=True,
    problems=("forbidden", "not-found"),
    body_example={"audit": True},
)
def change_scopes(call: Call, player_id: str) -> Response:
    """Make a player an auditor, or no longer.

    By an admin, and never for oneself. All tokens of the player get the scope that may play; all
    lose it. A player of an app cannot be one, as the app would see what they see.
    """
    call.require_scope(ADMIN)
    players = services().players
    # A token's id, which the store takes as well, is no player's.
    if players.sandbox(player_id) is not call.sandbox:
        raise not_found("There is no such player.")
    if player_id == call.player_id:
        raise forbidden("Nobody gives a scope to themselves, or takes one.")
    call.validate()
    granted = call.fields["audit"]
    try:
        changed = players.change_scope(player_id, AUDIT, granted=granted, by=call.player.player_id)
    except AppsPlayer:
        raise forbidden("A player of an app cannot be an auditor.") from None
    if changed is None:
        raise not_found("There is no such player.")
    audit = granted and (bool(changed) or players.holds(player_id, AUDIT))
    return responses.json({"player_id": player_id, "audit": audit, "tokens": len(changed)})
