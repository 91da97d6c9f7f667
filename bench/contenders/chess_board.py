"""python-chess: legal moves and push, 60 moves of each side at most."""

from __future__ import annotations

import random
from collections.abc import Callable

import chess

LONGEST = 120


def prepare(seats: int, games: int, rng: random.Random) -> Callable[[], int]:
    boards = [chess.Board() for _ in range(games)]
    below = rng.random

    def play() -> int:
        total = 0
        for board in boards:
            for _ in range(LONGEST):
                moves = list(board.legal_moves)
                if not moves:
                    break
                board.push(moves[int(below() * len(moves))])
                total += 1
        return total

    return play
