"""Settling due turns: one function for a pool process and for the node itself."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from eventstore import batches
from eventstore.bots import choose_move
from eventstore.deadlines import Deadlines
from eventstore.errors import OutOfService, Unavailable
from eventstore.executor import Executor
from workers import figures

log = logging.getLogger(__name__)

ATTEMPTS_WITHOUT_STORE = 2
"""After so many turns in a row that the store could not take, the rest of a batch is left."""


class DueTurn(NamedTuple):
    """What is due: `kind` says what to do, if `round` and `turn` of the game still run."""

    game_id: str
    kind: str
    round: int
    turn: int


def expire(executor: Executor, due: DueTurn) -> bool:
    """Play the turn whose time ran out. False when it no longer runs."""
    outcome = executor.expire(due.game_id, due.round, due.turn)
    if outcome is None:
        return False
    figures.observe_expiry(outcome.events)
    return True


def move_bot(executor: Executor, due: DueTurn) -> bool:
    """Make the move of the computer player whose turn it is. False when it no longer runs."""
    outcome = executor.bot_move(due.game_id, due.round, due.turn, choose_move)
    if outcome is None:
        return False
    figures.MOVES.labels("bot").inc()
    return True


HANDLERS: Mapping[str, Callable[[Executor, DueTurn], bool]] = {"turn": expire, "bot": move_bot}


def settle(executor: Executor, dues: Iterable[DueTurn]) -> Counter[str]:
    """Settle due turns: counts of `settled`, `stale`, `failed` and `left`.

    Expired turns go together, in few round trips, and whatever does not go through so is settled
    one by one, as bots' moves are. Never raises for one turn's trouble. The row of a turn that was
    not settled stays, and is claimed again after its lease; while no process takes moves it is
    given back at once. A kind that this release does not know is left to a newer one.
    """
    tally: Counter[str] = Counter()
    remaining = list(dues)
    try:
        remaining = _together(executor, remaining, tally)
        _one_by_one(executor, remaining, tally)
    except OutOfService:
        _give_up(executor, remaining, tally)
    except Unavailable as error:
        log.warning("The store could not take a batch of due turns: %s", described(error))
        for due in remaining:
            _count(tally, due, "failed")
    return tally


def _together(executor: Executor, dues: list[DueTurn], tally: Counter[str]) -> list[DueTurn]:
    """Expire turns in a batch; the due rows that are left. Raises before anything is done."""
    turns = [due for due in dues if due.kind == "turn"]
    if not turns:
        return dues
    try:
        result = batches.expire(executor, turns)
    except (OutOfService, Unavailable):
        raise
    except Exception as error:
        log.error("A batch of due turns failed: %s", described(error))
        return dues
    done = set()
    for due, outcome in result.expired:
        figures.observe_expiry(outcome.events)
        _count(tally, due, "settled")
        done.add(due)
    for due in (*result.extended, *result.stale):
        _count(tally, due, "stale")
        done.add(due)
    return [due for due in dues if due not in done]


def _one_by_one(executor: Executor, dues: list[DueTurn], tally: Counter[str]) -> None:
    """Settle each on its own. `dues` is what is left of them, whatever is raised."""
    without_store = 0
    while dues:
        due = dues[0]
        handler = HANDLERS.get(due.kind)
        if handler is None or without_store >= ATTEMPTS_WITHOUT_STORE:
            _count(tally, due, "left")
            del dues[0]
            continue
        try:
            settled = handler(executor, due)
        except OutOfService:
            raise
        except Unavailable as error:
            without_store += 1
            _count(tally, due, "failed")
            log.warning(
                "The store could not take %s: %s", name(due), described(error), extra=ids(due)
            )
        except Exception as error:
            _count(tally, due, "failed")
            log.error("%s failed: %s", name(due), described(error), extra=ids(due))
        else:
            without_store = 0
            _count(tally, due, "settled" if settled else "stale")
        del dues[0]


def _give_up(executor: Executor, dues: list[DueTurn], tally: Counter[str]) -> None:
    for due in dues:
        _count(tally, due, "left")
    try:
        Deadlines(executor.store.pool).release(dues)
    except Exception as error:
        log.warning("Claims could not be given back: %s", described(error))


def _count(tally: Counter[str], due: DueTurn, outcome: str) -> None:
    tally[outcome] += 1
    figures.SETTLED.labels(due.kind if due.kind in HANDLERS else "other", outcome).inc()


def ids(due: DueTurn) -> dict[str, str]:
    """What else a log line on a due turn names."""
    return {"game_id": due.game_id, "kind": due.kind}


def name(due: DueTurn) -> str:
    """How a log names a due turn."""
    return f"{due.kind} of game {due.game_id}, round {due.round}, turn {due.turn}"


def described(error: BaseException) -> str:
    """What a log may say of an error: its class and where it arose, as its text may hold cards."""
    trace = error.__traceback__
    where = "nowhere"
    while trace is not None:
        where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    state = getattr(error, "sqlstate", None)
    return f"{type(error).__name__}{f' ({state})' if state else ''} at {where}"
