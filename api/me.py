"""The caller and the caller's tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Response

from domain.wording import Sentence
from eventstore.players import Token

from . import paging, responses
from .auth import SCOPES, new_token, token_hash
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import Problem, forbidden, not_found
from .schemas.players import IssuedToken, Me, NewToken, TokenList, TokensQuery
from .services import services

MOST_TOKENS = 100
"""Tokens of one player in force."""

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
    if caller.expires_at is not None:
        body["expires_at"] = caller.expires_at
    if caller.app_id is not None:
        body["app_id"] = caller.app_id
    if caller.sandbox:
        body["sandbox"] = True
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
    items = [_shown(one) for one in found[:limit]]
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

    With no more scope than the token that asks, and ending no later. It is shown this once and
    stored hashed: keep it.
    """
    call.require_play()
    if call.identity.app is not None:
        raise forbidden("An app makes tokens for its players at /v1/apps/me/players.")
    call.validate()
    while True:
        caller = call.player
        scopes = _ordered(call.fields.get("scopes", caller.scopes))
        beyond = [scope for scope in scopes if scope not in caller.scopes]
        if beyond:
            raise forbidden(
                Sentence("The token that asks has not the scope {scope} itself.", scope=beyond[0])
            )
        made = issue(
            caller.player_id, scopes, seconds=call.fields.get("expires_in"), by=caller.token_id
        )
        if made is not None:
            return made
        # What the token may has just been changed, or it was revoked.
        call.look_again()


def issue(
    player_id: str,
    scopes: list[str],
    *,
    seconds: int | None,
    by: str | None = None,
    key_id: str | None = None,
) -> Response | None:
    """Make a token for a player, and show it; None if what asks has by now lost the right to."""
    if services().players.in_force(player_id) >= MOST_TOKENS:
        raise Problem(
            "rate-limited",
            Sentence(
                "The player has {most} tokens in force, the most at a time: revoke one.",
                most=MOST_TOKENS,
            ),
            headers={"Retry-After": "60"},
        )
    token = new_token()
    issued = services().players.issue(
        player_id, token_hash(token), scopes, seconds=seconds, by=by, key_id=key_id
    )
    if issued is None:
        return None
    body: dict[str, Any] = {
        "token_id": issued.token_id,
        "token": token,
        "scopes": _ordered(issued.scopes),
    }
    if issued.expires_at is not None:
        body["expires_at"] = issued.expires_at
    return responses.secret(responses.json(body, 201, location="/v1/me/tokens"))


def _shown(token: Token) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "token_id": token.token_id,
        "scopes": _ordered(token.scopes),
        "created_at": token.created_at,
    }
    if token.expires_at is not None:
        shown["expires_at"] = token.expires_at
    if token.app_id is not None:
        shown["app_id"] = token.app_id
    return shown


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
