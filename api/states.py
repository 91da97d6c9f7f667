"""The game as it stood: one read for any version, forward or back."""

from __future__ import annotations

from flask import Response

from domain.game import fold
from domain.redaction import Viewer
from domain.wording import Sentence

from . import access, presenting, responses
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import forbidden, invalid, not_found
from .schemas import games as schemas
from .services import services

blueprint = Blueprint("states", __name__, description="The game at any of its versions.")


@blueprint.route("/games/<id:game_id>/states/<version:version>", methods=["GET"])
@operation(
    "getState",
    access=Access.OPTIONAL,
    answers={200: Answer("The game after that event.", schemas.Game, ("ETag",))},
    query=schemas.StateQuery,
    problems=("forbidden", "not-found"),
    if_none_match=True,
)
def get_state(call: Call, game_id: str, version: int) -> Response:
    """Get a game as it stood after an event.

    While it runs, as the caller may see it. Once it is over every hand is open, or with `seat` it
    is what that seat saw then. `remaining_ms` counts from the event's own time.
    """
    game = access.see(call, game_id).game
    if not 1 <= version <= game.version:
        raise not_found()
    if not game.over and any(name == "seat" for name, _ in call.asked):
        raise forbidden("What another seat saw is open once the game is over.")
    call.validate()
    seat = call.query.get("seat")
    # Folded again: a position cannot be led back.
    events = services().store.events(game_id, 0, version)
    then = fold(game_id, events)
    if seat is not None and seat not in then.seats:
        raise invalid(("seat", Sentence("Nobody sat there then.")))
    event = events[-1]
    viewer = Viewer(seat) if seat is not None else access.replaying(game, call)
    body = presenting.game(then, viewer, now=event.at, head_hash=event.hash)
    return responses.tagged(body)
