"""OpenSpiel's crazy_eights, which is C++: legal actions and apply action. Drawing is a chance
node, played as part of the move that leads to it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyspiel


def prepare(seats: int, games: int, rng: random.Random) -> Callable[[], int]:
    dealt = [
        _dealt(pyspiel.load_game("crazy_eights", {"players": seats}), rng) for _ in range(games)
    ]
    below = rng.random

    def play() -> int:
        moves = 0
        for state in dealt:
            while not state.is_terminal():
                if state.is_chance_node():
                    outcomes = state.chance_outcomes()
                    state.apply_action(outcomes[int(below() * len(outcomes))][0])
                else:
                    actions = state.legal_actions()
                    state.apply_action(actions[int(below() * len(actions))])
                    moves += 1
        return moves

    return play


def _dealt(game, rng):
    state = game.new_initial_state()
    while state.is_chance_node():
        outcomes = state.chance_outcomes()
        state.apply_action(outcomes[int(rng.random() * len(outcomes))][0])
    return state
