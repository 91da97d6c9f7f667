"""Time that the service was unable to take moves, and what a running turn gets back of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .state import Game
from .times import to_micros

SECOND = 1_000_000


class Outage(NamedTuple):
    """Moves could not be taken between these two times (RFC 3339)."""

    began_at: str
    ended_at: str


def owed(game: Game, outages: Iterable[Outage]) -> int:
    """Whole seconds that the running turn is still owed for `outages`, which don't overlap.

    A turn gets back what it lost while it had time left, rounded up, less what it has been given
    already: so however often and by whomever it is asked, each outage is given back once. An
    outage that began after the turn was due took nothing from it. The clock of a sandbox game is
    its host's, and gives nothing back.
    """
    turn = game.turn
    if turn is None or not turn.at or turn.expired or game.sandbox:
        return 0
    began = to_micros(turn.at)
    due = began + (game.due_seconds - turn.extended) * SECOND
    lost = given = 0
    for outage in sorted(outages):
        since = max(to_micros(outage.began_at), began)
        until = to_micros(outage.ended_at)
        if since < min(until, due + given * SECOND):
            lost += until - since
            given = -(-lost // SECOND)
    return max(0, given - turn.extended)
