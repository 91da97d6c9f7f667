"""Every change of a game goes through here: the checks in their order, and the answer."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator

import orjson
from flask import Response, request

from domain.commands import Command, Context
from domain.explaining import wording
from domain.game import Game, Refused, decide, listed_moves
from eventstore.errors import GameNotFound, KeyReused
from eventstore.executor import Outcome
from eventstore.outcomes import unchanged
from eventstore.store import Idempotency

from . import access, etags, languages, presenting, responses
from .operation import Call
from .problems import Problem, not_found
from .services import services

_PROBE = Context(secret=bytes(32))
# What comes before a failed If-Match in the order of checks.
_BEFORE_PRECONDITION = ("forbidden", "not-found", "validation")


class _SeesLater(Exception):
    """The caller is a spectator of a match that they see later than it is played."""


def _no_game(_: Refused) -> None:
    return None


def url(game_id: str) -> str:
    """The path of a game."""
    return f"/v1/games/{game_id}"


def idempotency(call: Call) -> Idempotency | None:
    """The request as its idempotency key stands for it: equal JSON is an equal body."""
    if call.idempotency_key is None or call.caller is None:
        return None
    body = orjson.dumps(call.sent, option=orjson.OPT_SORT_KEYS)
    return Idempotency(
        token_id=call.caller.token_id,
        key=call.idempotency_key,
        path=f"{request.method} {request.path.lower()}",
        body_hash=hashlib.sha256(body).digest(),
    )


def change(
    call: Call,
    game_id: str,
    build: Callable[[], Command],
    *,
    may: access.Rule = access.anyone,
) -> Outcome:
    """Execute the command that `build` makes of the call, which `may` do what it asks.

    `build` may validate; what it raises waits until it is known that the caller may see the game
    (404) and act in it (403).
    """
    command: Command | None = None
    fault: Problem | None = None
    judged: Game | None = None
    try:
        call.validate()
        command = build()
    except Problem as problem:
        fault = problem

    def check(game: Game) -> None:
        nonlocal judged
        judged = game
        access.require_sight(game, call)
        call.require_play()
        may(game, call)
        if fault is not None:
            raise fault
        if access.sees_later(game, call):
            raise _SeesLater
        require_match(call, game, command)

    if command is None:
        loaded = services().store.load(game_id)
        if loaded is None:
            raise not_found()
        check(loaded.game)
        raise AssertionError("a fault is raised by the check")
    with problems(call, lambda _: judged):
        try:
            return services().executor.execute(
                game_id, command, check=check, idempotency=idempotency(call)
            )
        except _SeesLater:
            loaded = access.see(call, game_id)
            judged = loaded.game
            require_match(call, loaded.game, command)
            # Nothing that a spectator can ask for changes a match: it is refused, or so already.
            decide(loaded.game, command, _PROBE)
            return unchanged(loaded)


@contextlib.contextmanager
def problems(call: Call, about: Callable[[Refused], Game | None] = _no_game) -> Iterator[None]:
    """What the event store and the referee refuse within the block, as problems; `about` gives the
    position that a refusal is about, if the answer is to tell of it."""
    try:
        yield
    except GameNotFound:
        raise not_found() from None
    except KeyReused:
        raise key_reused() from None
    except Refused as refused:
        raise refusal(refused, about(refused), call) from None


def require_match(call: Call, game: Game, command: Command | None = None) -> None:
    """412 if If-Match does not name the game's version, unless the referee would say no to
    `command` for what comes before that in the order of checks."""
    try:
        etags.require_match(game.version)
    except Problem:
        if command is not None:
            _raise_what_comes_first(call, game, command)
        raise


def _raise_what_comes_first(call: Call, game: Game, command: Command) -> None:
    try:
        decide(game, command, _PROBE)
    except Refused as refused:
        if refused.code in _BEFORE_PRECONDITION:
            raise refusal(refused, game, call) from None


def key_reused() -> Problem:
    return Problem(
        "idempotency-key-reused", "This Idempotency-Key was used for another request before."
    )


def refusal(refused: Refused, game: Game | None, call: Call) -> Problem:
    """What the referee says, as a problem; of a move with the moves that would be legal."""
    problem = Problem(
        refused.code, refused.detail, errors=refused.errors or None, rule=refused.rule
    )
    if refused.facts:
        problem.more["facts"] = refused.facts
    if refused.attempt_id is not None:
        problem.more["attempt_id"] = refused.attempt_id
    if game is not None and refused.rule is not None:
        problem.more["wording"] = wording(game, refused.rule, languages.preferred())
    if game is None or problem.status not in (409, 422) or refused.code == "validation":
        return problem
    problem.more["version"] = game.version
    seat = game.seat_of(call.player_id)
    if seat is not None and call.operation.id == "makeMove":
        problem.more["facts"] = refused.facts
        problem.more["legal_moves"] = listed_moves(game, seat)
    return problem


def answer(call: Call, outcome: Outcome, *, created: str | None = None) -> Response:
    """The game after a change: 201 with `created` as Location, 200 if nothing was created or the
    record did not grow."""
    game = outcome.game
    body = presenting.game(
        game, access.viewer(game, call), now=outcome.now, head_hash=outcome.head_hash
    )
    if created is not None and outcome.events:
        response = responses.json(body, 201, location=created)
    else:
        response = responses.json(body)
    response.headers["ETag"] = f'"{game.version}"'
    return response
