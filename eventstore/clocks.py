"""Moving the clock of a sandbox game, with all that comes due on the way.

In real time each turn would run out, and each computer player move, at a time of its own. So the
clock goes from one of these to the next, and each is settled there, before it goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from domain.commands import AdvanceClock, Context
from domain.events import Recorded
from domain.game import Decision, Game, decide, overdue
from domain.times import plus_seconds, to_micros

from .database import Pause
from .errors import Broken, OutOfService
from .executor import Executor
from .outcomes import BOT_SECONDS, Check, Outcome, unchanged
from .positions import Idempotency, Loaded

MOST_SETTLED = 100
"""So many turns at most are settled by one call; then the clock stands where it has come to."""

Choose = Callable[[Game, int], dict[str, Any]]


def advance(
    executor: Executor,
    game_id: str,
    player_id: str,
    milliseconds: int,
    choose: Choose,
    *,
    check: Check | None = None,
    idempotency: Idempotency | None = None,
) -> Outcome:
    """Have the host `player_id` move the clock of a game, and settle what comes due by that;
    `choose(game, seat)` gives a computer player's move.

    The outcome is the game when the clock has got there. It stops where the match ends, and after
    MOST_SETTLED turns. What comes due in the last millisecond is left to happen. With an
    idempotency key it is done once, and goes on where it was broken off. Raises as
    `Executor.execute` does.
    """
    clock = _Clock(executor, game_id, player_id, choose)

    def first(loaded: Loaded) -> Decision:
        return clock.step(loaded, loaded.game.ahead_ms + milliseconds)

    outcome = executor.run(game_id, first, check=check, idempotency=idempotency)
    began = outcome.events[0]
    until_ms: int = began.data["until_ms"]
    if outcome.replayed:
        return clock.arrived(began, until_ms) or clock.go_on(until_ms)
    return clock.told(outcome) if outcome.game.ahead_ms >= until_ms else clock.go_on(until_ms)


@dataclass(frozen=True, slots=True)
class _Clock:
    """The clock of one game."""

    executor: Executor
    game_id: str
    player_id: str
    choose: Choose

    def step(self, loaded: Loaded, until_ms: int) -> Decision:
        """Move it on to what comes next, or all the way."""
        game = loaded.game
        ahead = until_ms
        if game.turn is not None:
            micros = to_micros(_next(game)) - to_micros(loaded.now)
            # A little later, as what happens exactly then is not late.
            ahead = min(until_ms, game.ahead_ms + max(1, -(-micros // 1000) + 1))
            if until_ms - ahead <= 1:
                ahead = until_ms
        return decide(
            game,
            AdvanceClock(self.player_id, ahead, until_ms),
            Context(loaded.secret, loaded.now),
        )

    def go_on(self, until_ms: int) -> Outcome:
        """Settle what is due and move on, in turn, until it is there."""

        def further(loaded: Loaded) -> Decision:
            if loaded.game.turn is None or loaded.game.ahead_ms >= until_ms:
                return Decision([], loaded.game.copy())
            return self.step(loaded, until_ms)

        for _ in range(MOST_SETTLED):
            if not self.settle(until_ms):
                break
            outcome = self.executor.run(self.game_id, further, check=None, idempotency=None)
            if outcome.events and outcome.game.ahead_ms >= until_ms:
                return self.told(outcome)
        return unchanged(self.executor.load(self.game_id, None))

    def settle(self, until_ms: int) -> bool:
        """Settle what is due now; False if there is no way to go any more."""
        pause = Pause(self.executor.patience)
        while True:
            loaded = self.executor.load(self.game_id, None)
            game = loaded.game
            if game.turn is None or game.ahead_ms >= until_ms:
                return False
            if overdue(game, loaded.now):
                self.executor.expire_running(loaded, pause)
            elif _waits_for_bot(game) and loaded.now >= _next(game):
                try:
                    self.executor.bot_move(game.game_id, game.round, game.turn.number, self.choose)
                except OutOfService:
                    pause.rest()
            else:
                return True

    def arrived(self, began: Recorded, until_ms: int) -> Outcome | None:
        """The outcome when it got there before; None if it did not."""
        store = self.executor.store
        events = store.events(self.game_id, began.version - 1)
        for count, event in enumerate(events, 1):
            if event.type == "clock.advanced" and event.data["ahead_ms"] >= until_ms:
                game = store.fold_at(self.game_id, event.version)
                if game is None:
                    raise Broken(f"event {event.version} is not there")
                first, last = began.version, event.version
                return self.told(Outcome(game, events[:count], first, last, True, "", event.hash))
        return None

    def told(self, outcome: Outcome) -> Outcome:
        """The outcome by the clock as it is then: its last event has its time by the one before."""
        loaded = self.executor.load(self.game_id, None)
        now = outcome.game.clock(loaded.game.real_time(loaded.now))
        return replace(outcome, now=now)


def _next(game: Game) -> str:
    """When, on the game's clock, the next thing happens by itself."""
    assert game.turn is not None
    if _waits_for_bot(game):
        return plus_seconds(game.turn.at, BOT_SECONDS[1])
    assert game.due_at is not None
    return game.due_at


def _waits_for_bot(game: Game) -> bool:
    turn = game.turn
    return turn is not None and game.seats[turn.seat].bot is not None and turn.seat not in game.away
