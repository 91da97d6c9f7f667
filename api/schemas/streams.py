"""Streams, and the tickets that open them."""

from __future__ import annotations

from marshmallow import validate

from .fields import VISIBLE, Answered, QueryInteger, Request, invite_code, text, time, uuid
from .games import GameQuery


class NewStreamTicket(Request):
    """Nothing, or an invite to the private table."""

    invite = invite_code()


class StreamTicket(Answered):
    """A ticket for the stream of one game."""

    ticket = text("For `?ticket=`; shown this once.", required=True)
    game_id = uuid("The game.", required=True)
    expires_at = time("Until when it opens a stream.", required=True)


class StreamQuery(GameQuery):
    """Where to begin, and as whom."""

    after = QueryInteger(
        load_default=0,
        validate=validate.Range(0, 2**31 - 1),
        metadata={"description": "Only events with a greater version."},
    )
    ticket = text(
        "A ticket of `POST …/stream-tickets`, for clients that can send no header.",
        validate=[validate.Length(1, 100), VISIBLE],
    )
