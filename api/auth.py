"""Tokens: how they look, how they are stored, and who a request comes from."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

from flask import request

from domain.wording import Sentence
from eventstore.apps import App
from eventstore.players import Caller

from . import rates
from .problems import Problem, forbidden
from .services import services

PREFIX = "abbot_"
TICKET_PREFIX = "abbot_stream_"
KEY_PREFIX = "abbot_app_"
PLAYER_HEADER = "Abbot-Player"
"""For which of its players an app asks."""
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS = 43
_TOKEN = re.compile(rf"{PREFIX}[0-9A-Za-z]{{{_DIGITS}}}")
_TICKET = re.compile(rf"{TICKET_PREFIX}[0-9A-Za-z]{{{_DIGITS}}}")
_KEY = re.compile(rf"{KEY_PREFIX}[0-9A-Za-z]{{{_DIGITS}}}")
_PLAYER_ID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_BEARER = re.compile(r"(?i:Bearer) +(\S+)")

PLAY, READ, AUDIT, ADMIN = "play", "read", "audit", "admin"
SCOPES = (PLAY, READ, AUDIT, ADMIN)
OWN_SCOPES = (PLAY, READ)
"""What a player who registers can do; the other scopes nobody can give to themselves."""


class Access(StrEnum):
    """Whose requests an operation takes."""

    OPEN = "open"
    """Anyone's; a token is not even looked at."""
    OPTIONAL = "optional"
    """Anyone's, but a token that is sent must be valid."""
    REQUIRED = "required"
    """Only those with a valid token."""
    APP = "app"
    """Only an app's, with its key."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who sent a request: a player, an app, an app for one of its players, or nobody known."""

    player: Caller | None = None
    app: App | None = None


def new_token() -> str:
    """A token with 32 random bytes in base 62, and a prefix that secret scanners can find."""
    return PREFIX + _random()


def new_ticket() -> str:
    """A ticket for the stream of one game, made as a token is."""
    return TICKET_PREFIX + _random()


def new_key() -> str:
    """An app's key, made as a token is."""
    return KEY_PREFIX + _random()


def is_ticket(text: str) -> bool:
    """Whether it looks like a ticket."""
    return _TICKET.fullmatch(text) is not None


def _random() -> str:
    number = int.from_bytes(secrets.token_bytes(32))
    digits = []
    for _ in range(_DIGITS):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def token_hash(token: str) -> bytes:
    """As which a token is stored: SHA-256, enough for what is random through and through."""
    return hashlib.sha256(token.encode()).digest()


def authenticate(access: Access, *, again: bool = False) -> Identity:
    """Who sent this request; nobody known where `access` allows that. Else a 401.

    The request is counted, unless it is looked at `again` after a wait; a 429 if that is too many.
    """
    given = request.headers.getlist("Authorization")
    if access is Access.OPEN:
        if given:
            rates.count_stranger()
        return Identity()
    if not given:
        if access in (Access.REQUIRED, Access.APP):
            raise unauthenticated()
        return Identity()
    match = _BEARER.fullmatch(given[0].strip()) if len(given) == 1 else None
    if match is None:
        rates.count_stranger()
        raise _bad_token("Send one token, as Authorization: Bearer abbot_…")
    if match[1].startswith(KEY_PREFIX):
        return _app(match[1], access, again=again)
    caller = None
    if _TOKEN.fullmatch(match[1]):
        caller = services().players.lookup(token_hash(match[1]))
    if caller is None:
        rates.count_stranger()
        raise no_longer_valid()
    if not again:
        rates.count_caller(caller.token_id)
    if access is Access.APP:
        raise forbidden("This is for apps, with an app's key.")
    if PLAYER_HEADER in request.headers:
        raise Problem(
            "malformed-request",
            Sentence("{header} goes with an app's key only.", header=PLAYER_HEADER),
        )
    return Identity(caller)


def _app(key: str, access: Access, *, again: bool) -> Identity:
    app = services().apps.lookup(token_hash(key)) if _KEY.fullmatch(key) else None
    if app is None:
        rates.count_stranger()
        raise _bad_token("The app's key is not valid, or no longer.")
    if not again:
        rates.count_caller(app.key_id, app=True)
    if access is Access.APP:
        return Identity(app=app)
    named = request.headers.getlist(PLAYER_HEADER)
    if not named and access is Access.OPTIONAL:
        return Identity(app=app)
    if len(named) != 1 or not _PLAYER_ID.fullmatch(named[0]):
        raise Problem(
            "malformed-request",
            Sentence(
                "An app names the player for whom it asks, as {header}.", header=PLAYER_HEADER
            ),
        )
    caller = services().apps.acting(app, named[0].lower(), OWN_SCOPES)
    if caller is None:
        raise forbidden("This app has no such player.")
    return Identity(caller, app)


def unauthenticated(
    template: str = "This needs a token: Authorization: Bearer abbot_…",
) -> Problem:
    """401 for a request without a token that needs one."""
    return Problem(
        "unauthenticated",
        template,
        headers={"WWW-Authenticate": 'Bearer realm="abbot"'},
    )


def no_longer_valid() -> Problem:
    """401 for a token that ended, was revoked or never was."""
    return _bad_token("The token is not valid, or no longer.")


def _bad_token(template: str) -> Problem:
    challenge = 'Bearer realm="abbot", error="invalid_token"'
    return Problem("unauthenticated", template, headers={"WWW-Authenticate": challenge})
