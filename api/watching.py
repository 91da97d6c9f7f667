"""Who waits for something new in this process, and the one thread that looks for all of them.

A waiter holds no connection to the database and asks nothing by itself. While anybody waits, one
thread asks for all watched games with a statement about every 40 ms, less often where that takes
long; a change that was made in this process is looked at in the same moment. Nobody waits, nothing
is asked. All works with threads and, patched by gevent, with greenlets.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from domain.events import Recorded
from domain.evolution import ENDINGS
from eventstore.errors import Unavailable
from eventstore.watching import Known, Sight, Watching

log = logging.getLogger(__name__)

TICK_SECONDS = 0.04
"""How often watched games are looked at, at best."""
SLOW_TICK_SECONDS = 1.0
"""How often at worst, when looking takes long."""
REST = 2
"""Looking is followed by a rest of so many times as long, so that a database that is slow under
load is not asked the more."""
LATE_TICK_SECONDS = 0.25
"""How often it is looked what spectators may see by now where the host has set a delay."""
TURN_TICK_SECONDS = 0.25
"""How often it is looked whether a game waits for a player."""
AWAY_TICK_SECONDS = 0.5
"""How often a database that is away is tried."""
GAMES_PER_QUESTION = 1000
RECENT_EVENTS = 16
"""Events of a watched game that are kept for its readers; who is further behind asks the store."""

STOPPING = "stopping"
DENIED = "denied"
GONE = "gone"


class Watch:
    """One waiter. `ended` says why there is nothing more to wait for: the process is stopping, the
    caller may no longer see it, or has gone."""

    def __init__(self) -> None:
        self._awake = threading.Event()
        self.ended: str | None = None

    def wake(self) -> None:
        """Let the waiter look."""
        self._awake.set()

    def end(self, reason: str) -> None:
        """Let the waiter go; the first reason counts. May be called from anywhere."""
        self.ended = self.ended or reason
        self._awake.set()

    def sleep(self, seconds: float) -> None:
        """Wait until there may be something new, for `seconds` at most."""
        self._awake.wait(max(0.0, seconds))
        self._awake.clear()

    def until(self, ready: Callable[[], bool], seconds: float) -> bool:
        """Wait until `ready`; False if that was not so after `seconds`, or the wait was ended."""
        deadline = time.monotonic() + seconds
        while not ready():
            left = deadline - time.monotonic()
            if left <= 0 or self.ended:
                return False
            self.sleep(left)
        return True


class Watched(NamedTuple):
    """What is watched: a game as it is, or as late as its spectators see it."""

    game_id: str
    late: bool = False


@dataclass(slots=True)
class _Game:
    """What is known of a watched game."""

    known: Known
    watches: set[Watch] = field(default_factory=set)
    recent: deque[Recorded] = field(default_factory=lambda: deque(maxlen=RECENT_EVENTS))
    for_rematch: int = 0
    """How many wait for a rematch."""
    rematch: bool = False
    status: str | None = None
    """How it ended, if it did while it was watched."""


@dataclass(slots=True)
class _Player:
    """Whether games wait for a watched player: a value that changes with that."""

    mark: Any = None
    watches: set[Watch] = field(default_factory=set)


class GameWatch(Watch):
    """A waiter for what is new in a game. To be used in a `with` block, or closed."""

    def __init__(self, watcher: Watcher, watched: Watched, known: Known, *, rematch: bool) -> None:
        super().__init__()
        self._watcher = watcher
        self.watched = watched
        self.wants_rematch = rematch
        self._game = watcher.join_game(self, known)

    @property
    def late(self) -> bool:
        """Whether the game is watched as late as spectators see it."""
        return self.watched.late

    def turn(self, known: Known, *, late: bool) -> None:
        """From `known` on watch the game as it is, or as late as spectators see it."""
        self._watcher.leave_game(self)
        self.watched = Watched(self.watched.game_id, late)
        self._game = self._watcher.join_game(self, known)

    @property
    def version(self) -> int:
        """The newest version that is known of."""
        return self._game.known.version

    @property
    def status(self) -> str | None:
        """How the game ended, if it did while it was watched; then `version` is its last."""
        return self._game.status

    @property
    def rematch(self) -> bool:
        """Whether a rematch is known of, for those who wait for one."""
        return self._game.rematch

    def events(self, after: int) -> list[Recorded] | None:
        """The events after `after` that are known of; None if the store has to be asked."""
        return self._watcher.events(self._game, after)

    def close(self) -> None:
        """Wait no more."""
        self._watcher.leave_game(self)

    def __enter__(self) -> GameWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class PlayerWatch(Watch):
    """A waiter for a game that waits for a player. To be used in a `with` block."""

    def __init__(self, watcher: Watcher, player_id: str) -> None:
        super().__init__()
        self._watcher = watcher
        self.player_id = player_id
        self._player = watcher.join_player(self)

    @property
    def mark(self) -> Any:
        """Another value once a game has begun or ceased to wait for the player."""
        return self._player.mark

    def __enter__(self) -> PlayerWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self._watcher.leave_player(self)


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """What must go on being true while a stream is open: the token, if there is one, is in force,
    and a private game is still the caller's to see."""

    watch: Watch
    token_id: str | None
    scope_suffices: str
    """The scope with which a token may see every game."""
    sights: tuple[Sight, ...]
    """By what the caller may see the game; empty where anyone may."""
    scope_needed: str | None = None
    """Without which the caller would see less than the stream shows."""


class Watcher:
    """The waiters of this process. Its thread begins with the first of them."""

    def __init__(self, watching: Watching, *, check_seconds: float = 2.0) -> None:
        self._watching = watching
        self._check_seconds = check_seconds
        self._lock = threading.Lock()
        self._work = threading.Event()
        self._games: dict[Watched, _Game] = {}
        self._players: dict[str, _Player] = {}
        self._guards: set[Guard] = set()
        self._moved_games: set[Watched] = set()
        self._moved_players: set[str] = set()
        self._thread: threading.Thread | None = None
        self._away_since: float | None = None
        self.stopping = False

    @property
    def away_seconds(self) -> float:
        """For how long the database has been away; 0 if it is not."""
        since = self._away_since
        return 0.0 if since is None else time.monotonic() - since

    def game(
        self, game_id: str, known: Known, *, late: bool = False, rematch: bool = False
    ) -> GameWatch:
        """Watch a game that is known up to `known`, `late` as spectators see it; with `rematch`
        also whether it has one."""
        return GameWatch(self, Watched(game_id, late), known, rematch=rematch)

    def player(self, player_id: str) -> PlayerWatch:
        """Watch whether games wait for a player."""
        return PlayerWatch(self, player_id)

    def guard(self, guard: Guard) -> None:
        """End the guard's watch once what it guards is no longer true."""
        with self._lock:
            self._guards.add(guard)

    def unguard(self, guard: Guard) -> None:
        """No more."""
        with self._lock:
            self._guards.discard(guard)

    def moved(self, game_id: str, turn_player: str | None) -> None:
        """Something was recorded by this process: look at once, if it is waited for."""
        with self._lock:
            watched = Watched(game_id)
            if watched in self._games:
                self._moved_games.add(watched)
            elif turn_player not in self._players:
                return
            if turn_player in self._players:
                assert turn_player is not None
                self._moved_players.add(turn_player)
        self._work.set()

    def stop(self) -> None:
        """The process is stopping: end every wait, and those that still come."""
        self.stopping = True
        for watch in self._watches():
            watch.end(STOPPING)
        self._work.set()

    # --- what watches call ----------------------------------------------------------------------

    def join_game(self, watch: GameWatch, known: Known) -> _Game:
        """Begin to watch a game."""
        with self._lock:
            game = self._games.get(watch.watched)
            if game is None:
                game = self._games[watch.watched] = _Game(known)
            game.watches.add(watch)
            game.for_rematch += watch.wants_rematch
            self._begin(watch)
        return game

    def leave_game(self, watch: GameWatch) -> None:
        """Watch a game no more."""
        with self._lock:
            game = self._games.get(watch.watched)
            if game is None or watch not in game.watches:
                return
            game.watches.remove(watch)
            game.for_rematch -= watch.wants_rematch
            if not game.watches:
                del self._games[watch.watched]

    def join_player(self, watch: PlayerWatch) -> _Player:
        """Begin to watch a player."""
        with self._lock:
            player = self._players.setdefault(watch.player_id, _Player())
            player.watches.add(watch)
            self._moved_players.add(watch.player_id)
            self._begin(watch)
        return player

    def leave_player(self, watch: PlayerWatch) -> None:
        """Watch a player no more."""
        with self._lock:
            player = self._players[watch.player_id]
            player.watches.discard(watch)
            if not player.watches:
                del self._players[watch.player_id]

    def events(self, game: _Game, after: int) -> list[Recorded] | None:
        """The known events of a game after `after`, unless they are not all kept."""
        with self._lock:
            if after >= game.known.version:
                return []
            if not game.recent or game.recent[0].version > after + 1:
                return None
            return [event for event in game.recent if event.version > after]

    def _begin(self, watch: Watch) -> None:
        if self.stopping:
            watch.end(STOPPING)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="abbot-watcher", daemon=True)
            self._thread.start()
        self._work.set()

    def _watches(self) -> list[Watch]:
        with self._lock:
            watched: list[_Game | _Player] = [*self._games.values(), *self._players.values()]
            return [watch for each in watched for watch in each.watches]

    # --- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        next_games = next_late = next_turns = next_check = 0.0
        pause = 0.0
        while not self.stopping:
            self._work.wait(pause if self._games or self._players else None)
            self._work.clear()
            now = time.monotonic()
            try:
                if self._away_since is not None and now < next_games:
                    pause = next_games - now
                    continue
                # First, so that nothing that goes wrong with games keeps a stream open.
                if now >= next_check:
                    self._check_guards()
                    next_check = _next(now, self._check_seconds)
                self._look_at_games(everything=now >= next_games)
                if now >= next_games:
                    next_games = _next(now, TICK_SECONDS)
                if now >= next_late:
                    self._look_at_games(everything=True, late=True)
                    next_late = _next(now, LATE_TICK_SECONDS)
                self._look_at_turns(everything=now >= next_turns)
                if now >= next_turns:
                    next_turns = _next(now, TURN_TICK_SECONDS)
                self._back()
            except Unavailable:
                self._away()
                next_games = time.monotonic() + AWAY_TICK_SECONDS
            except Exception:
                log.exception("Waiters could not be served.")
                next_games = time.monotonic() + SLOW_TICK_SECONDS
            pause = max(0.0, next_games - time.monotonic())

    def _look_at_games(self, *, everything: bool, late: bool = False) -> None:
        with self._lock:
            names = self._games if everything else self._moved_games
            known = {
                name.game_id: self._games[name].known
                for name in names
                if name in self._games and name.late == late
            }
            if not late:
                self._moved_games.clear()
            for_rematch = (
                [
                    name.game_id
                    for name, game in self._games.items()
                    if game.for_rematch and name.late == late
                ]
                if everything
                else []
            )
        items = list(known.items())
        for start in range(0, len(items), GAMES_PER_QUESTION):
            part = dict(items[start : start + GAMES_PER_QUESTION])
            for game_id, events in self._watching.news(part, late=late).items():
                self._publish(Watched(game_id, late), events)
        for start in range(0, len(for_rematch), GAMES_PER_QUESTION):
            ids = for_rematch[start : start + GAMES_PER_QUESTION]
            found = self._watching.rematches(ids, late=late)
            self._publish_rematches(Watched(game_id, late) for game_id in found)

    def _publish(self, watched: Watched, events: list[Recorded]) -> None:
        with self._lock:
            game = self._games.get(watched)
            if game is None:
                return
            fresh = [event for event in events if event.version > game.known.version]
            if not fresh or fresh[0].version != game.known.version + 1:
                return
            game.recent.extend(fresh)
            game.known = Known(fresh[-1].version, fresh[-1].hash)
            ending = ENDINGS.get(fresh[-1].type)
            game.status = ending and ending[0]
            watches = list(game.watches)
        _wake(watches)

    def _publish_rematches(self, found: Iterable[Watched]) -> None:
        watches: list[Watch] = []
        with self._lock:
            for watched in found:
                game = self._games.get(watched)
                if game is not None and not game.rematch:
                    game.rematch = True
                    watches += game.watches
        _wake(watches)

    def _look_at_turns(self, *, everything: bool) -> None:
        with self._lock:
            names = self._players if everything else self._moved_players
            asked = [name for name in names if name in self._players]
            self._moved_players.clear()
        for start in range(0, len(asked), GAMES_PER_QUESTION):
            part = asked[start : start + GAMES_PER_QUESTION]
            marks = self._watching.turns(part)
            watches: list[Watch] = []
            with self._lock:
                for player_id in part:
                    player = self._players.get(player_id)
                    mark = marks.get(player_id, ())
                    if player is not None and player.mark != mark:
                        player.mark = mark
                        watches += player.watches
            _wake(watches)

    def _check_guards(self) -> None:
        with self._lock:
            guards = list(self._guards)
        for start in range(0, len(guards), GAMES_PER_QUESTION):
            for guard in self._failing(guards[start : start + GAMES_PER_QUESTION]):
                guard.watch.end(DENIED)

    def _failing(self, guards: list[Guard]) -> list[Guard]:
        tokens = {guard.token_id for guard in guards if guard.token_id is not None}
        scopes = self._watching.scopes(tokens) if tokens else {}
        sights = {sight for guard in guards for sight in guard.sights}
        seen = self._watching.seen(sights) if sights else set()

        def holds(guard: Guard) -> bool:
            own = scopes.get(guard.token_id) if guard.token_id is not None else frozenset()
            if own is None or not own >= {guard.scope_needed} - {None}:
                return False
            return (
                not guard.sights
                or guard.scope_suffices in own
                or any(sight in seen for sight in guard.sights)
            )

        return [guard for guard in guards if not holds(guard)]

    def _away(self) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            log.warning("The database is away: waiters wait on.")

    def _back(self) -> None:
        if self._away_since is not None:
            log.info("The database is back after %.1f s.", self.away_seconds)
            self._away_since = None


def _next(began: float, tick: float) -> float:
    """When to look again after a look that began at `began`."""
    now = time.monotonic()
    return max(began + tick, now + min(REST * (now - began), SLOW_TICK_SECONDS))


def _wake(watches: Iterable[Watch]) -> None:
    for watch in watches:
        watch.wake()
