"""Abbot's executor: whole matches of both games by random legal moves."""

from __future__ import annotations

import os
import random
from collections import deque

from domain.commands import Context, CreateGame, MakeMove, StartGame, TakeSeat
from domain.game import Game, legal_moves, pusher
from eventstore import garbage
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.store import Store

MATCHES = 8
"""That each thread plays in turn."""
RULESETS = ("halleluja", "vallelujah")
FASTEST = 2500
"""Moves of one thread in a second, at most; more have to be prepared meanwhile."""


def prepare(threads: int) -> list[Player]:
    """As a process of the API begins."""
    executor = Executor(Store(open_pool(os.environ["BENCH_DATABASE_URL"], threads)))
    garbage.seldom()
    return [Player(executor, random.Random(number)) for number in range(threads)]


class Player:
    """Plays matches that were opened, dealt, and thought out before: what is measured is moves."""

    def __init__(self, executor: Executor, dice: random.Random) -> None:
        self._executor = executor
        self._dice = dice
        self._opened = 0
        self._stock: deque[Line] = deque()
        self._playing: deque[Line] = deque()
        self.stock(0)

    def stock(self, seconds: float) -> None:
        """Get ready for so many seconds of moves."""
        moves = sum(len(line.moves) for line in (*self._playing, *self._stock))
        while len(self._playing) < MATCHES or moves < seconds * FASTEST:
            line = self._open()
            moves += len(line.moves)
            (self._stock if len(self._playing) == MATCHES else self._playing).append(line)

    def move(self) -> None:
        """Make the next move of the next match."""
        playing = self._playing
        line = playing[0]
        self._executor.execute(line.game_id, line.moves.popleft())
        if line.moves:
            playing.rotate(-1)
        else:
            playing.popleft()
            playing.append(self._stock.popleft() if self._stock else self._open())

    def _open(self) -> Line:
        ruleset = RULESETS[self._opened % len(RULESETS)]
        self._opened += 1
        game = started(self._executor, ruleset)
        known = self._executor.store.known(game.game_id)
        assert known is not None
        return Line(game, known.secret, self._dice)


class Line:
    """All moves of a match from where it stands, played in memory: with its secret one knows what
    will be dealt."""

    def __init__(self, game: Game, secret: bytes, dice: random.Random) -> None:
        self.game_id = game.game_id
        self.moves: deque[MakeMove] = deque()
        ahead = game.copy()
        push = pusher(ahead, Context(secret))
        while not ahead.over:
            command = chosen(ahead, dice)
            self.moves.append(command)
            push(command.move)


def started(executor: Executor, ruleset: str, seats: int = 2) -> Game:
    """A match that has just been dealt."""
    players = [uuid7() for _ in range(seats)]
    options = {"rounds_to_win": 9}
    game_id = executor.create(CreateGame(players[0], ruleset, options, 86_400)).game.game_id
    for player in players[1:]:
        executor.execute(game_id, TakeSeat(player))
    return executor.execute(game_id, StartGame(players[0])).game


def moved(executor: Executor, game: Game, dice: random.Random) -> Game:
    """The game after a random move."""
    return executor.execute(game.game_id, chosen(game, dice)).game


def chosen(game: Game, dice: random.Random) -> MakeMove:
    """A random move as a client would send it: with the turn that it is for."""
    assert game.turn is not None
    seat = game.turn.seat
    move = game.rules.with_due_call(game, seat, dice.choice(legal_moves(game, seat)))
    player = game.seats[seat].player_id
    assert player is not None
    return MakeMove(player, move, game.round, game.turn.number)
