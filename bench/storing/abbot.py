"""Abbot's executor: whole matches of both games by random legal moves."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

from domain.commands import CreateGame, MakeMove, StartGame, TakeSeat
from domain.game import Game, legal_moves
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.store import Store

MATCHES = 8
"""That each thread plays in turn."""


def prepare(threads: int) -> list[Callable[[], None]]:
    pool = open_pool(os.environ["BENCH_DATABASE_URL"], threads)
    executor = Executor(Store(pool))
    return [_mover(executor, random.Random(number)) for number in range(threads)]


def _mover(executor: Executor, dice: random.Random) -> Callable[[], None]:
    games = [started(executor, ruleset) for ruleset in ("halleluja", "vallelujah") * (MATCHES // 2)]
    turn = 0

    def move() -> None:
        nonlocal turn
        turn = (turn + 1) % MATCHES
        game = games[turn]
        games[turn] = moved(executor, game, dice)
        if games[turn].over:
            games[turn] = started(executor, game.ruleset)

    return move


def started(executor: Executor, ruleset: str, seats: int = 2) -> Game:
    """A match that has just been dealt."""
    players = [uuid7() for _ in range(seats)]
    options = {"rounds_to_win": 9}
    game_id = executor.create(CreateGame(players[0], ruleset, options, 86_400)).game.game_id
    for player in players[1:]:
        executor.execute(game_id, TakeSeat(player))
    return executor.execute(game_id, StartGame(players[0])).game


def moved(executor: Executor, game: Game, dice: random.Random) -> Game:
    """The game after a random move, as a client would send it: with the turn that it is for."""
    assert game.turn is not None
    seat = game.turn.seat
    move = game.rules.with_due_call(game, seat, dice.choice(legal_moves(game, seat)))
    player = game.seats[seat].player_id
    assert player is not None
    command = MakeMove(player, move, game.round, game.turn.number)
    return executor.execute(game.game_id, command).game
