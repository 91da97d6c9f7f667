"""The statement of a move as scripts for pgbench: real moves, but for the game and the version."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from bench.storing.abbot import RULESETS, moved, started
from eventstore import sql
from eventstore.appending import Append
from eventstore.executor import Executor
from eventstore.store import Store

GAME = "01a22cad-10fb-7014-{:04x}-{:012x}"
"""The game of a client of pgbench, by the numbers of the run and of the client."""
MOVES = 12
"""So many different ones, in random order: few enough that planning them is no part of the rate."""
_NEVER = "2099-12-31T00:00:00.000000Z"


class Noting(Store):
    """Notes what is appended."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.pool)
        self.appends: list[Append] = []

    def append(self, append: Append):  # type: ignore[no-untyped-def]
        self.appends.append(append)
        return super().append(append)


def typical_moves(store: Store) -> list[Append]:
    """Moves of matches of both games: by the length of their events, the middle of each twelfth."""
    noting = Noting(store)
    executor, dice = Executor(noting), random.Random(1)
    moves = []
    for ruleset in RULESETS * 2:
        game = started(executor, ruleset)
        noting.appends.clear()
        while not game.over:
            game = moved(executor, game, dice)
        # All but the last one, after which no other could follow.
        moves += noting.appends[:-1]
    moves.sort(key=lambda append: sum(map(len, append.rests)))
    return [moves[len(moves) * (2 * n + 1) // (2 * MOVES)] for n in range(MOVES)]


class Scripts:
    """What pgbench runs: one script for each move, and the variables that they take. Parameters go
    to the server as the executor's do; each client's `v` begins at its game's version."""

    def __init__(self, moves: list[Append], run: int) -> None:
        self.texts: list[str] = []
        self.variables: dict[str, Any] = {"v": 1}
        client = "lpad(to_hex(:client_id::int), 12, '0')"
        for number, move in enumerate(moves):
            values = {
                "game_id": f"('{GAME.format(run, 0)[:24]}' || {client})",
                "version": ":v",
                # That of the event before, which no script knows.
                "prev_hash": "NULL",
            }
            for name, value in _parameters(move):
                if name not in values:
                    values[name] = "NULL" if value is None else f":{name}_{number}"
                    self.variables[f"{name}_{number}"] = value
            statement = re.sub(r"%\((\w+)\)s", lambda found, v=values: v[found[1]], sql.APPEND)
            self.texts.append(f"{statement.strip()};\n\\set v :v + {len(move.rests)}\n")


def _parameters(move: Append) -> Iterator[tuple[str, Any]]:
    for name, value in move.parameters().items():
        if isinstance(value, bytes):
            yield name, f"\\x{value.hex()}"
        else:
            yield name, _NEVER if name == "due" else value


def open_games(store: Store, clients: int, run: int) -> None:
    """Have a game for each client of the run number `run`, with one event."""
    table = {
        "ruleset": "halleluja",
        "ruleset_version": "halleluja/1",
        "visibility": "public",
        "options": {},
        "turn_seconds": 60,
        "max_seats": 2,
        "host_seat": 0,
    }
    first = b'"type":"game.created"}'
    for client in range(clients):
        opening = Append(
            GAME.format(run, client), 0, (first,), status="active", table=table, secret=bytes(32)
        )
        store.append(opening)
