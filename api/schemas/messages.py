"""What webhooks are sent: a component for each type of message."""

from __future__ import annotations

from marshmallow import validate

from domain.webhooks import GAME_EVENT, GAME_OVER, PING, TURN_BEGUN

from .events import AnyEvent, TurnRef
from .fields import Answered, integer, nested, open_text, text, time, uuid
from .games import STATUSES, GameResult


class _AboutSeat(Answered):
    """For which seat a message is."""

    game_id = uuid("The game.", required=True)
    version = integer("The version of the event that it is about.", required=True)
    seat = integer("The seat that is told.", required=True)
    player_id = uuid("The player who holds it.", required=True)


class TurnBegunMessageData(_AboutSeat):
    """The turn that has begun."""

    turn = nested(TurnRef, required=True)


class GameOverMessageData(_AboutSeat):
    """How the game ended."""

    status = open_text("How it stands.", STATUSES[2:], required=True)
    result = nested(GameResult, required=True)


class GameEventMessageData(_AboutSeat):
    """What happened, as the seat could see it then."""

    event = AnyEvent(required=True)


class PingMessageData(Answered):
    """To which webhook it was sent."""

    webhook_id = uuid("The webhook.", required=True)


class _Message(Answered):
    """What every message has."""

    timestamp = time("When it happened.", required=True)


class TurnBegunMessage(_Message):
    """A turn of the player has begun."""

    type = text("What it tells.", required=True, validate=validate.OneOf((TURN_BEGUN,)))
    data = nested(TurnBegunMessageData, required=True)


class GameOverMessage(_Message):
    """A game in which the player has a seat has ended."""

    type = text("What it tells.", required=True, validate=validate.OneOf((GAME_OVER,)))
    data = nested(GameOverMessageData, required=True)


class GameEventMessage(_Message):
    """Something happened in a game in which the player has a seat."""

    type = text("What it tells.", required=True, validate=validate.OneOf((GAME_EVENT,)))
    data = nested(GameEventMessageData, required=True)


class PingMessage(_Message):
    """Nothing happened: the owner of the webhook tries it out."""

    type = text("What it tells.", required=True, validate=validate.OneOf((PING,)))
    data = nested(PingMessageData, required=True)


MESSAGES: dict[str, type[Answered]] = {
    TURN_BEGUN: TurnBegunMessage,
    GAME_OVER: GameOverMessage,
    GAME_EVENT: GameEventMessage,
    PING: PingMessage,
}
"""The component of each type of message."""
