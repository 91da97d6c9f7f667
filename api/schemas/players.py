"""Players and their tokens."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from ..auth import SCOPES
from .fields import (
    Answered,
    PlayerName,
    Request,
    boolean,
    integer,
    many,
    one_of,
    open_text,
    page_cursor,
    page_limit,
    text,
    time,
    uuid,
)

MAX_SECONDS = 366 * 24 * 3600
"""The longest that a token lasts which ends by itself."""

_SCOPE = (
    "`play` does all that a player does, `read` only looks, `audit` sees everything in games that "
    "one has no part in, `admin` makes auditors."
)


def _scopes(meaning: str, **more: object) -> fields.List[Any]:
    return fields.List(
        open_text("A scope.", SCOPES), metadata={"description": meaning, **more}, required=True
    )


class NewPlayer(Request):
    """Who registers."""

    name = PlayerName(
        required=True,
        metadata={
            "description": "The name that others see; it is normalised to NFC and need not be "
            "unique. Nothing in it may be invisible or unassigned, but joiners.",
            "minLength": 1,
            "maxLength": 64,
            "examples": ["Brother Anselm"],
        },
    )
    sandbox = boolean(
        "Whether it is a player for tests, for ever: all its games are sandbox games.",
        load_default=False,
    )


class RegisteredPlayer(Answered):
    """A new player with its first token, which is shown only this once."""

    player_id = uuid("The player.", required=True)
    name = text("The name as it is kept.", required=True)
    token = text("Send it as `Authorization: Bearer …`. It is not shown again.", required=True)
    token_id = uuid("The token's id, to revoke it by.", required=True)
    scopes = _scopes(f"What the token may do. {_SCOPE}")
    sandbox = boolean("True for a player of the sandbox; absent for others.")


class RulesetRecord(Answered):
    """A player's matches under one ruleset that are over. Each is won, drawn, lost, resigned or
    abandoned, so these add up to `played`."""

    ruleset = text("The ruleset.", required=True)
    played = integer("Matches that are over.", required=True)
    won = integer("Won.", required=True)
    drawn = integer("Played to the end, and nobody won.", required=True)
    lost = integer("Played to the end, and another won.", required=True)
    resigned = integer("Resigned, however it ended for the others.", required=True)
    abandoned = integer("Abandoned, as nobody was left to play.", required=True)


class PlayerProfile(Answered):
    """What anyone may know of a player."""

    player_id = uuid("The player.", required=True)
    name = text("The player's name.", required=True)
    results = many(
        RulesetRecord,
        "By ruleset; those that the player has finished no match of are left out.",
        required=True,
    )


class ScopeChange(Request):
    """What else a player may do."""

    audit = boolean("Whether the player is an auditor from now on.", required=True)


class PlayerScopes(Answered):
    """What changed of a player's tokens."""

    player_id = uuid("The player.", required=True)
    audit = boolean(
        "Whether the player is an auditor now; false also if no token in force may play.",
        required=True,
    )
    tokens = integer("How many tokens changed; 0 if all was so already.", required=True)


class Me(Answered):
    """The caller."""

    player_id = uuid("The player.", required=True)
    name = text("The player's name.", required=True)
    token_id = uuid("The token that was sent.", required=True)
    scopes = _scopes(f"What that token may do. {_SCOPE}")
    expires_at = time("When the token ends by itself; absent if it does not.")
    app_id = uuid("The app that asks for the player; absent where the player's own token does.")
    sandbox = boolean("True for a player of the sandbox; absent for others.")


class NewToken(Request):
    """What the new token may do."""

    expires_in = integer(
        "Seconds after which it ends by itself. If left out, it ends with the token that asks, or "
        "when it is revoked.",
        validate=validate.Range(1, MAX_SECONDS),
        metadata={"examples": [3600]},
    )

    scopes = fields.List(
        one_of("A scope.", SCOPES),
        validate=validate.Length(1, len(SCOPES)),
        metadata={
            "description": f"No more than the token that asks has; the same if left out. {_SCOPE}",
            "examples": [["read"]],
        },
    )


class IssuedToken(Answered):
    """A new token, which is shown only this once."""

    token_id = uuid("The token's id, to revoke it by.", required=True)
    token = text("Send it as `Authorization: Bearer …`. It is not shown again.", required=True)
    scopes = _scopes("What it may do.")
    expires_at = time("When it ends by itself; absent if it does not.")


class TokenInfo(Answered):
    """A token that is in force; the token itself is not kept."""

    token_id = uuid("The token's id, to revoke it by.", required=True)
    scopes = _scopes("What it may do.")
    created_at = time("When it was made.", required=True)
    expires_at = time("When it ends by itself; absent if it does not.")
    app_id = uuid("The app that asked for it, if one did.")


class TokenList(Answered):
    """The player's tokens."""

    items = many(TokenInfo, "Tokens in force, newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")


class TokensQuery(Request):
    """Which tokens to list."""

    cursor = page_cursor()
    limit = page_limit()
