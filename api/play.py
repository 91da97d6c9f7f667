"""Play: the start, moves, and leaving or coming back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from flask import Response

from domain.commands import (
    ComeBack,
    Command,
    Context,
    MakeMove,
    Resign,
    StartGame,
)
from domain.explaining import wording
from domain.game import (
    Explanation,
    Game,
    Refused,
    bind,
    decide,
    explain,
    listed_moves,
    require_time,
)
from eventstore import exports
from eventstore.executor import Outcome
from eventstore.store import Loaded

from . import access, changing, languages, metrics, presenting, responses
from .documentation import Blueprint
from .holding import holding
from .operation import Answer, Call, operation
from .problems import not_found
from .schemas import events as event_schemas
from .schemas import games as schemas
from .schemas import moves as move_schemas
from .schemas.events import MAX_PAGE
from .schemas.fields import whole
from .services import services

blueprint = Blueprint("play", __name__, description="Playing a match.")

_GAME = Answer("The game.", schemas.Game, ("ETag",))
_AROUND = ("forbidden", "not-found", "game-not-active")


@blueprint.route("/games/<id:game_id>/start", methods=["POST"])
@operation(
    "startGame",
    answers={200: _GAME},
    body=schemas.EmptyObject,
    problems=("forbidden", "not-found", "not-in-lobby", "not-ready", "not-enough-seats"),
    idempotent=True,
    if_match=True,
)
def start_game(call: Call, game_id: str) -> Response:
    """Start the match.

    By the host, once enough seats are taken and every player is ready. The first round is dealt at
    once.
    """

    def command() -> Command:
        return StartGame(call.player.player_id)

    return changing.answer(call, changing.change(call, game_id, command, may=access.host))


@blueprint.route("/games/<id:game_id>/resign", methods=["POST"])
@operation(
    "resign",
    answers={200: _GAME},
    body=schemas.EmptyObject,
    problems=_AROUND,
    idempotent=True,
    if_match=True,
)
def resign(call: Call, game_id: str) -> Response:
    """Resign.

    Leaves the running match for good, at any time. Resigning again changes nothing.
    """

    def command() -> Command:
        return Resign(call.player.player_id)

    return changing.answer(call, changing.change(call, game_id, command, may=access.seated))


@blueprint.route("/games/<id:game_id>/back", methods=["POST"])
@operation(
    "comeBack",
    answers={200: _GAME},
    body=schemas.EmptyObject,
    problems=_AROUND,
    idempotent=True,
    if_match=True,
)
def come_back(call: Call, game_id: str) -> Response:
    """Come back.

    A seat whose turns ran out is away, and played for; this ends it.
    """

    def command() -> Command:
        return ComeBack(call.player.player_id)

    return changing.answer(call, changing.change(call, game_id, command, may=access.seated))


@blueprint.route("/games/<id:game_id>/rematch", methods=["POST"])
@operation(
    "rematch",
    answers={
        200: Answer("The new table, at which the caller is already.", schemas.Game, ("ETag",)),
        201: Answer("The new table.", schemas.Game, ("Location", "ETag")),
    },
    body=schemas.EmptyObject,
    problems=("forbidden", "not-found", "game-not-over", "not-in-lobby", "table-full"),
    idempotent=True,
    if_match=True,
)
def rematch(call: Call, game_id: str) -> Response:
    """Play again.

    Opens a table with the same settings and the same seats kept for the same players, or sits down
    at the one that another player has opened so: it is the same for all who ask. If that one has
    started or was closed meanwhile, that is a 409 for who has no seat there.
    """
    judged: Game | None = None

    def check(game: Game) -> None:
        nonlocal judged
        judged = game
        access.require_sight(game, call)
        call.require_play()
        access.seated(game, call)
        call.validate()
        changing.require_match(call, game)
        if game.over and not counted:
            counted.append(closing.enter_context(holding().room(call, beside=game_id)))

    def about(refused: Refused) -> Game | None:
        # Whatever else is refused is refused by the new table, whose version this is not.
        return judged if refused.code == "game-not-over" else None

    counted: list[None] = []
    with changing.problems(call, about), ExitStack() as closing:
        outcome = services().executor.rematch(
            game_id, call.player.player_id, check=check, idempotency=changing.idempotency(call)
        )
    return changing.answer(call, outcome, created=changing.url(outcome.game.game_id))


@blueprint.route("/games/<id:game_id>/legal-moves", methods=["GET"])
@operation(
    "listLegalMoves",
    answers={200: Answer("The legal moves.", move_schemas.LegalMoves, ("ETag",))},
    problems=("forbidden", "not-found"),
    if_none_match=True,
)
def list_legal_moves(call: Call, game_id: str) -> Response:
    """List one's legal moves.

    Each can be posted as it is, once `take` is chosen where `take_from` is present. Empty when it
    is not the caller's turn.
    """
    game = access.see(call, game_id).game
    access.seated(game, call)
    call.validate()
    seat = game.seat_of(call.player_id)
    assert seat is not None
    body = {"version": game.version, "legal_moves": listed_moves(game, seat)}
    return responses.tagged(body, str(game.version))


@blueprint.route("/games/<id:game_id>/moves", methods=["POST"])
@operation(
    "makeMove",
    answers={
        200: Answer(
            "With `dry_run`: the move would be legal.",
            move_schemas.DryRun,
            ("ETag", "Content-Language"),
        ),
        201: Answer("The move is made.", event_schemas.MadeMove, ("Location", "ETag")),
    },
    body=move_schemas.Move,
    body_required=True,
    query=move_schemas.MoveQuery,
    problems=(
        "forbidden",
        "not-found",
        "game-not-active",
        "not-your-turn",
        "stale-turn",
        "turn-expired",
        "illegal-move",
    ),
    idempotent=True,
    if_match=True,
    body_example={"type": "play", "card": "E-rose"},
)
def make_move(call: Call, game_id: str) -> Response:
    """Make a move.

    The answer has the events that it led to, the game after them, and a receipt: signed proof that
    the event that is the move itself stands in the record, and since when. A move that names
    `round` and `turn` counts for that turn only, so it can safely be sent again; with an
    idempotency key it also gets the same answer. With `dry_run` it is judged but not made.
    """

    def command() -> MakeMove:
        move = dict(call.fields)
        round_number, turn = move.pop("round", None), move.pop("turn", None)
        return MakeMove(call.player.player_id, move, round_number, turn)

    if ("dry_run", "true") in call.asked:
        return _dry_run(call, game_id, command)
    # A move that is made must be answered, so what can fail about its receipt comes first.
    services().signer.prepare()
    outcome = changing.change(call, game_id, command, may=access.playing)
    if outcome.events and not outcome.replayed:
        metrics.MOVES.labels("player").inc()
    game = outcome.game
    viewer = access.viewer(game, call)
    body = {
        "events": presenting.events(outcome.events, viewer, game.over),
        "game": presenting.game(game, viewer, now=outcome.now, head_hash=outcome.head_hash),
        "receipt": _receipt(outcome),
    }
    count = min(len(outcome.events), MAX_PAGE)
    where = f"{changing.url(game_id)}/events?after={outcome.first - 1}&limit={count}"
    response = responses.json(body, 201, location=where)
    response.headers["ETag"] = f'"{game.version}"'
    return response


def _receipt(outcome: Outcome) -> str:
    """The signed proof that the event that is the move itself was recorded, and when."""
    move_of = outcome.game.rules.move_of
    move = next(event for event in outcome.events if move_of(event) is not None)
    said = exports.signed_of(move, sandbox=outcome.game.sandbox)
    return services().signer.sign({**said, "player_id": move.by["player_id"]})


def _dry_run(call: Call, game_id: str, command: Callable[[], MakeMove]) -> Response:
    loaded = services().store.load(game_id, since=_round_named(call))
    if loaded is None:
        raise not_found()
    game = loaded.game
    access.require_sight(game, call)
    call.require_play()
    access.playing(game, call)
    call.validate()
    wanted = command()
    changing.require_match(call, game, wanted)
    explanation = _judge(call, loaded, wanted)
    body = {
        "legal": True,
        "rules": explanation.rules,
        "rule": explanation.rule,
        "wording": wording(game, explanation.rule, languages.preferred()),
        "detail": languages.told(explanation.detail),
        "facts": explanation.facts,
    }
    response = languages.speaking(responses.json(body))
    response.headers["ETag"] = f'"{game.version}"'
    return response


def _round_named(call: Call) -> int | None:
    """The round that the move names, before the body was judged."""
    return whole(call.sent.get("round"))


def _judge(call: Call, loaded: Loaded, command: MakeMove) -> Explanation:
    """Why the move is legal; nothing is recorded, an overdue turn's end neither, and what that
    will bring is not told before."""
    game = services().executor.with_time_back(loaded)
    context = Context(loaded.secret, loaded.now)
    bound = bind(game, command)
    try:
        decide(game, bound, context)
        require_time(game, bound, loaded.now)
        return explain(game, bound)
    except Refused as refused:
        raise changing.refusal(refused, game, call) from None
