"""What a deadline adds to a move: the same moves with and without it, in turns."""

from __future__ import annotations

import random
import statistics
import time
from typing import Any

from domain.commands import MakeMove
from domain.game import legal_moves
from eventstore.appending import Append
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.store import Store

ROUNDS = 9


def of_timers(app_url: str, moves: int) -> float:
    """The share by which a move costs more with its deadline than without: the median over rounds
    that are measured side by side."""
    from domain.commands import CreateGame, StartGame, TakeSeat

    dice = random.Random(1)
    with open_pool(app_url, 2) as pool:
        executor = Executor(Store(pool))

        def opened() -> tuple[str, list[str]]:
            players = [uuid7(), uuid7()]
            created = executor.create(CreateGame(players[0], "vallelujah", {"rounds_to_win": 9}))
            game_id = created.game.game_id
            executor.execute(game_id, TakeSeat(players[1]))
            executor.execute(game_id, StartGame(players[0]))
            return game_id, players

        def played() -> float:
            """Seconds for so many moves."""
            game_id, players = opened()
            known = executor.store.load(game_id)
            assert known is not None
            game = known.game
            spent = 0.0
            for _ in range(moves):
                if game.turn is None:
                    game_id, players = opened()
                    known = executor.store.load(game_id)
                    assert known is not None
                    game = known.game
                assert game.turn is not None
                move = dice.choice(legal_moves(game, game.turn.seat))
                began = time.perf_counter()
                game = executor.execute(game_id, MakeMove(players[game.turn.seat], move)).game
                spent += time.perf_counter() - began
            return spent

        played()
        ratios = []
        for _ in range(ROUNDS):
            on = played()
            with _without_deadlines():
                off = played()
            ratios.append(on / off)
    return statistics.median(ratios) - 1


class _without_deadlines:
    """Appends leave the deadline as it is."""

    def __enter__(self) -> None:
        self._parameters = Append.parameters

        def parameters(append: Append) -> dict[str, Any]:
            return {**self._parameters(append), "clock": "keep", "bot": "keep"}

        Append.parameters = parameters  # type: ignore[method-assign]

    def __exit__(self, *_: object) -> None:
        Append.parameters = self._parameters  # type: ignore[method-assign]
