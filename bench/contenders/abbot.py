"""Abbot's own games, one round each, without the deal.

`push` plays on the position itself: legal moves, and each move judged and evolved with all that
follows from it, with the call that is due. `decide` does the same through commands, as the API
does, on a copy for each move, and with the events to store.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from domain.commands import BotMove, Context, CreateGame, MakeMove, SeatBot, StartGame
from domain.game import Game, decide, legal_moves, new_game, pusher

HOST = "019b7600-0000-7000-8000-000000000001"


def prepare(
    seats: int, games: int, rng: random.Random, ruleset: str, how: str
) -> Callable[[], int]:
    dealt = [started(ruleset, seats, rng) for _ in range(games)]
    below, play_out = rng.random, {"push": pushed, "decide": decided}[how]
    return lambda: sum(play_out(game, context, below) for game, context in dealt)


def started(ruleset: str, seats: int, rng: random.Random) -> tuple[Game, Context]:
    """A game that has just been dealt, and what its decisions need."""
    context = Context(rng.randbytes(32))
    game = new_game("019b7600-0000-7000-8000-000000000000")
    opening = [CreateGame(HOST, ruleset, {"rounds_to_win": 1})]
    for command in (*opening, *[SeatBot(HOST, "random")] * (seats - 1), StartGame(HOST)):
        game = decide(game, command, context).game
    return game, context


def pushed(game: Game, context: Context, below: Callable[[], float]) -> int:
    """Play the game at random to its end; the number of moves."""
    count, push, with_due_call = 0, pusher(game, context), game.rules.with_due_call
    while (turn := game.turn) is not None:
        seat = turn.seat
        moves = legal_moves(game, seat)
        push(with_due_call(game, seat, moves[int(below() * len(moves))]))
        count += 1
    return count


def decided(game: Game, context: Context, below: Callable[[], float]) -> int:
    """The same, each move a command of a player or a bot."""
    count, with_due_call = 0, game.rules.with_due_call
    while (turn := game.turn) is not None:
        seat = turn.seat
        moves = legal_moves(game, seat)
        move = with_due_call(game, seat, moves[int(below() * len(moves))])
        if seat == 0:
            command = MakeMove(HOST, move, game.round, turn.number)
        else:
            command = BotMove(seat, move, game.round, turn.number)
        game = decide(game, command, context).game
        count += 1
    return count
