"""Many due turns in few round trips: load them together, decide each, append them together.

What does not go through so, because somebody else was faster or for whatever reason, is left to
`Executor.expire`, which settles one turn whatever happens. So nothing here has to be retried.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import psycopg

from domain.commands import Command, Context, ExpireTurn, ExtendTurn
from domain.game import Decision, decide, fold_round, overdue
from domain.outages import owed

from . import sql, sql_batches
from .appending import APPENDED, Append, Appended, Guard
from .errors import Broken, OutOfService
from .executor import DueTurn, Executor, runs
from .outcomes import Outcome, planned, stored
from .positions import Loaded
from .recorded import HASH_BYTES
from .service import Service
from .store import decided, folded

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Settled:
    """What became of a batch: turns that have expired, those that have got time back, those that
    are neither due nor owed anything, and those that are left to be settled one by one."""

    expired: list[tuple[DueTurn, Outcome]] = field(default_factory=list)
    extended: list[DueTurn] = field(default_factory=list)
    idle: list[DueTurn] = field(default_factory=list)
    left: list[DueTurn] = field(default_factory=list)


def expire(executor: Executor, dues: Iterable[DueTurn]) -> Settled:
    """Record the expiry of those of the turns that are due, and give back what they are owed.

    OutOfService while nobody can make a move, Unavailable when the database is away; then nothing
    was recorded.
    """
    settled = Settled()
    waiting: list[tuple[DueTurn, Loaded]] = []
    positions = _positions(executor, {due.game_id: due for due in dues}.values())
    for due, loaded in positions:
        if loaded is not None and runs(loaded.game, due.round, due.turn):
            waiting.append((due, loaded))
        else:
            settled.left.append(due)
    if waiting:
        _settle(executor, waiting, settled)
    return settled


def _positions(executor: Executor, dues: Iterable[DueTurn]) -> list[tuple[DueTurn, Loaded | None]]:
    """Each turn with a position in which it runs, if one is known or found. What this process has
    seen last is good enough: the append tells whether it is the newest."""
    store = executor.store
    known: dict[str, Loaded] = {}
    ordered = sorted(dues, key=lambda due: due.game_id)
    for due in ordered:
        seen = store.known(due.game_id)
        if seen is not None and runs(seen.game, due.round, due.turn):
            known[due.game_id] = seen
    missing = [due.game_id for due in ordered if due.game_id not in known]
    if missing:
        known |= _load(executor, missing)
    return [(due, known.get(due.game_id)) for due in ordered]


def _load(executor: Executor, game_ids: Sequence[str]) -> dict[str, Loaded]:
    found: dict[str, Loaded] = {}
    rows = executor.store.database.run(sql_batches.LOAD_MANY, {"game_ids": list(game_ids)})
    for game_id, bodies, hashes, secret, rematch_of, version in rows:
        if bodies is None:
            continue
        try:
            game = folded(fold_round, game_id, decided(bodies))
        except Broken:
            continue
        if game.version == version:
            loaded = Loaded(game, secret, hashes[-HASH_BYTES:].hex(), rematch_of)
            executor.store.positions.keep(loaded)
            found[game_id] = loaded
    return found


def _settle(
    executor: Executor, waiting: Sequence[tuple[DueTurn, Loaded]], settled: Settled
) -> None:
    turns = [loaded.game.turn for _, loaded in waiting]
    since = min(turn.at for turn in turns if turn is not None)
    # Newer than every position, so an outage that ended before a turn is found overdue is seen.
    service = executor.service.look(since)
    if service.out:
        raise OutOfService
    planning: list[tuple[DueTurn, Loaded, Decision, Append]] = []
    for due, loaded in waiting:
        command = _command(loaded, service)
        if command is None:
            settled.idle.append(due)
            continue
        try:
            decision = decide(loaded.game, command, Context(loaded.secret, service.now))
            guard: Guard = "late" if isinstance(command, ExpireTurn) else "none"
            append = planned(loaded.game, loaded.head_hash, decision, guard, None)
        except Exception:
            settled.left.append(due)
        else:
            planning.append((due, loaded, decision, append))
    results = _append(executor, [append for *_, append in planning])
    for (due, loaded, decision, append), appended in zip(planning, results, strict=True):
        if appended is None or appended.status != APPENDED:
            settled.left.append(due)
            continue
        outcome = stored(append, appended, decision.game)
        executor.store.keep(outcome.game, outcome.head_hash, loaded.secret, loaded.rematch_of)
        if outcome.events[0].type == "turn.expired":
            settled.expired.append((due, outcome))
        else:
            settled.extended.append(due)


def _command(loaded: Loaded, service: Service) -> Command | None:
    game = loaded.game
    assert game.turn is not None
    seconds = owed(game, service.outages)
    if seconds:
        return ExtendTurn(game.round, game.turn.number, seconds)
    if overdue(game, service.now):
        return ExpireTurn(game.round, game.turn.number)
    return None


def _append(executor: Executor, appends: Sequence[Append]) -> list[Appended | None]:
    """What became of each of the appends, which are sent together and stored in one transaction;
    None for all if that failed, or if it is not known."""
    try:
        with executor.store.database.connection() as connection:
            cursors = []
            with connection.pipeline():
                for append in appends:
                    cursor = connection.cursor(binary=True)
                    cursors.append(cursor)
                    cursor.execute(sql.APPEND, append.parameters())
            rows = [cursor.fetchone() for cursor in cursors]
    except psycopg.Error as error:
        log.debug("A batch of appends was not stored: %s", type(error).__name__)
        return [None] * len(appends)
    return [
        None
        if row is None
        else Appended(row[0], row[1], tuple(one.hex() for one in row[2] or ()), row[3], row[4])
        for row in rows
    ]
