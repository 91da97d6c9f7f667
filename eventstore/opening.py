"""Opening tables, once however often it is asked for: new ones, and rematches with kept seats."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from domain.commands import Context, CreateGame, TakeSeat
from domain.game import Decision, Game, decide, new_game, overdue
from domain.refusals import ALREADY_SEATED, FORBIDDEN, GAME_NOT_OVER, NOT_IN_LOBBY, Refused
from domain.sandbox import secret_of

from .appending import APPENDED
from .database import Pause
from .errors import KeyReused
from .ids import uuid7
from .outcomes import KEEP_KEYS, Check, Outcome, planned, stored, unchanged
from .positions import Idempotency, Loaded

if TYPE_CHECKING:
    from .executor import Executor


def create(
    executor: Executor, command: CreateGame, game_id: str, idempotency: Idempotency | None
) -> Outcome:
    """Open a table as `game_id`, or the one that was opened under the key before."""
    store = executor.store
    if idempotency is not None:
        decide(new_game(uuid7()), command, Context(bytes(32)))  # a refused request claims nothing
        record, taken = store.find_record(idempotency)
        if taken:
            raise KeyReused
        if record is None:
            claim = store.claim_creation(idempotency, game_id, KEEP_KEYS)
            if not claim.answers(idempotency):
                raise KeyReused
            game_id = claim.game_id
        else:
            game_id = record.game_id
    return _open(executor, command, game_id, idempotency)


def rematch(
    executor: Executor,
    old_game_id: str,
    player_id: str,
    check: Check | None,
    idempotency: Idempotency | None,
) -> Outcome:
    """Open the rematch of a game for the player, or have the player sit down in it."""
    store = executor.store
    if idempotency is not None:
        record, taken = store.find_record(idempotency)
        if taken:
            raise KeyReused
        if record is not None:
            loaded = executor.load(record.game_id, idempotency)
            return executor.replay(loaded, record, idempotency, None)
    old = executor.load(old_game_id, None)
    if overdue(old.game, old.now):
        executor.expire_running(old, Pause(executor.patience))
        old = executor.load(old_game_id, None)
    if check is not None:
        check(old.game)
    seat = old.game.seat_of(player_id)
    if seat is None:
        raise Refused(FORBIDDEN, "You held no seat in this game.")
    if not old.game.over:
        raise Refused(GAME_NOT_OVER, "The match is not over yet.")
    new_id = old.rematch or store.claim_rematch(old_game_id, uuid7())
    if old.rematch is None:
        outcome = _open(
            executor, _same_table(old.game, player_id, seat), new_id, idempotency, old.game
        )
        store.rematch_opened(old_game_id)
        if outcome.events or outcome.replayed:
            return outcome
    return _sit_down(executor, new_id, player_id, idempotency)


def _open(
    executor: Executor,
    command: CreateGame,
    game_id: str,
    idempotency: Idempotency | None,
    rematch_of: Game | None = None,
) -> Outcome:
    """Open the table `game_id`, or find that it is open already."""
    pause = Pause(executor.patience)
    while True:
        secret = secrets.token_bytes(32) if command.deal is None else secret_of(command.deal)
        before = new_game(game_id)
        decision = decide(before, command, Context(secret))
        append = planned(
            before,
            None,
            decision,
            "none",
            idempotency,
            secret=secret,
            rematch_of=None if rematch_of is None else rematch_of.game_id,
            invited=[] if rematch_of is None else _players(rematch_of),
        )
        appended = executor.attempt(append, pause)
        if appended is not None and appended.status == APPENDED:
            outcome = stored(append, appended, decision.game)
            executor.store.keep(
                outcome.game,
                outcome.head_hash,
                secret,
                None if rematch_of is None else rematch_of.game_id,
            )
            return outcome
        loaded = executor.store.load(game_id, idempotency)
        if loaded is None:
            continue
        if loaded.record is not None and idempotency is not None:
            return executor.replay(loaded, loaded.record, idempotency, None)
        return unchanged(loaded)


def _sit_down(
    executor: Executor, game_id: str, player_id: str, idempotency: Idempotency | None
) -> Outcome:
    def judge(loaded: Loaded) -> Decision:
        command = executor.with_kept(loaded, TakeSeat(player_id))
        try:
            return decide(loaded.game, command, Context(loaded.secret, loaded.now))
        except Refused as refused:
            seated = loaded.game.seat_of(player_id) is not None
            if seated and refused.code in (ALREADY_SEATED, NOT_IN_LOBBY):
                return Decision([], loaded.game.copy())
            raise

    return executor.run(game_id, judge, check=None, idempotency=idempotency)


def _players(game: Game) -> list[str]:
    return [seat.player_id for seat in game.seats.values() if seat.player_id is not None]


def _same_table(game: Game, player_id: str, seat: int) -> CreateGame:
    options: Mapping[str, Any] = game.options
    return CreateGame(
        player_id,
        game.ruleset,
        dict(options),
        game.turn_seconds,
        game.max_seats,
        game.visibility,
        seat,
        game.spectator_delay_seconds,
        game.deal,
    )
