"""Who may see a game and act in it. What one may not see is a 404, what one may not do a 403."""

from __future__ import annotations

from collections.abc import Callable

from domain.game import Game
from domain.redaction import EVERYTHING, Viewer
from eventstore.store import Loaded

from .auth import AUDIT
from .operation import Call
from .problems import Problem, forbidden, not_found
from .services import services

Rule = Callable[[Game, Call], None]


def see(call: Call, game_id: str) -> Loaded:
    """The game as it is for the caller; 404 if they may not see it.

    For spectators that is how it stood as long ago as the host has set. Every read begins here, so
    nothing later than this position is there to be shown.
    """
    loaded = services().store.load(game_id)
    if loaded is None:
        raise not_found()
    require_sight(loaded.game, call)
    return services().earlier.of(loaded) if sees_later(loaded.game, call) else loaded


def load(call: Call, game_id: str) -> Loaded:
    """The same for a call whose values are right (else 422)."""
    loaded = see(call, game_id)
    call.validate()
    return loaded


def sees_later(game: Game, call: Call) -> bool:
    """Whether the caller sees `game`, which must be the newest position, later than its seats: the
    lobby and the start nobody does."""
    return bool(game.started) and game.spectator_delay_seconds > 0 and watches(game, call)


def watches(game: Game, call: Call) -> bool:
    """Whether the caller is a spectator: without a seat, and no auditor."""
    return game.seat_of(call.player_id) is None and not audits(game, call)


def viewer(game: Game, call: Call) -> Viewer:
    """As whom the caller sees `game`, which must be the newest position that `see` gives.

    An auditor sees everything, and while there are hidden cards each look is recorded before it is
    answered.
    """
    if not audits(game, call):
        return Viewer(game.seat_of(call.player_id))
    if game.started and not game.over:
        services().looks.record(
            game.game_id,
            game.version,
            player_id=call.player.player_id,
            token_id=call.player.token_id,
            operation=call.operation.id,
        )
    return EVERYTHING


def audits(game: Game, call: Call) -> bool:
    """Whether the caller is an auditor of `game`: who holds or held a seat in it is a party to it
    and no auditor of it until it is over."""
    if call.caller is None or AUDIT not in call.caller.scopes:
        return False
    return game.over or call.player_id not in game.sat


def replaying(game: Game, call: Call) -> Viewer:
    """As whom the caller sees an earlier state of `game`, of which everything is open once it is
    over."""
    if game.over:
        return Viewer(game.seat_of(call.player_id), everything=True)
    return viewer(game, call)


def require_sight(game: Game, call: Call) -> None:
    """404 unless the game is of the caller's world, the sandbox or the real one, and public, or the
    caller has a seat, an invite or the scope `audit`. A table whose being there tells the end of
    another match before its time is till then as if it was private."""
    seated = game.seat_of(call.player_id) is not None
    require_sight_of(game.game_id, game.visibility, seated, call, sandbox=game.sandbox)


def require_sight_of(
    game_id: str, visibility: str, seated: bool, call: Call, *, sandbox: bool
) -> None:
    """The same of a game that need not fold; `seated` is whether the caller has a seat in it."""
    if sandbox != call.sandbox:
        raise not_found()
    if seated or (visibility == "public" and not services().rematches.hidden(game_id)):
        return
    if call.caller is not None and AUDIT in call.caller.scopes:
        return
    invites = services().invites
    if call.player_id is not None and invites.admitted(game_id, call.player_id):
        return
    if call.invite is not None and invites.valid(game_id, call.invite):
        return
    raise not_found()


def anyone(game: Game, call: Call) -> None:
    """No more than to see it."""


def seated(game: Game, call: Call) -> None:
    """403 unless the caller has a seat."""
    if game.seat_of(call.player_id) is None:
        raise forbidden("You hold no seat in this game.")


def playing(game: Game, call: Call) -> None:
    """403 unless the caller has a seat that has not resigned."""
    seated(game, call)
    if game.seat_of(call.player_id) in game.resigned:
        raise Problem("forbidden", "You have resigned from this game.", rule="table.resigning")


def host(game: Game, call: Call) -> None:
    """403 unless the caller is the table's host."""
    seat = game.seat_of(call.player_id)
    if seat is None or seat != game.host:
        raise forbidden("Only the host of the table may do that.")
