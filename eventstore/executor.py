"""Executing commands: load the game, decide, append; again if somebody else was faster.

Whoever finds a turn overdue records the expiry first. A refusal is only ever given from a position
that was loaded after the request came, and what an answer says is what the record holds.
"""

from __future__ import annotations

import datetime
import logging
import random
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
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
from domain.events import Recorded
from domain.game import Decision, Game, bind, decide, fold, new_game, overdue
from domain.outages import owed
from domain.refusals import ALREADY_SEATED, FORBIDDEN, GAME_NOT_OVER, NOT_IN_LOBBY, Refused
from domain.state import LOBBY

from .appending import APPENDED, Append, Appended, Guard, plan
from .attempts import Attempts
from .database import PATIENCE_SECONDS, Fate, Pause, fate_of, patiently
from .errors import Broken, GameNotFound, KeyReused, OutOfService
from .ids import uuid7
from .recorded import ZERO_HASH, rest
from .service import ServiceTime
from .store import Idempotency, Loaded, Record, Store

__all__ = ["Executor", "Idempotency", "Outcome"]

log = logging.getLogger(__name__)

KEEP_KEYS = datetime.timedelta(hours=24)
"""For how long an idempotency key is answered with the first answer."""

BOT_SECONDS = (0.6, 1.5)
"""A computer player moves this long after its turn began: a little after a human would see it."""

Check = Callable[[Game], None]
Choose = Callable[[Game, int], dict[str, Any]]


class DueTurn(Protocol):
    """A turn that is to be settled."""

    @property
    def game_id(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def turn(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command led to. `game` is the game after the events `first` to `last`, which are
    `events`; none, and `last` = `first` - 1, if all was so already. `replayed`: this had been
    answered before. `now` is the database's clock then."""

    game: Game
    events: list[Recorded]
    first: int
    last: int
    replayed: bool
    now: str
    head_hash: str
    """The hash of the event `last`."""
    rematch: str | None = None
    """The game that its players play next, once it is open."""


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
        self.attempts = Attempts(store.database)

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
        meant = command
        judged: Loaded | None = None
        received = ""

        def judge(loaded: Loaded) -> Decision:
            return decide(loaded.game, self._with_kept(loaded, meant), _context(loaded))

        def look(loaded: Loaded) -> None:
            nonlocal meant, judged, received
            judged, received = loaded, received or loaded.now
            if isinstance(meant, MakeMove):
                meant = bind(loaded.game, meant)

        try:
            return self._run(game_id, judge, look=look, check=check, idempotency=idempotency)
        except Refused as refused:
            if isinstance(command, MakeMove) and isinstance(meant, MakeMove) and judged:
                refused.attempt_id = self.attempts.keep(refused, command, meant, judged, received)
            raise

    def acknowledge(
        self, game_id: str, *, check: Check | None = None, idempotency: Idempotency | None = None
    ) -> Outcome:
        """Record nothing but that the request was answered, as `execute` does for a command that
        asks for what is so already."""
        return self._run(game_id, _nothing, check=check, idempotency=idempotency)

    def _run(
        self,
        game_id: str,
        judge: Callable[[Loaded], Decision],
        *,
        look: Callable[[Loaded], None] | None = None,
        check: Check | None,
        idempotency: Idempotency | None,
    ) -> Outcome:
        pause = Pause(self.patience)
        lost: _Lost | None = None
        while True:
            loaded = self._load(game_id, idempotency)
            if lost is not None and (found := lost.found(loaded)) is not None:
                return found
            if loaded.record is not None and idempotency is not None:
                return self._replay(loaded, loaded.record, idempotency, check)
            if loaded.elsewhere is not None:
                _forbid(check, loaded.game)
                raise KeyReused
            if look is not None:
                look(loaded)
            if overdue(loaded.game, loaded.now):
                self._expire(loaded, pause)
                continue
            _forbid(check, loaded.game)
            decision = judge(loaded)
            if not decision.events and idempotency is None:
                return _unchanged(loaded)
            append = _append(loaded.game, decision, "in-time", idempotency)
            appended = self._try(append, pause)
            if appended is None:
                lost = _Lost(append, decision.game)
            elif appended.status == APPENDED:
                return _appended(loaded, append, appended, decision)
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
        claimed = game_id or uuid7()
        if idempotency is not None:
            self._judge_creation(command)  # a refused request claims nothing
            record, taken = self.store.find_record(idempotency)
            if taken:
                raise KeyReused
            if record is None:
                claim = self.store.claim_creation(idempotency, claimed, KEEP_KEYS)
                if not claim.answers(idempotency):
                    raise KeyReused
                claimed = claim.game_id
            else:
                claimed = record.game_id
        return self._open(command, claimed, idempotency)

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
        if idempotency is not None:
            record, taken = self.store.find_record(idempotency)
            if taken:
                raise KeyReused
            if record is not None:
                loaded = self._load(record.game_id, idempotency)
                return self._replay(loaded, record, idempotency, None)
        old = self._load(old_game_id, None)
        if overdue(old.game, old.now):
            self._expire(old, Pause(self.patience))
            old = self._load(old_game_id, None)
        _forbid(check, old.game)
        seat = old.game.seat_of(player_id)
        if seat is None:
            raise Refused(FORBIDDEN, "You held no seat in this game.")
        if not old.game.over:
            raise Refused(GAME_NOT_OVER, "The match is not over yet.")
        new_id = old.rematch or self.store.claim_rematch(old_game_id, uuid7())
        if old.rematch is None:
            outcome = self._open(
                _same_table(old.game, player_id, seat), new_id, idempotency, rematch_of=old.game
            )
            self.store.rematch_opened(old_game_id)
            if outcome.events or outcome.replayed:
                return outcome
        return self._join_rematch(new_id, player_id, idempotency)

    def expire(self, game_id: str, round_number: int, turn: int) -> Outcome | None:
        """Record that a turn's time ran out and play it for the seat.

        None if that turn no longer runs or is not due, or gets time back for an outage; a deadline
        left over from it is removed. OutOfService while nobody can make a move.
        """
        pause = Pause(self.patience)
        while True:
            loaded = self._load(game_id, None)
            if not _runs(loaded.game, round_number, turn):
                self.store.drop_deadline(game_id, "turn", round_number, turn)
                return None
            if not overdue(loaded.game, loaded.now):
                return None
            if (outcome := self._expire(loaded, pause, patient=True)) is not None:
                return outcome

    def give_back(self, game_id: str) -> bool:
        """Record what outages took from the running turn, unless it has been given back already:
        then False."""
        pause = Pause(self.patience)
        given = False
        while True:
            loaded = self._load(game_id, None)
            if loaded.game.turn is None or not self._give_back(loaded, pause):
                return given
            given = True

    def expire_many(self, dues: Iterable[DueTurn]) -> list[Outcome | Exception | None]:
        """`expire` for each; what one raises does not keep the others from it."""
        results: list[Outcome | Exception | None] = []
        for due in dues:
            try:
                results.append(self.expire(due.game_id, due.round, due.turn))
            except Exception as error:
                results.append(error)
        return results

    def bot_move(
        self, game_id: str, round_number: int, turn: int, choose: Choose
    ) -> Outcome | None:
        """Make the move that `choose(game, seat)` gives for the computer player whose turn it is.

        None if that turn no longer runs; a deadline left over from it is removed. If the turn is
        overdue its expiry is recorded instead. OutOfService as for `expire`.
        """
        pause = Pause(self.patience)
        while True:
            loaded = self._load(game_id, None)
            game = loaded.game
            running = game.turn
            if (
                running is None
                or not _runs(game, round_number, turn)
                or game.seats[running.seat].bot is None
            ):
                self.store.drop_deadline(game_id, "bot", round_number, turn)
                return None
            if overdue(game, loaded.now):
                self._expire(loaded, pause, patient=True)
                continue
            move = choose(game.copy(), running.seat)
            command = BotMove(running.seat, move, round_number, turn)
            decision = decide(game, command, _context(loaded))
            append = _append(game, decision, "in-time", None)
            appended = self._try(append, pause)
            if appended is not None and appended.status == APPENDED:
                return _appended(loaded, append, appended, decision)

    def _load(self, game_id: str, idempotency: Idempotency | None) -> Loaded:
        loaded = self.store.load(game_id, idempotency)
        if loaded is None:
            raise GameNotFound
        return loaded

    def _try(self, append: Append, pause: Pause) -> Appended | None:
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

    def _expire(self, loaded: Loaded, pause: Pause, *, patient: bool = False) -> Outcome | None:
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
        append = _append(game, decision, "late", None)
        appended = self._try(append, pause)
        if appended is None or appended.status != APPENDED:
            return None
        return _appended(loaded, append, appended, decision)

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
        self._try(_append(game, decision, "none", None), pause)
        return True

    def _replay(
        self, loaded: Loaded, record: Record, request: Idempotency, check: Check | None
    ) -> Outcome:
        """The answer that the record tells of, told again."""
        if not record.answers(request):
            _forbid(check, loaded.game)
            raise KeyReused
        if record.last > len(loaded.events):
            raise Broken(f"an answer names event {record.last}, which is not there")
        game = fold(record.game_id, loaded.events[: record.last])
        events = loaded.events[record.first - 1 : record.last]
        return Outcome(
            game,
            events,
            record.first,
            record.last,
            True,
            loaded.now,
            loaded.events[record.last - 1].hash,
            loaded.rematch,
        )

    def _judge_creation(self, command: CreateGame) -> None:
        game = new_game(uuid7())
        decide(game, command, Context(bytes(32)))

    def _open(
        self,
        command: CreateGame,
        game_id: str,
        idempotency: Idempotency | None,
        rematch_of: Game | None = None,
    ) -> Outcome:
        """Open the table `game_id`, or find that it is open already."""
        pause = Pause(self.patience)
        while True:
            secret = secrets.token_bytes(32)
            before = new_game(game_id)
            decision = decide(before, command, Context(secret))
            append = _append(
                before,
                decision,
                "none",
                idempotency,
                secret=secret,
                rematch_of=None if rematch_of is None else rematch_of.game_id,
                invited=[] if rematch_of is None else _players(rematch_of),
            )
            appended = self._try(append, pause)
            if appended is not None and appended.status == APPENDED:
                assert appended.at is not None
                decision.game.stamp(appended.at)
                events = append.stored(appended, ZERO_HASH)
                last = events[-1]
                return Outcome(
                    decision.game, events, 1, last.version, False, appended.at, last.hash
                )
            loaded = self.store.load(game_id, idempotency)
            if loaded is None:
                continue
            if loaded.record is not None and idempotency is not None:
                return self._replay(loaded, loaded.record, idempotency, None)
            return _unchanged(loaded)

    def _join_rematch(
        self, game_id: str, player_id: str, idempotency: Idempotency | None
    ) -> Outcome:
        def judge(loaded: Loaded) -> Decision:
            command = self._with_kept(loaded, TakeSeat(player_id))
            try:
                return decide(loaded.game, command, _context(loaded))
            except Refused as refused:
                seated = loaded.game.seat_of(player_id) is not None
                if seated and refused.code in (ALREADY_SEATED, NOT_IN_LOBBY):
                    return _nothing(loaded)
                raise

        return self._run(game_id, judge, check=None, idempotency=idempotency)

    def _with_kept(self, loaded: Loaded, command: Command) -> Command:
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

    def found(self, loaded: Loaded) -> Outcome | None:
        """The outcome, if the events stand in the record that was loaded afterwards."""
        rests = self.append.rests
        events = loaded.events[self.append.version :][: len(rests)]
        if not rests or tuple(rest(event.game_id, event) for event in events) != rests:
            return None
        self.game.stamp(events[0].at)
        return Outcome(
            self.game,
            events,
            events[0].version,
            events[-1].version,
            False,
            loaded.now,
            events[-1].hash,
            loaded.rematch,
        )


def _nothing(loaded: Loaded) -> Decision:
    return Decision([], loaded.game.copy())


def _append(
    before: Game,
    decision: Decision,
    guard: Guard,
    idempotency: Idempotency | None,
    **opening: Any,
) -> Append:
    planned = plan(
        before, decision.game, decision.events, guard=guard, bot_delay=_bot_delay, **opening
    )
    if idempotency is not None:
        planned |= {
            "token_id": idempotency.token_id,
            "key": idempotency.key,
            "path": idempotency.path,
            "body_hash": idempotency.body_hash,
            "keep": KEEP_KEYS,
        }
    return Append(**planned)


def _bot_delay() -> float:
    return random.uniform(*BOT_SECONDS)


def _context(loaded: Loaded) -> Context:
    return Context(loaded.secret, loaded.now)


def _forbid(check: Check | None, game: Game) -> None:
    if check is not None:
        check(game)


def _runs(game: Game, round_number: int, turn: int) -> bool:
    running = game.turn
    return running is not None and (game.round, running.number) == (round_number, turn)


def _appended(loaded: Loaded, append: Append, appended: Appended, decision: Decision) -> Outcome:
    assert appended.at is not None
    assert appended.first is not None
    assert appended.last is not None
    decision.game.stamp(appended.at)
    events = append.stored(appended, loaded.head_hash)
    return Outcome(
        decision.game,
        events,
        appended.first,
        appended.last,
        False,
        appended.at,
        events[-1].hash if events else loaded.head_hash,
        loaded.rematch,
    )


def _unchanged(loaded: Loaded) -> Outcome:
    version = loaded.game.version
    return Outcome(
        loaded.game,
        [],
        version + 1,
        version,
        False,
        loaded.now,
        loaded.head_hash,
        loaded.rematch,
    )


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
    )
