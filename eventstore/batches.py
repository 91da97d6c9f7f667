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
from .database import Fate, fate_of
from .errors import Broken, OutOfService
from .executor import DueTurn, Executor, runs
from .outcomes import Outcome, planned, stored
from .pool import Row
from .positions import Loaded
from .recorded import HASH_BYTES
from .service import Service
from .store import decided, folded

log = logging.getLogger(__name__)

LOCK_TIMEOUT = "100ms"
"""For so long a batch waits for a game that somebody has locked."""

MOST_LEFT_OUT = 5
"""So many appends are left out of a batch one by one; if more fail, the batch is left as it is."""


@dataclass(slots=True)
class Settled:
    """What became of a batch: turns that have expired, those that have got time back, those that
    are neither due nor owed anything, those that no longer run, whose deadlines are removed, and
    those that are left to be settled one by one."""

    expired: list[tuple[DueTurn, Outcome]] = field(default_factory=list)
    extended: list[DueTurn] = field(default_factory=list)
    idle: list[DueTurn] = field(default_factory=list)
    stale: list[DueTurn] = field(default_factory=list)
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
        if loaded is None:
            settled.left.append(due)
        elif runs(loaded.game, due.round, due.turn):
            waiting.append((due, loaded))
        else:
            settled.stale.append(due)
    if settled.stale:
        executor.store.drop_deadlines((due.game_id, due.round, due.turn) for due in settled.stale)
    if waiting:
        _settle(executor, waiting, settled)
    return settled


def _positions(executor: Executor, dues: Iterable[DueTurn]) -> list[tuple[DueTurn, Loaded | None]]:
    """Each turn with a position in which it runs, if this process has seen one last: the append
    tells whether that is the newest. Else with the newest position, if that is found."""
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
    for game_id, bodies, hashes, secret, rematch_of, version, newest in rows:
        if bodies is None:
            continue
        try:
            game = folded(fold_round, game_id, decided(bodies))
        except Broken:
            continue
        if game.version == version == newest:
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
            now = loaded.game.clock(service.now)
            decision = decide(loaded.game, command, Context(loaded.secret, now))
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
    if overdue(game, game.clock(service.now)):
        return ExpireTurn(game.round, game.turn.number)
    return None


def _append(executor: Executor, appends: Sequence[Append]) -> list[Appended | None]:
    """What became of each of the appends; None for one that failed, or of which it is not known.

    All are sent together and stored in one transaction. One that the database refuses is left out
    and the others are sent again, as is one whose game somebody keeps locked: no game waits for
    another.
    """
    results: list[Appended | None] = [None] * len(appends)
    trying = list(range(len(appends)))
    left_out = 0
    while trying and left_out <= MOST_LEFT_OUT:
        rows, failed = _together(executor, [appends[n] for n in trying])
        if failed is None:
            for n, row in zip(trying, rows, strict=False):
                results[n] = _appended(row)
            break
        del trying[failed]
        left_out += 1
    return results


def _together(executor: Executor, appends: Sequence[Append]) -> tuple[list[Row | None], int | None]:
    """The rows of all of the appends, none if it is not known what became of them; or which of
    them failed, so that nothing is stored."""
    cursors: list[psycopg.Cursor[Row]] = []
    try:
        with executor.store.database.connection() as connection:
            with connection.pipeline():
                # Within this transaction. The role's own limit is for who has nothing else to do.
                connection.execute(sql_batches.LOCK_TIMEOUT, {"timeout": LOCK_TIMEOUT})
                for append in appends:
                    cursor = connection.cursor(binary=True)
                    cursors.append(cursor)
                    cursor.execute(sql.APPEND, append.parameters())
            return [cursor.fetchone() for cursor in cursors], None
    except psycopg.Error as error:
        failed = next((n for n, cursor in enumerate(cursors) if cursor.pgresult is None), None)
        if failed is None or fate_of(error) is Fate.UNKNOWN:
            return [], None
        log.debug("One of a batch of appends was refused: %s", type(error).__name__)
        return [], failed


def _appended(row: Row | None) -> Appended | None:
    if row is None:
        return None
    return Appended(row[0], row[1], tuple(one.hex() for one in row[2] or ()), row[3], row[4])
