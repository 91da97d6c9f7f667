"""The caller and the caller's tokens."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Response

from domain.wording import Sentence

from . import paging, responses
from .auth import SCOPES, new_token, token_hash
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import forbidden, not_found
from .schemas.players import IssuedToken, Me, NewToken, TokenList, TokensQuery
from .services import services

blueprint = Blueprint("me", __name__, description="The caller and the caller's tokens.")


def _ordered(scopes: Iterable[str]) -> list[str]:
    return [scope for scope in SCOPES if scope in set(scopes)]


@blueprint.route("/me", methods=["GET"])
@operation(
    "getMe",
    answers={200: Answer("The caller.", Me, ("ETag",))},
    if_none_match=True,
)
def get_me(call: Call) -> Response:
    """Get the caller.

    Who the token stands for, and what it may do.
    """
    call.validate()
    caller = call.player
    body = {
        "player_id": caller.player_id,
        "name": caller.name,
        "token_id": caller.token_id,
        "scopes": _ordered(caller.scopes),
    }
    return responses.tagged(body)


@blueprint.route("/me/tokens", methods=["GET"])
@operation(
    "listTokens",
    answers={200: Answer("A page of tokens in force.", TokenList, ("ETag", "Link"))},
    query=TokensQuery,
    if_none_match=True,
)
def list_tokens(call: Call) -> Response:
    """List one's tokens.

    Those in force, newest first; the tokens themselves are not kept and cannot be shown.
    """
    call.validate()
    limit = call.query["limit"]
    before = paging.read_cursor(call.query.get("cursor"))
    found = services().players.tokens(call.player.player_id, before=before, limit=limit + 1)
    items = [
        {"token_id": one.token_id, "scopes": _ordered(one.scopes), "created_at": one.created_at}
        for one in found[:limit]
    ]
    if len(found) <= limit:
        return responses.tagged({"items": items})
    cursor = paging.cursor(found[limit - 1].token_id)
    page = responses.tagged({"items": items, "next_cursor": cursor})
    return paging.link_next(page, cursor=cursor)


@blueprint.route("/me/tokens", methods=["POST"])
@operation(
    "createToken",
    answers={201: Answer("The new token.", IssuedToken, ("Location",))},
    body=NewToken,
    problems=("forbidden",),
    body_example={"scopes": ["read"]},
)
def create_token(call: Call) -> Response:
    """Make one more token.

    With no more scope than the token that asks. It is shown this once and stored hashed: keep it.
    """
    call.require_play()
    call.validate()
    caller = call.player
    scopes = _ordered(call.fields.get("scopes", caller.scopes))
    beyond = [scope for scope in scopes if scope not in caller.scopes]
    if beyond:
        raise forbidden(
            Sentence("The token that asks has not the scope {scope} itself.", scope=beyond[0])
        )
    token = new_token()
    token_id = services().players.issue(caller.player_id, token_hash(token), scopes)
    body = {"token_id": token_id, "token": token, "scopes": scopes}
    return responses.secret(responses.json(body, 201, location="/v1/me/tokens"))


@blueprint.route("/me/tokens/<id:token_id>", methods=["DELETE"])
@operation(
    "revokeToken",
    answers={204: Answer("The token is no longer valid.")},
    problems=("forbidden", "not-found"),
)
def revoke_token(call: Call, token_id: str) -> Response:
    """Revoke a token.

    At once, also the one that asks. A token that is not in force is not found.
    """
    caller = call.player
    call.require_play()
    call.validate()
    if not services().players.revoke(caller.player_id, token_id):
        raise not_found("You never had such a token.")
    return responses.nothing()
