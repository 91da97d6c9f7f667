"""The clock of a sandbox game, for tests of clients."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Response

from domain.game import Game
from eventstore import clocks
from eventstore.bots import choose_move

from . import access, changing
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import Problem, forbidden, unavailable
from .schemas import games as schemas
from .services import services

blueprint = Blueprint("clock", __name__, description="The test clock of sandbox games.")

_PLACES = threading.BoundedSemaphore(2)
"""Clocks that move at a time in one process: computer players think while they do."""
_MOVING: set[str] = set()
"""The players who have a clock move here: each one at a time, so that nobody takes all places."""
_LOCK = threading.Lock()
_PATIENCE_SECONDS = 10.0


@blueprint.route("/games/<id:game_id>/clock", methods=["POST"])
@operation(
    "advanceClock",
    answers={200: Answer("The game.", schemas.Game, ("ETag",))},
    body=schemas.ClockChange,
    body_required=True,
    problems=("forbidden", "not-found", "game-not-active", "rate-limited"),
    idempotent=True,
    if_match=True,
    body_example={"advance_seconds": 65},
)
def advance_clock(call: Call, game_id: str) -> Response:
    """Move the clock of a sandbox game.

    By its host, while a match is played. What comes due on the way happens at its time: turns run
    out and computer players move, before the answer. The clock stops where the match ends, and
    after 100 turns at most; `clock` says how far it is ahead. One call of a player's at a time:
    another is 429 meanwhile.
    """
    fault: Problem | None = None
    judged: Game | None = None
    try:
        call.validate()
    except Problem as problem:
        fault = problem

    def check(game: Game) -> None:
        nonlocal judged
        judged = game
        access.require_sight(game, call)
        call.require_play()
        if not game.sandbox:
            raise forbidden(
                "Only the clock of a sandbox game can be moved: register players with sandbox true."
            )
        access.host(game, call)
        if fault is not None:
            raise fault
        changing.require_match(call, game)

    with changing.problems(call, lambda _: judged), _turn(call.player.player_id), _place():
        outcome = clocks.advance(
            services().executor,
            game_id,
            call.player.player_id,
            call.fields.get("advance_seconds", 0) * 1000,
            choose_move,
            check=check,
            idempotency=changing.idempotency(call),
        )
    return changing.answer(call, outcome)


@contextmanager
def _turn(player_id: str) -> Iterator[None]:
    """429 while a clock of this player moves."""
    with _LOCK:
        if player_id in _MOVING:
            raise Problem(
                "rate-limited",
                "A clock of yours is moving; that is the most at a time.",
                headers={"Retry-After": "1"},
            )
        _MOVING.add(player_id)
    try:
        yield
    finally:
        with _LOCK:
            _MOVING.discard(player_id)


@contextmanager
def _place() -> Iterator[None]:
    if not _PLACES.acquire(timeout=_PATIENCE_SECONDS):
        raise unavailable()
    try:
        yield
    finally:
        _PLACES.release()
