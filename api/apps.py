"""Apps: who registers players and acts for them."""

from __future__ import annotations

from typing import Any

from flask import Response

from eventstore.apps import App, AppPlayer

from . import me, paging, responses
from .auth import ADMIN, SCOPES, Access, new_key, token_hash
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import not_found
from .schemas import apps as schemas
from .schemas.players import IssuedToken
from .services import services

blueprint = Blueprint("apps", __name__, description="Apps that register players and act for them.")


@blueprint.route("/apps", methods=["POST"])
@operation(
    "registerApp",
    answers={201: Answer("The app and its first key.", schemas.RegisteredApp, ("Location",))},
    body=schemas.NewApp,
    body_required=True,
    problems=("forbidden",),
    body_example={"name": "Card Table"},
)
def register_app(call: Call) -> Response:
    """Register an app.

    By an admin. The answer holds the app's first key. It is shown this once and stored hashed:
    keep it. All players of an app of the sandbox are sandbox players.
    """
    call.require_scope(ADMIN)
    call.validate()
    key = new_key()
    app = services().apps.create(
        call.fields["name"], token_hash(key), sandbox=call.fields["sandbox"]
    )
    body = {**_app(app), "key": key}
    return responses.secret(responses.json(body, 201, location="/v1/apps/me"))


@blueprint.route("/apps/<id:app_id>", methods=["DELETE"])
@operation(
    "revokeApp",
    answers={204: Answer("The app, or its key, is no longer valid.")},
    problems=("forbidden", "not-found"),
)
def revoke_app(call: Call, app_id: str) -> Response:
    """Revoke an app, or one of its keys.

    By an admin. At once, with all that it has open; of an app also the tokens that it made. Its
    players stay. To take one key out of use, name the key's id.
    """
    call.require_scope(ADMIN)
    call.validate()
    if not services().apps.revoke(app_id):
        raise not_found("There is no such app.")
    return responses.nothing()


@blueprint.route("/apps/me", methods=["GET"])
@operation(
    "getApp",
    access=Access.APP,
    answers={200: Answer("The app.", schemas.AppInfo, ("ETag",))},
    if_none_match=True,
)
def get_app(call: Call) -> Response:
    """Get the app whose key is sent."""
    call.validate()
    return responses.tagged(_app(call.app))


@blueprint.route("/apps/me/players", methods=["POST"])
@operation(
    "registerAppPlayer",
    access=Access.APP,
    answers={
        200: Answer("The player that has this reference already, as it is.", schemas.AppPlayer),
        201: Answer("The new player.", schemas.AppPlayer, ("Location",)),
    },
    body=schemas.NewAppPlayer,
    body_required=True,
    body_example={"name": "Brother Anselm", "reference": "user-4711"},
)
def register_app_player(call: Call) -> Response:
    """Register a player of the app.

    With a `reference` it can be asked again: there is one player for each. The app acts for the
    player with its key and the header `Abbot-Player`.
    """
    call.validate()
    player, new = services().apps.register(
        call.app.app_id, call.fields["name"], call.fields.get("reference")
    )
    if not new:
        return responses.json(_shown(player))
    return responses.json(_shown(player), 201, location=f"/v1/apps/me/players/{player.player_id}")


@blueprint.route("/apps/me/players", methods=["GET"])
@operation(
    "listAppPlayers",
    access=Access.APP,
    answers={200: Answer("A page of players.", schemas.AppPlayerList, ("ETag", "Link"))},
    query=schemas.AppPlayersQuery,
    if_none_match=True,
)
def list_app_players(call: Call) -> Response:
    """List the app's players.

    Newest first.
    """
    call.validate()
    limit = call.query["limit"]
    found = services().apps.players(
        call.app.app_id,
        reference=call.query.get("reference"),
        before=paging.read_cursor(call.query.get("cursor")),
        limit=limit + 1,
    )
    items = [_shown(player) for player in found[:limit]]
    if len(found) <= limit:
        return responses.tagged({"items": items})
    cursor = paging.cursor(found[limit - 1].player_id)
    page = responses.tagged({"items": items, "next_cursor": cursor})
    return paging.link_next(page, cursor=cursor)


@blueprint.route("/apps/me/players/<id:player_id>", methods=["GET"])
@operation(
    "getAppPlayer",
    access=Access.APP,
    answers={200: Answer("The player.", schemas.AppPlayer, ("ETag",))},
    problems=("not-found",),
    if_none_match=True,
)
def get_app_player(call: Call, player_id: str) -> Response:
    """Get a player of the app."""
    player = _own(call, player_id)
    call.validate()
    return responses.tagged(_shown(player))


@blueprint.route("/apps/me/players/<id:player_id>/tokens", methods=["POST"])
@operation(
    "createPlayerToken",
    access=Access.APP,
    answers={201: Answer("The token.", IssuedToken, ("Location",))},
    body=schemas.NewPlayerToken,
    problems=("not-found",),
    body_example={"expires_in": 3600},
)
def create_player_token(call: Call, player_id: str) -> Response:
    """Make a token for a player of the app.

    For the player's own device, so that the app's key stays on its servers. It ends after an hour
    if not told otherwise. It is shown this once and stored hashed.
    """
    player = _own(call, player_id)
    call.validate()
    scopes = [scope for scope in SCOPES if scope in call.fields["scopes"]]
    made = me.issue(
        player.player_id, scopes, seconds=call.fields["expires_in"], key_id=call.app.key_id
    )
    if made is None:
        # The key was revoked just now, or the player erased.
        call.look_again()
        raise not_found("This app has no such player.")
    return made


def _app(app: App) -> dict[str, Any]:
    shown = {"app_id": app.app_id, "name": app.name, "key_id": app.key_id}
    return {**shown, "sandbox": True} if app.sandbox else shown


def _own(call: Call, player_id: str) -> AppPlayer:
    """404 unless it is a player of the app."""
    found = services().apps.players(call.app.app_id, player_id=player_id)
    if not found:
        raise not_found("This app has no such player.")
    return found[0]


def _shown(player: AppPlayer) -> dict[str, Any]:
    return {name: value for name, value in player._asdict().items() if value is not None}
