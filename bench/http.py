"""Moves over HTTP: how many, how soon they are answered, and where a request's time goes.

The server is started as `./abbot up` starts it: PostgreSQL with its defaults and two API processes.
Pairs of clients play whole matches against each other, each client on a connection of its own, in
processes on the same machine. Only the moves are counted; what a client asks in between (the legal
moves) is part of the load.

Where the time goes is measured in one process without a network: a move's request as the
application handles it, and what of it are looking up the token, deciding, the append, and the rest.

  ./abbot bench http
  ./abbot bench http --clients 32 --seconds 10
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from api import logs
from api.app import create_app
from api.auth import new_token, token_hash
from api.services import over
from bench.common.api import serving
from bench.common.arguments import Arguments
from bench.common.report import Figure, finish
from bench.common.server import Server, server
from domain.commands import CreateGame, StartGame, TakeSeat
from eventstore.database import Database
from eventstore.executor import Executor
from eventstore.players import Players
from eventstore.pool import Pool, open_pool
from eventstore.settings import ROOT
from eventstore.store import Store

PROCESSES = 4
PORT = 8791
OPTIONS = {"rounds_to_win": 9}


def main(argv: list[str]) -> int:
    """Run the measurement; 0 when it has worked."""
    parser = Arguments("http", __doc__)
    parser.add_argument("--clients", type=int, default=32, help="clients that play")
    parser.add_argument("--seconds", type=float, default=8, help="seconds of playing")
    parser.add_argument("--workers", type=int, default=2, help="API processes")
    parser.add_argument("--port", type=int, default=PORT, help="the API's port")
    parser.add_argument("--play", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.play:
        _play(given)
        return 0
    figures: dict[str, Figure] = {}
    with server() as database, open_pool(database.app_url, 2) as pool:
        with serving(database, given.port, given.workers):
            figures |= _over_http(pool, given)
        _where_time_goes(pool, database)
    return finish(figures)


# Over HTTP


def _over_http(pool: Pool, given: argparse.Namespace) -> dict[str, Figure]:
    tokens = [new_token() for _ in range(given.clients)]
    players = Players(pool)
    for number, token in enumerate(tokens):
        players.register(f"P{number}", token_hash(token), ("play", "read"))
    pairs = [tokens[n : n + 2] for n in range(0, given.clients - 1, 2)]
    shares = [[token for pair in pairs[n::PROCESSES] for token in pair] for n in range(PROCESSES)]
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "bench.http", "--play", json.dumps(share)),
                *("--seconds", str(given.seconds), "--port", str(given.port)),
            ],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for share in shares
        if share
    ]
    answers = [json.loads(process.communicate()[0]) for process in processes]
    taken = [seconds for answer in answers for seconds in answer["taken"]]
    rate = sum(len(answer["taken"]) / answer["seconds"] for answer in answers)
    p50, p99 = (_quantile(taken, share) * 1000 for share in (0.5, 0.99))
    print(
        f"\n{given.clients} clients, {given.workers} API processes: {rate:.0f} moves/s,"
        f" p50 {p50:.1f} ms, p99 {p99:.1f} ms ({len(taken)} moves)"
    )
    return {
        "moves per second": Figure(round(rate), 0, True),
        "p50 ms": Figure(round(p50, 1), 0, True),
        "p99 ms": Figure(round(p99, 1), 0, True),
    }


def _play(given: argparse.Namespace) -> None:
    """In a process of its own: pairs of clients, each in a thread, until the time is up."""
    tokens = json.loads(given.play)
    taken: list[float] = []
    began = time.perf_counter()
    until = began + given.seconds
    pairs = [(tokens[n], tokens[n + 1]) for n in range(0, len(tokens) - 1, 2)]
    threads = [
        threading.Thread(target=_play_pair, args=(pair, given.port, until, taken)) for pair in pairs
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"taken": taken, "seconds": time.perf_counter() - began}))


def _play_pair(pair: tuple[str, str], port: int, until: float, taken: list[float]) -> None:
    connections = [http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in pair]
    dice = random.Random(pair[0])

    def call(player: int, method: str, path: str, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {pair[player]}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body)
        connections[player].request(method, f"/v1{path}", sent, headers)
        answer = connections[player].getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode()}")
        return json.loads(text)

    while time.perf_counter() < until:
        opened = {"ruleset": "vallelujah", "options": OPTIONS, "turn_seconds": 3600}
        game_id = call(0, "POST", "/games", opened)["game_id"]
        call(1, "POST", f"/games/{game_id}/seats", {})
        game = call(0, "POST", f"/games/{game_id}/start", {})
        while game["status"] == "active" and time.perf_counter() < until:
            seat = game["turn"]["seat"]
            listed = call(seat, "GET", f"/games/{game_id}/legal-moves")["legal_moves"]
            chosen = dice.choice(listed)
            move = chosen["move"]
            if "take_from" in chosen:
                move = {**move, "take": dice.choice(chosen["take_from"])}
            began = time.perf_counter()
            game = call(seat, "POST", f"/games/{game_id}/moves", move)["game"]
            taken.append(time.perf_counter() - began)


# Where the time goes


class _Clock:
    """Adds up what calls take while it runs."""

    def __init__(self) -> None:
        self.running = False
        self.seconds: dict[str, float] = {}

    def timed(self, name: str, action: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **named: Any) -> Any:
            if not self.running:
                return action(*arguments, **named)
            began = time.perf_counter()
            try:
                return action(*arguments, **named)
            finally:
                taken = time.perf_counter() - began
                self.seconds[name] = self.seconds.get(name, 0.0) + taken

        return wrapped


def _where_time_goes(pool: Pool, server: Server, moves: int = 400) -> None:
    logs.configure("warning")
    opened = over(Store(pool), server.folder / "keys")
    client = create_app(opened=opened).test_client()
    tokens = [new_token(), new_token()]
    ids = [
        opened.players.register(name, token_hash(token), ("play", "read")).player_id
        for name, token in zip(("A", "B"), tokens, strict=True)
    ]
    clock = _Clock()
    with contextlib.ExitStack() as stack:
        for owner, name, label in (
            (Executor, "execute", "judging and recording the move"),
            (Store, "append", "  of which the append"),
            (Players, "lookup", "the token"),
            (Database, "once", "statements, but for the append"),
            (Database, "ask", "statements, but for the append"),
        ):
            stack.enter_context(_patched(owner, name, clock, label))
        total, busy, count = 0.0, 0.0, 0
        while count < moves:
            game_id, game = _table(opened.executor, ids)
            while not game.over and count < moves:
                seat = game.turn.seat
                move = {
                    **random.choice(game.rules.legal_moves(game, seat)),
                    "round": game.round,
                    "turn": game.turn.number,
                }
                clock.running = True
                began, ran = time.perf_counter(), time.process_time()
                answer = client.post(
                    f"/v1/games/{game_id}/moves",
                    json=move,
                    headers={"Authorization": f"Bearer {tokens[seat]}"},
                )
                total += time.perf_counter() - began
                busy += time.process_time() - ran
                clock.running = False
                if answer.status_code != 201:
                    raise RuntimeError(f"a move was answered {answer.status_code}")
                known = opened.store.known(game_id)
                assert known is not None
                game, count = known.game, count + 1
    print(f"\na move's request within one process: {total / count * 1e6:.0f} µs, of which")
    print(f"  {'processor time of the application':<34} {busy / count * 1e6:7.0f} µs")
    for label, seconds in clock.seconds.items():
        print(f"  {label:<34} {seconds / count * 1e6:7.0f} µs")


def _table(executor: Executor, ids: list[str]) -> tuple[str, Any]:
    game_id = executor.create(CreateGame(ids[0], "vallelujah", OPTIONS)).game.game_id
    executor.execute(game_id, TakeSeat(ids[1]))
    return game_id, executor.execute(game_id, StartGame(ids[0])).game


@contextlib.contextmanager
def _patched(owner: Any, name: str, clock: _Clock, label: str) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, clock.timed(label, original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _quantile(values: list[float], share: float) -> float:
    if len(values) < 2:
        return float("inf")
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
