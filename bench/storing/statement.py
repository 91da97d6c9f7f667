"""The statement of a move as a script for pgbench: a real one, but for the game and the version."""

from __future__ import annotations

import random
import re

from psycopg import sql as composed

from bench.storing.abbot import moved, started
from eventstore import sql
from eventstore.appending import Append
from eventstore.executor import Executor
from eventstore.store import Store

GAME = "01a22cad-10fb-7014-{:04x}-{:012x}"
"""The game of a client of pgbench, by the numbers of the run and of the client."""


class Noting(Store):
    """Notes what is appended."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.pool)
        self.appends: list[Append] = []

    def append(self, append: Append):  # type: ignore[no-untyped-def]
        self.appends.append(append)
        return super().append(append)


def typical_move(store: Store) -> Append:
    """Of some hundred moves the one whose events have the median length."""
    noting = Noting(store)
    executor, dice = Executor(noting), random.Random(1)
    for ruleset in ("halleluja", "vallelujah"):
        game = started(executor, ruleset)
        for _ in range(150):
            if not game.over:
                game = moved(executor, game, dice)
    moves = [append for append in noting.appends if append.clock == "set" and append.version > 5]
    moves.sort(key=lambda append: sum(map(len, append.rests)))
    return moves[len(moves) // 2]


def script(move: Append, run: int) -> str:
    """The script; each client's variable `v` must begin below its game's version by one move."""
    parameters = move.parameters() | {"prev_hash": None}
    values = {name: composed.Literal(value).as_string() for name, value in parameters.items()}
    values["game_id"] = f"('{GAME.format(run, 0)[:24]}' || lpad(to_hex(:client_id::int), 12, '0'))"
    values["version"] = ":v"
    statement = re.sub(r"%\((\w+)\)s", lambda match: values[match[1]], sql.APPEND)
    # What looks like a variable of pgbench and is none.
    statement = re.sub(r":(?=(?:true|false|null)\b)", ": ", statement)
    return f"\\set v :v + {len(move.rests)}\n{' '.join(statement.split())};\n"


def open_games(store: Store, move: Append, clients: int, run: int) -> None:
    """Have a game for each client of the run number `run`, after one move."""
    for client in range(clients):
        game_id = GAME.format(run, client)
        if store.head(game_id) is None:
            table = {
                "ruleset": "halleluja",
                "ruleset_version": "halleluja/1",
                "visibility": "public",
                "options": {},
                "turn_seconds": 60,
                "max_seats": 2,
                "host_seat": 0,
            }
            store.append(
                Append(game_id, 0, move.rests, status="active", table=table, secret=bytes(32))
            )
