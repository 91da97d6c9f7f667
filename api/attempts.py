"""Refused moves, and the looks that auditors took."""

from __future__ import annotations

from typing import Any

from flask import Response

from domain.attempts import Attempt
from eventstore.looks import Look

from . import access, paging
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .schemas.attempts import AuditorLookList, MoveAttemptList, PageOfGameQuery
from .services import services

blueprint = Blueprint("attempts", __name__, description="Refused moves, and auditors' looks.")


@blueprint.route("/games/<id:game_id>/attempts", methods=["GET"])
@operation(
    "listAttempts",
    answers={200: Answer("A page of refused moves.", MoveAttemptList, ("ETag", "Link"))},
    query=PageOfGameQuery,
    problems=("not-found",),
    if_none_match=True,
)
def list_attempts(call: Call, game_id: str) -> Response:
    """List refused moves.

    One's own; an auditor sees everyone's. They tell when a move was received and the deadline that
    it was held against. The newest 100 of each seat are kept for 90 days.
    """
    game = access.load(call, game_id).game
    before = paging.read_cursor(call.query.get("cursor"))
    everyones = access.viewer(game, call).everything
    page = services().attempts.page(
        game_id,
        player_id=None if everyones else call.player.player_id,
        before=before,
        limit=call.query["limit"],
    )
    return paging.page([shown(attempt) for attempt in page.items], page.next)


@blueprint.route("/games/<id:game_id>/looks", methods=["GET"])
@operation(
    "listLooks",
    answers={200: Answer("A page of looks.", AuditorLookList, ("ETag", "Link"))},
    query=PageOfGameQuery,
    problems=("forbidden", "not-found"),
    if_none_match=True,
)
def list_looks(call: Call, game_id: str) -> Response:
    """List the looks that auditors took at hidden cards.

    For the seats and auditors. Each look at a running game is recorded before it is answered, and
    none is ever removed.
    """
    loaded = access.see(call, game_id)
    if not access.audits(loaded.game, call):
        access.seated(loaded.game, call)
    call.validate()
    before = paging.read_cursor(call.query.get("cursor"))
    page = services().looks.page(game_id, before=before, limit=call.query["limit"])
    return paging.page([_look(look) for look in page.items], page.next)


def shown(attempt: Attempt) -> dict[str, Any]:
    """An attempt as it is answered, absent rather than null."""
    members = {
        "attempt_id": attempt.attempt_id,
        "seat": attempt.seat,
        "player_id": attempt.player_id,
        "at": attempt.at,
        "version": attempt.version,
        "due_at": attempt.due_at,
        "move": attempt.move,
        "code": attempt.code,
        "rule": attempt.rule,
        "detail": attempt.detail,
    }
    return {name: value for name, value in members.items() if value is not None}


def _look(look: Look) -> dict[str, Any]:
    return {
        "look_id": look.look_id,
        "at": look.at,
        "player_id": look.player_id,
        "operation": look.operation,
        "version": look.version,
    }
