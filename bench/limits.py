"""What the limits cost, and what they save others from.

Cost: one process without a network answers the same requests with limits and without, in blocks by
turns, so that whatever else the machine does meets both alike. It is the ratio that counts.

A flood: the API with limits on and with limits off, each with two processes, by turns. A client
that asks now and then is timed, first alone, then while another asks for lists of a hundred games
as fast as it can on many connections with a token of its own.

  ./abbot bench limits
  ./abbot bench limits --rounds 8 --flooders 32
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from flask.testing import FlaskClient

from api import logs
from api.allowances import Allowances
from api.app import create_app
from api.auth import new_token, token_hash
from api.services import over
from bench.common.api import serving
from bench.common.arguments import Arguments
from bench.common.report import Figure, at_most, finish
from bench.common.server import Server, server
from domain.commands import CreateGame
from eventstore.executor import Executor
from eventstore.players import Players
from eventstore.pool import Pool, open_pool
from eventstore.settings import ROOT
from eventstore.store import Store

PORT = 8793
BLOCKS, IN_BLOCK = 40, 100
PAUSE_SECONDS = 0.008
"""Between the requests of the client that is timed."""
WARM_SECONDS = 20.0
QUOTA = 500
"""Requests that a token may send in a minute where limits are on."""
OFF = {"requests_per_token": 0, "requests_per_address": 0, "registrations_per_address": 0}
COST_GOAL = 1.2
SAVED_GOAL = 0.8


def main(argv: list[str]) -> int:
    """Run the measurement; 0 when it has worked."""
    parser = Arguments("limits", __doc__)
    parser.add_argument("--seconds", type=float, default=3, help="seconds of each timing")
    parser.add_argument("--rounds", type=int, default=4, help="rounds")
    parser.add_argument("--flooders", type=int, default=16, help="connections of the flood")
    parser.add_argument("--workers", type=int, default=2, help="API processes")
    parser.add_argument("--port", type=int, default=PORT, help="the API's port")
    parser.add_argument("--flood", help=argparse.SUPPRESS)
    given = parser.parse_args(argv)
    if given.flood:
        _flood(given)
        return 0
    figures: dict[str, Figure] = {}
    with server() as database, open_pool(database.app_url, 2) as pool:
        figures |= _cost(pool, database)
        figures |= _floods(pool, database, given)
    return finish(figures)


# What they cost


def _cost(pool: Pool, database: Server) -> dict[str, Figure]:
    logs.configure("warning")
    opened = over(Store(pool), database.folder / "keys")
    token = new_token()
    opened.players.register("P", token_hash(token), ("play", "read"))
    headers = {"Authorization": f"Bearer {token}"}
    many = Allowances(requests_per_token=10**9, requests_per_address=10**9)
    # As from elsewhere: requests of this machine are not counted by address.
    elsewhere = {"REMOTE_ADDR": "192.0.2.1"}
    clients = {
        "with": create_app(opened=opened, allowances=many).test_client(),
        "without": create_app(opened=opened, allowances=Allowances(**OFF)).test_client(),
    }
    taken: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(BLOCKS):
        for name, client in clients.items():
            taken[name].append(_block(client, headers, elsewhere))
    # The best block of each is the one that the rest of the machine disturbed least.
    ratio = round(min(taken["with"]) / min(taken["without"]), 3)
    print(f"\n{'a request of its own player (GET /v1/me), one process, no network':<66}")
    for name, blocks in taken.items():
        print(f"  {name + ' limits':<16} {min(blocks) * 1e6:7.0f} µs")
    print(f"  {'ratio':<16} {ratio:7.3f}")
    return {"cost of limits, ratio of a request": at_most(ratio, COST_GOAL)}


def _block(client: FlaskClient, headers: dict[str, str], environ: dict[str, Any]) -> float:
    began = time.perf_counter()
    for _ in range(IN_BLOCK):
        answer = client.get("/v1/me", headers=headers, environ_overrides=environ)
        if answer.status_code != 200:
            raise RuntimeError(f"a request was answered {answer.status_code}")
    return (time.perf_counter() - began) / IN_BLOCK


# A flood


def _floods(pool: Pool, database: Server, given: argparse.Namespace) -> dict[str, Figure]:
    _tables(pool)
    taken: dict[str, list[list[float]]] = {"off": [[], []], "on": [[], []]}
    told: dict[str, Counter[str]] = {name: Counter() for name in taken}
    with contextlib.ExitStack() as running:
        for port, name in enumerate(taken, given.port):
            quota = str(QUOTA if name == "on" else 0)
            limits = {"ABBOT_REQUESTS_PER_TOKEN": quota, "ABBOT_REQUESTS_PER_ADDRESS": "0"}
            data = {"ABBOT_DATA": str(database.folder / f"api-{name}")}
            running.enter_context(serving(database, port, given.workers, **limits, **data))
        for _ in range(given.rounds):
            for port, name in enumerate(taken, given.port):
                alone, flooded = taken[name]
                alone += _timed(given, port, _token(pool))
                with _flooding(given, port, _token(pool), told[name]):
                    flooded += _timed(given, port, _token(pool))
    busy = {}
    for name, (alone, flooded) in taken.items():
        quiet, busy[name] = _p99(alone), _p99(flooded)
        seconds = told[name]["seconds"]
        print(
            f"limits {name}: p99 {quiet * 1000:.1f} ms alone, {busy[name] * 1000:.1f} ms beside a"
            f" flood of {told[name]['served'] / seconds:.0f} answers/s and"
            f" {told[name]['refused'] / seconds:.0f} refusals/s ({busy[name] / quiet:.1f} times)"
        )
    saved = round(busy["on"] / busy["off"], 2)
    return {"p99 beside a flood, with limits to without": at_most(saved, SAVED_GOAL)}


def _token(pool: Pool) -> str:
    """A new player's token, with a quota of its own."""
    token = new_token()
    Players(pool).register("P", token_hash(token), ("play", "read"))
    return token


def _tables(pool: Pool) -> None:
    """A hundred tables to be listed."""
    host = Players(pool).register("Host", token_hash(new_token()), ("play", "read")).player_id
    executor = Executor(Store(pool))
    for _ in range(100):
        executor.create(CreateGame(host, "halleluja"))


@contextlib.contextmanager
def _flooding(
    given: argparse.Namespace, port: int, token: str, told: Counter[str]
) -> Iterator[None]:
    """A flood that is under way, its quota used up where there is one; adds up what came of it."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "bench.limits", "--flood", token),
            *("--flooders", str(given.flooders), "--port", str(port)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    process.stdout.readline()
    yield
    # The end of its input is the end of the flood.
    told.update(json.loads(process.communicate()[0]))


def _timed(given: argparse.Namespace, port: int, token: str) -> list[float]:
    """The seconds that each request of a client takes that asks now and then."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    taken = []
    until = time.perf_counter() + given.seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        if _ask(connection, token, "/v1/me") != 200:
            raise RuntimeError("the client that is timed was refused")
        taken.append(time.perf_counter() - began)
        time.sleep(PAUSE_SECONDS)
    connection.close()
    return taken


def _p99(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=100, method="inclusive")[98]


def _ask(connection: http.client.HTTPConnection, token: str, path: str) -> int:
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    answer.read()
    return answer.status


def _flood(given: argparse.Namespace) -> None:
    """In a process of its own: ask on many connections, as fast as answers come, until told."""
    statuses: list[int] = []
    enough = threading.Event()

    def ask() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", given.port, timeout=60)
        while not enough.is_set():
            statuses.append(_ask(connection, given.flood, "/v1/games?limit=100"))
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(given.flooders)]
    for thread in threads:
        thread.start()
    # No more than this, as then any quota is used up.
    until = time.perf_counter() + WARM_SECONDS
    while len(statuses) < given.workers * QUOTA + 100 and time.perf_counter() < until:
        time.sleep(0.05)
    print(flush=True)
    before, began = len(statuses), time.perf_counter()
    sys.stdin.read()
    refused = statuses[before:].count(429)
    told = {
        "served": len(statuses) - before - refused,
        "refused": refused,
        "seconds": time.perf_counter() - began,
    }
    enough.set()
    for thread in threads:
        thread.join()
    print(json.dumps(told))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
