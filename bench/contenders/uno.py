"""RLCard's uno, by its game class: legal actions and step, without its environment around it."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy
from rlcard.games.uno import Game


def prepare(seats: int, games: int, rng: random.Random) -> Callable[[], int]:
    dealt = []
    for _ in range(games):
        game = Game(num_players=seats)
        game.np_random = numpy.random.RandomState(rng.getrandbits(32))
        game.init_game()
        dealt.append(game)
    below = rng.random

    def play() -> int:
        moves = 0
        for game in dealt:
            while not game.is_over():
                actions = game.get_legal_actions()
                game.step(actions[int(below() * len(actions))])
                moves += 1
        return moves

    return play
