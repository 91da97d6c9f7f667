"""The history of a game, as pages or as lines."""

from __future__ import annotations

from flask import Response, current_app

from eventstore import exports

from . import access, encoding, etags, paging, presenting, responses, waits
from .auth import Access
from .documentation import Blueprint
from .negotiation import NDJSON
from .operation import Answer, Call, operation
from .schemas.events import EventList, EventsQuery
from .services import services

blueprint = Blueprint("events", __name__, description="What happened, in order.")

PAGE = 100
"""Events on a page, if not told."""


@blueprint.route("/games/<id:game_id>/events", methods=["GET"])
@operation(
    "listEvents",
    access=Access.OPTIONAL,
    answers={
        200: Answer(
            "A page of events, or all of them as NDJSON, one a line, and the head, signed.",
            EventList,
            ("ETag", "Link"),
            ndjson=True,
        )
    },
    query=EventsQuery,
    problems=("not-found", "rate-limited"),
    if_none_match=True,
    offered=(encoding.MEDIA_TYPE, NDJSON),
)
def list_events(call: Call, game_id: str) -> Response:
    """List a game's events.

    As the caller may see them; once the game is over everything is open, and anyone who may see
    the game can check the chain of hashes. Go on with `after`, the last version that you have; with
    `wait` the answer comes as soon as there is more, or empty when the time is up or the game over.

    As NDJSON it is an export that `./abbot verify` and other verifiers check offline: each line is
    the canonical JSON (RFC 8785) of an event, and the last one has the type `export.signed` and,
    as a compact JWS, the game's last event signed.
    """
    store = services().store
    loaded = waits.for_events(call, lambda: access.load(call, game_id))
    game = loaded.game
    after = call.query["after"]
    lines = call.media_type == NDJSON
    limit = call.query.get("limit", game.version if lines else PAGE)
    # No further than the head that the answer names.
    chosen = store.events(game_id, after, min(limit, max(0, game.version - after)))
    items = presenting.events(chosen, access.viewer(game, call), game.over)
    if lines:
        whole = bool(chosen) and chosen[-1].version == game.version
        head = chosen[-1] if whole else store.events(game_id, game.version - 1, 1)[0]
        body = exports.write(items, head, services().signer.sign, sandbox=game.sandbox)
        response = current_app.response_class(body, mimetype=NDJSON)
        return _varied(etags.conditional(response, f"{game.version}n"))
    page = {"items": items, "head": {"version": game.version, "hash": loaded.head_hash}}
    last = after + len(items)
    if items and last < game.version:
        page["next_cursor"] = str(last)
    response = responses.tagged(page, str(game.version))
    if "next_cursor" in page:
        paging.link_next(response, after=last)
    return _varied(response)


def _varied(response: Response) -> Response:
    response.vary.add("Accept")
    return response
