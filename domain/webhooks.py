"""What is told to whoever asked to be called: which messages an event makes, and what they say.

A message is about one seat and says what that seat could see when the event happened, so it says
the same however often it is sent. Signatures are those of Standard Webhooks
(https://github.com/standard-webhooks/standard-webhooks, spec 1.0.0).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable, Iterator
from typing import Any

from .events import Event, Recorded
from .evolution import ENDINGS
from .redaction import Viewer, redact

TURN_BEGUN = "turn.begun"
"""A turn of the seat has begun."""
GAME_OVER = "game.over"
"""A game in which the player has a seat has ended, however that was."""
GAME_EVENT = "game.event"
"""Any event of such a game."""
PING = "ping"
"""Nothing has happened: sent to try an address out."""

SUBJECTS = (TURN_BEGUN, GAME_OVER, GAME_EVENT)
"""What one can ask to be told of."""

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32


def messages(event: Event | Recorded, seat: int) -> Iterator[str]:
    """The types of the messages that the event makes for a seat."""
    yield GAME_EVENT
    turn = event.data.get("turn")
    if turn is not None and turn["seat"] == seat:
        yield TURN_BEGUN
    if event.type in ENDINGS:
        yield GAME_OVER


def message(type_: str, event: Recorded, seat: int, player_id: str) -> dict[str, Any]:
    """One of the event's messages for the player in a seat, as it is sent."""
    data: dict[str, Any] = {
        "game_id": event.game_id,
        "version": event.version,
        "seat": seat,
        "player_id": player_id,
    }
    if type_ == GAME_EVENT:
        data["event"] = redact(event, Viewer(seat), over=False)
    elif type_ == TURN_BEGUN:
        data["turn"] = event.data["turn"]
    else:
        data |= _ending(event)
    return {"type": type_, "timestamp": event.at, "data": data}


def ping_message(webhook_id: str, at: str) -> dict[str, Any]:
    """The message that says nothing, made at the time `at`."""
    return {"type": PING, "timestamp": at, "data": {"webhook_id": webhook_id}}


def _ending(event: Recorded) -> dict[str, Any]:
    status, outcome = ENDINGS[event.type]
    result: dict[str, Any] = {"outcome": outcome, "reason": event.data["reason"]}
    if "seat" in event.data:
        result["winner"] = event.data["seat"]
    if "scores" in event.data:
        result["scores"] = event.data["scores"]
    return {"status": status, "result": result}


def parties(events: Iterable[Event]) -> Iterator[dict[str, int]]:
    """For each event, given from the first on: the seats by player that it concerns, of those who
    sit there before or after it."""
    seats: dict[str, int] = {}
    for event in events:
        before = seats
        if event.type == "seat.taken" and "player_id" in event.data:
            seats = {**seats, event.data["player_id"]: event.data["seat"]}
        elif event.type == "seat.left":
            left = event.data["seat"]
            seats = {player: seat for player, seat in seats.items() if seat != left}
        yield before | seats


def secret_text(secret: bytes) -> str:
    """A secret as receivers are given it."""
    return SECRET_PREFIX + base64.b64encode(secret).decode()


def signature(secrets: Iterable[bytes], id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`: one signature for each secret that is in force. `timestamp`
    is in seconds since 1970."""
    content = f"{id}.{timestamp}.".encode() + body
    return " ".join(
        "v1," + base64.b64encode(hmac.digest(secret, content, hashlib.sha256)).decode()
        for secret in secrets
    )
