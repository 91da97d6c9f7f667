"""Executing commands: take the position, decide, append; again if somebody else was faster.

A move is decided on the position that this process has seen last, and the append itself tells
whether that is the newest. Whoever finds a turn overdue records the expiry first. A refusal is only
ever given from a position that was found to be the newest after the request came, and what an
answer says is what the record holds.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Protocol

import psycopg

from domain.commands import (
    BotMove,
    Command,
    Context,
    CreateGame,
    ExpireTurn,
    ExtendTurn,
    MakeMove,
    SeatBot,
    TakeSeat,
)
from domain.game import Decision, Game, bind, decide, lands_once, overdue
from domain.outages import owed
from domain.refusals import Refused
from domain.state import LOBBY
from domain.times import plus_seconds

from . import opening
from .appending import APPENDED, Append, Appended
from .attempts import Attempts
from .database import PATIENCE_SECONDS, Fate, Pause, fate_of, patiently
from .errors import Broken, GameNotFound, KeyReused, OutOfService
from .ids import uuid7
from .outcomes import KEEP_KEYS, Check, Outcome, planned, stored, unchanged
from .positions import Idempotency, Loaded, Record
from .recorded import rest
from .service import ServiceTime
from .store import Store

__all__ = ["KEEP_KEYS", "Check", "Executor", "Idempotency", "Outcome"]

log = logging.getLogger(__name__)

Choose = Callable[[Game, int], dict[str, Any]]


class DueTurn(Protocol):
    """A turn that is to be settled."""

    @property
    def game_id(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def turn(self) -> int: ...


class Executor:
    """Runs commands against a store, from any thread. It tries again for `patience` seconds.

    `serving`: this process is one of those by whose heartbeats the service counts as up.
    """

    def __init__(
        self, store: Store, patience: float = PATIENCE_SECONDS, *, serving: bool = False
    ) -> None:
        self.store = store
        self.patience = patience
        self.serving = serving
        self.service = ServiceTime(store.pool)
        self.attempts = Attempts(store)

    def execute(
        self,
        game_id: str,
        command: Command,
        *,
        check: Check | None = None,
        idempotency: Idempotency | None = None,
    ) -> Outcome:
        """Carry out `command` on a game.

        `check` is given each position before anything is decided on it, and raises what forbids
        the request. Raises GameNotFound, the domain's Refused, KeyReused, and Unavailable if it is
        not known whether the command was carried out; with an idempotency key it can be sent again
        in any case. A refused move is kept, under the id `Refused.attempt_id`.
        """
        lost, began = None, monotonic()
        if idempotency is None and isinstance(command, MakeMove):
            tried = self._at_once(game_id, command, check)
            if isinstance(tried, Outcome):
                return tried
            lost = tried
        return self._patiently(
            game_id, command, check=check, idempotency=idempotency, lost=lost, began=began
        )

    def _patiently(
        self,
        game_id: str,
        command: Command,
        *,
        check: Check | None,
        idempotency: Idempotency | None,
        lost: _Lost | None,
        began: float,
    ) -> Outcome:
        meant = command
        judged: Loaded | None = None
        received = ""
        round_named = command.round if isinstance(command, MakeMove) else None

        def judge(loaded: Loaded) -> Decision:
            return decide(loaded.game, self.with_kept(loaded, meant), _context(loaded))

        def look(loaded: Loaded) -> None:
            nonlocal meant, judged, received
            judged = loaded
            # By the record's clock, less what has passed since: nobody's own clock matters.
            received = received or plus_seconds(loaded.now, began - monotonic())
            if isinstance(meant, MakeMove):
                meant = bind(loaded.game, meant)

        try:
            return self.run(
                game_id,
                judge,
                look=look,
                since=round_named,
                lost=lost,
                check=check,
                idempotency=idempotency,
            )
        except Refused as refused:
            if isinstance(command, MakeMove) and isinstance(meant, MakeMove) and judged:
                refused.attempt_id = self.attempts.keep(refused, command, meant, judged, received)
            raise

    def acknowledge(
        self, game_id: str, *, check: Check | None = None, idempotency: Idempotency | None = None
    ) -> Outcome:
        """Record nothing but that the request was answered, as `execute` does for a command that
        asks for what is so already."""
        return self.run(game_id, _nothing, check=check, idempotency=idempotency)

    def run(
        self,
        game_id: str,
        judge: Callable[[Loaded], Decision],
        *,
        look: Callable[[Loaded], None] | None = None,
        since: int | None = None,
        lost: _Lost | None = None,
        check: Check | None,
        idempotency: Idempotency | None,
    ) -> Outcome:
        """Append what `judge` decides on the newest position.

        `look` is given each position that is known to be the newest before it is judged. `since`:
        see `Store.load`. `lost`: what was tried before, and may have been stored.
        """
        pause = Pause(self.patience)
        while True:
            loaded = self.load(game_id, idempotency, since=since)
            if loaded.record is not None and idempotency is not None:
                return self.replay(loaded, loaded.record, idempotency, check)
            # With a key its record would be there: what looks like it was somebody else's.
            if lost is not None and idempotency is None:
                found = self._found(lost, loaded)
                if found is not None:
                    return found
            if loaded.elsewhere is not None:
                _forbid(check, loaded.game)
                raise KeyReused
            if look is not None:
                look(loaded)
            if overdue(loaded.game, loaded.now):
                self.expire_running(loaded, pause)
                continue
            _forbid(check, loaded.game)
            decision = judge(loaded)
            if not decision.events and idempotency is None:
                return unchanged(loaded)
            append = planned(loaded.game, loaded.head_hash, decision, "in-time", idempotency)
            appended = self.attempt(append, pause)
            if appended is None:
                lost = _Lost(append, decision.game)
            elif appended.status == APPENDED:
                return self._appended(loaded, append, appended, decision)
            # Whatever else it was, a fresh look tells: a newer event, an overdue turn, an answer.

    def create(
        self,
        command: CreateGame,
        *,
        game_id: str | None = None,
        idempotency: Idempotency | None = None,
    ) -> Outcome:
        """Open a table. With an idempotency key one game, however often it is asked for.

        Raises the domain's Refused, KeyReused and Unavailable.
        """
        return opening.create(self, command, game_id or uuid7(), idempotency)

    def rematch(
        self,
        old_game_id: str,
        player_id: str,
        *,
        check: Check | None = None,
        idempotency: Idempotency | None = None,
    ) -> Outcome:
        """The game that the players of `old_game_id` play next, with `player_id` seated in it.

        The first who asks opens it as host, on the seat held in the old game; whoever asks later
        sits down in it while it is in the lobby. `check` is given the old game. The outcome is the
        new game's. Raises as `execute` does.
        """
        return opening.rematch(self, old_game_id, player_id, check, idempotency)

    def expire(self, game_id: str, round_number: int, turn: int) -> Outcome | None:
        """Record that a turn's time ran out and play it for the seat.

        None if that turn no longer runs or is not due, or gets time back for an outage; a deadline
        left over from it is removed. OutOfService while nobody can make a move.
        """
        pause = Pause(self.patience)
        while True:
            loaded = self.load(game_id, None)
            if not runs(loaded.game, round_number, turn):
                self.store.drop_deadline(game_id, "turn", round_number, turn)
                return None
            if not overdue(loaded.game, loaded.now):
                return None
            if (outcome := self.expire_running(loaded, pause, patient=True)) is not None:
                return outcome

    def give_back(self, game_id: str) -> bool:
        """Record what outages took from the running turn, unless it has been given back already:
        then False."""
        pause = Pause(self.patience)
        given = False
        while True:
            loaded = self.load(game_id, None)
            if loaded.game.turn is None or not self._give_back(loaded, pause):
                return given
            given = True

    def with_time_back(self, loaded: Loaded) -> Game:
        """The position, with its running turn extended by what it is owed if it is overdue, as a
        move would find it; nothing is recorded."""
        game = loaded.game
        if game.turn is None or not overdue(game, loaded.now):
            return game
        seconds = self._owed(loaded)
        if not seconds:
            return game
        return decide(
            game, ExtendTurn(game.round, game.turn.number, seconds), _context(loaded)
        ).game

    def bot_move(
        self, game_id: str, round_number: int, turn: int, choose: Choose
    ) -> Outcome | None:
        """Make the move that `choose(game, seat)` gives for the computer player whose turn it is.

        None if that turn no longer runs; a deadline left over from it is removed. If the turn is
        overdue its expiry is recorded instead. OutOfService as for `expire`.
        """
        pause = Pause(self.patience)
        while True:
            loaded = self.load(game_id, None)
            game = loaded.game
            running = game.turn
            if (
                running is None
                or not runs(game, round_number, turn)
                or game.seats[running.seat].bot is None
            ):
                self.store.drop_deadline(game_id, "bot", round_number, turn)
                return None
            if overdue(game, loaded.now):
                self.expire_running(loaded, pause, patient=True)
                continue
            move = choose(game.copy(), running.seat)
            command = BotMove(running.seat, move, round_number, turn)
            decision = decide(game, command, _context(loaded))
            append = planned(game, loaded.head_hash, decision, "in-time", None)
            appended = self.attempt(append, pause)
            if appended is not None and appended.status == APPENDED:
                return self._appended(loaded, append, appended, decision)

    def load(
        self, game_id: str, idempotency: Idempotency | None, *, since: int | None = None
    ) -> Loaded:
        """The newest position, as `Store.load` gives it. GameNotFound if there is none."""
        loaded = self.store.load(game_id, idempotency, since=since)
        if loaded is None:
            raise GameNotFound
        return loaded

    def attempt(self, append: Append, pause: Pause) -> Appended | None:
        """Append once, and rest a little if that was in vain. None if it is not known whether it
        was stored."""
        try:
            appended = self.store.append(append)
        except psycopg.Error as error:
            fate = fate_of(error)
            if fate is Fate.BUG:
                raise
            if fate is Fate.UNKNOWN:
                log.warning("It is not known whether an append was stored: looking again.")
            pause.rest(error)
            return None if fate is Fate.UNKNOWN else Appended("conflict", None, (), None, None)
        if appended.status != APPENDED:
            pause.rest()
        return appended

    def expire_running(
        self, loaded: Loaded, pause: Pause, *, patient: bool = False
    ) -> Outcome | None:
        """Record the expiry of the running turn, which is overdue, or that it gets time back. None
        unless it has expired now; a fresh look tells what is.

        Whoever is not `patient` has a move to make and thereby shows that moves can be made.
        """
        game = loaded.game
        assert game.turn is not None
        if self._give_back(loaded, pause, patient=patient):
            return None
        command = ExpireTurn(game.round, game.turn.number)
        decision = decide(game, command, _context(loaded))
        append = planned(game, loaded.head_hash, decision, "late", None)
        appended = self.attempt(append, pause)
        if appended is None or appended.status != APPENDED:
            return None
        return self._appended(loaded, append, appended, decision)

    def _owed(self, loaded: Loaded, *, patient: bool = False) -> int:
        """Seconds that the running turn is owed. What is looked at is newer than `loaded`, so an
        outage that ended before the turn was found overdue is seen."""
        turn = loaded.game.turn
        assert turn is not None
        if self.serving:
            patiently(self.service.beat)
        service = self.service.look(turn.at)
        if patient and service.out:
            raise OutOfService
        return owed(loaded.game, service.outages)

    def _give_back(self, loaded: Loaded, pause: Pause, *, patient: bool = False) -> bool:
        """Whether time was owed to the running turn; then it has it now, or somebody was faster,
        or it is not known."""
        seconds = self._owed(loaded, patient=patient)
        if not seconds:
            return False
        game = loaded.game
        assert game.turn is not None
        command = ExtendTurn(game.round, game.turn.number, seconds)
        decision = decide(game, command, _context(loaded))
        self.attempt(planned(game, loaded.head_hash, decision, "none", None), pause)
        return True

    def _at_once(
        self, game_id: str, command: MakeMove, check: Check | None
    ) -> Outcome | _Lost | None:
        """Try the last position that this process has seen: then the append is the only round trip.

        The outcome if that is the newest position and allows the move, else None: nothing is ever
        refused here. `_Lost` if it is not known whether it was stored.
        """
        known = self.store.known(game_id, since=command.round)
        if known is None or not lands_once(known.game, command):
            return None
        try:
            _forbid(check, known.game)
            decision = decide(known.game, command, _context(known))
        except Exception:
            return None  # From a position that may be outdated: it takes a look.
        if not decision.events:
            return None
        append = planned(known.game, known.head_hash, decision, "in-time", None)
        try:
            appended = self.store.append(append)
        except psycopg.Error as error:
            if fate_of(error) is Fate.BUG:
                raise
            return _Lost(append, decision.game) if fate_of(error) is Fate.UNKNOWN else None
        if appended.status != APPENDED:
            return None
        return self._appended(known, append, appended, decision)

    def _found(self, lost: _Lost, loaded: Loaded) -> Outcome | None:
        """The outcome of an append whose answer was lost, if its events stand in the record that
        was loaded afterwards."""
        append = lost.append
        rests, version = append.rests, append.version
        if not rests or loaded.game.version < version + len(rests):
            return None
        events = self.store.events(append.game_id, version, len(rests))
        if tuple(rest(event.game_id, event) for event in events) != rests:
            return None
        lost.game.stamp(events[0].at)
        last = events[-1]
        return Outcome(
            lost.game,
            events,
            version + 1,
            last.version,
            False,
            loaded.now,
            last.hash,
            loaded.rematch,
        )

    def _appended(
        self, loaded: Loaded, append: Append, appended: Appended, decision: Decision
    ) -> Outcome:
        outcome = stored(append, appended, decision.game, loaded.rematch)
        self.store.keep(outcome.game, outcome.head_hash, loaded.secret, loaded.rematch_of)
        return outcome

    def replay(
        self, loaded: Loaded, record: Record, request: Idempotency, check: Check | None
    ) -> Outcome:
        """The answer that the record tells of, told again."""
        if not record.answers(request):
            _forbid(check, loaded.game)
            raise KeyReused
        game: Game | None = loaded.game
        if record.game_id != loaded.game.game_id or record.last != loaded.game.version:
            game = self.store.fold_at(record.game_id, record.last)
        if game is None:
            raise Broken(f"an answer names event {record.last}, which is not there")
        # The event before them tells the hash of the last one where there are none.
        events = self.store.events(record.game_id, record.first - 2, record.last - record.first + 2)
        return Outcome(
            game,
            events[1:] if record.first > 1 else events,
            record.first,
            record.last,
            True,
            game.clock(loaded.game.real_time(loaded.now)),
            events[-1].hash,
            loaded.rematch,
        )

    def with_kept(self, loaded: Loaded, command: Command) -> Command:
        """Whoever sits down leaves the seats free that a rematch keeps for its players."""
        if loaded.rematch_of is None or loaded.game.status != LOBBY:
            return command
        if isinstance(command, TakeSeat | SeatBot) and not command.kept:
            return replace(command, kept=self.store.seated_players(loaded.rematch_of))
        return command


@dataclass(frozen=True, slots=True)
class _Lost:
    """An append of which it is not known whether it was stored, and the game after it."""

    append: Append
    game: Game


def _nothing(loaded: Loaded) -> Decision:
    return Decision([], loaded.game.copy())


def _context(loaded: Loaded) -> Context:
    return Context(loaded.secret, loaded.now)


def _forbid(check: Check | None, game: Game) -> None:
    if check is not None:
        check(game)


def runs(game: Game, round_number: int, turn: int) -> bool:
    running = game.turn
    return running is not None and (game.round, running.number) == (round_number, turn)
