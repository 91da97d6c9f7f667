"""Apps, and their players."""

from __future__ import annotations

from marshmallow import fields, validate

from .fields import (
    VISIBLE,
    Answered,
    PlayerName,
    Request,
    boolean,
    integer,
    many,
    one_of,
    page_cursor,
    page_limit,
    text,
    time,
    uuid,
)
from .players import MAX_SECONDS

MAX_REFERENCE = 200
DEFAULT_SECONDS = 3600


class NewApp(Request):
    """An app that is registered."""

    name = PlayerName(
        required=True,
        metadata={
            "description": "What the app is called, for people.",
            "minLength": 1,
            "maxLength": 64,
            "examples": ["Card Table"],
        },
    )
    sandbox = boolean(
        "Whether it is an app for tests, for ever: all its players are sandbox players.",
        load_default=False,
    )


class RegisteredApp(Answered):
    """A new app with its first key, which is shown only this once."""

    app_id = uuid("The app.", required=True)
    name = text("Its name.", required=True)
    key_id = uuid("The key's id, to revoke it by.", required=True)
    key = text("Send it as `Authorization: Bearer …`. It is not shown again.", required=True)
    sandbox = boolean("True for an app of the sandbox; absent for others.")


class AppInfo(Answered):
    """The app whose key was sent."""

    app_id = uuid("The app.", required=True)
    name = text("Its name.", required=True)
    key_id = uuid("The key that was sent.", required=True)
    sandbox = boolean("True for an app of the sandbox; absent for others.")


class NewAppPlayer(Request):
    """A player that an app registers."""

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
    reference = text(
        "What the app itself calls the player. There is one player for each, however often it is "
        "asked for.",
        validate=[validate.Length(1, MAX_REFERENCE), VISIBLE],
        metadata={"examples": ["user-4711"]},
    )


class AppPlayer(Answered):
    """A player of an app."""

    player_id = uuid("The player: the value for `Abbot-Player`.", required=True)
    name = text("The name as it is kept.", required=True)
    reference = text("What the app itself calls the player.")
    created_at = time("When the player was registered.", required=True)


class AppPlayerList(Answered):
    """The app's players."""

    items = many(AppPlayer, "Players, newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")


class AppPlayersQuery(Request):
    """Which players to list."""

    reference = text(
        "Only the one that the app calls so.",
        validate=[validate.Length(1, MAX_REFERENCE), VISIBLE],
    )
    cursor = page_cursor()
    limit = page_limit()


class NewPlayerToken(Request):
    """A token for a player's own device."""

    scopes = fields.List(
        one_of("A scope.", ("play", "read")),
        validate=validate.Length(1, 2),
        load_default=["play", "read"],
        metadata={"description": "What it may do.", "examples": [["play", "read"]]},
    )
    expires_in = integer(
        "Seconds after which it ends by itself.",
        validate=validate.Range(1, MAX_SECONDS),
        load_default=DEFAULT_SECONDS,
        metadata={"examples": [3600]},
    )
