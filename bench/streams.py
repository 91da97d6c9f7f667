"""How many streams one process holds, and how soon a move reaches those of its game.

One API process on a PostgreSQL of its own; matches of four, each seat reading its stream. Moves
come over HTTP to that process, then from this one as if another had made them. Delays are from the
time of recording to the arrival at each stream, on one machine that also runs the readers.

  ./abbot bench streams
  ./abbot bench streams --streams 1000 5000 --seconds 10 --rate 20
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
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.auth import new_token, token_hash
from api.command.limits import allow_files
from bench.common.arguments import Arguments
from bench.common.report import Figure, at_least, at_most, finish
from bench.common.server import Server, server
from bench.streaming.readers import Readers
from domain.commands import CreateGame, MakeMove, StartGame, TakeSeat
from domain.game import listed_moves
from eventstore.executor import Executor
from eventstore.players import Players
from eventstore.pool import open_pool
from eventstore.settings import ROOT
from eventstore.store import Store

SEATS = 4
PORT = 8790
PLAYERS = 256
OPENING = 50
"""Streams that are being opened at a time: who comes in larger crowds is told 503, and waits."""


def main(argv: list[str]) -> int:
    """Run the measurement; 0 when it has worked."""
    parser = Arguments("streams", __doc__)
    parser.add_argument(
        "--streams", type=int, nargs="*", default=[1000, 5000], help="numbers of them"
    )
    parser.add_argument("--seconds", type=float, default=10, help="seconds of moves of each kind")
    parser.add_argument("--rate", type=float, default=20, help="moves per second")
    parser.add_argument("--port", type=int, default=PORT, help="the API's port")
    given = parser.parse_args(argv)
    allow_files(max(given.streams) + 1000)
    figures: dict[str, Figure] = {}
    with server() as database, open_pool(database.app_url, 4) as pool:
        matches = Matches(Executor(Store(pool)), Players(pool), given.port)
        for streams in given.streams:
            matches.open(streams // SEATS)
            with _api(database, given.port) as pid:
                figures |= _measure(matches, streams, pid, given)
    return finish(figures)


@dataclass(frozen=True, slots=True)
class Player:
    """Who sits at the tables."""

    player_id: str
    token: str


class Matches:
    """Matches of four, and how to move in them."""

    def __init__(self, executor: Executor, players: Players, port: int) -> None:
        self._executor = executor
        self._port = port
        self._dice = random.Random(1)
        self.games: list[tuple[str, list[Player]]] = []
        self._players = []
        for number in range(PLAYERS):
            token = new_token()
            caller = players.register(f"P{number}", token_hash(token), ("play", "read"))
            self._players.append(Player(caller.player_id, token))

    def open(self, count: int) -> None:
        """Have so many matches."""
        while len(self.games) < count:
            first = SEATS * len(self.games) % PLAYERS
            seated = self._players[first : first + SEATS]
            options = {"rounds_to_win": 9}
            create = CreateGame(seated[0].player_id, "halleluja", options, 86_400, SEATS, "public")
            game_id = self._executor.create(create).game.game_id
            for player in seated[1:]:
                self._executor.execute(game_id, TakeSeat(player.player_id))
            self._executor.execute(game_id, StartGame(seated[0].player_id))
            self.games.append((game_id, seated))

    def move_from_elsewhere(self) -> None:
        """A move in some match, recorded by this process."""
        game_id, seated = self._dice.choice(self.games)
        loaded = self._executor.store.load(game_id)
        assert loaded is not None
        if loaded.game.turn is None:
            return
        seat = loaded.game.turn.seat
        move = dict(self._dice.choice(listed_moves(loaded.game, seat))["move"])
        round_number, turn = move.pop("round"), move.pop("turn")
        command = MakeMove(seated[seat].player_id, move, round_number, turn)
        self._executor.execute(game_id, command)

    def move(self, connection: http.client.HTTPConnection) -> float | None:
        """A move in some match over HTTP; the seconds until it was answered."""
        game_id, seated = self._dice.choice(self.games)
        path = f"/v1/games/{game_id}"
        turn = _call(connection, "GET", path, seated[0].token).get("turn")
        if turn is None:
            return None
        token = seated[turn["seat"]].token
        listed = _call(connection, "GET", f"{path}/legal-moves", token)["legal_moves"]
        began = time.perf_counter()
        _call(connection, "POST", f"{path}/moves", token, self._dice.choice(listed)["move"])
        return time.perf_counter() - began


def _call(
    connection: http.client.HTTPConnection, method: str, path: str, token: str, body: Any = None
) -> Any:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    sent = None if body is None else json.dumps(body)
    connection.request(method, path, sent, headers)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {path}: {answer.status} {text.decode()}")
    return json.loads(text)


def _measure(
    matches: Matches, streams: int, pid: int, given: argparse.Namespace
) -> dict[str, Figure]:
    before = _memory(pid)
    readers = Readers(given.port)
    readers.start()
    began = time.monotonic()
    try:
        for game_id, seated in matches.games[: streams // SEATS]:
            for player in seated:
                while readers.asked - readers.count >= OPENING and not readers.broken:
                    time.sleep(0.01)
                readers.open(f"/v1/games/{game_id}/stream", player.token)
        while readers.count < streams and time.monotonic() - began < 180 and not readers.broken:
            time.sleep(0.1)
        opening = time.monotonic() - began
        each = (_memory(pid) - before) / streams / 1024
        time.sleep(2)
        busy, slept = _cpu(pid), time.monotonic()
        time.sleep(5)
        idle = (_cpu(pid) - busy) / (time.monotonic() - slept)
        print(
            f"\n{readers.count} streams open after {opening:.1f} s, {each:.0f} KiB each; "
            f"with nothing to tell they take {idle:.1%} of a core"
        )
        connection = http.client.HTTPConnection("127.0.0.1", given.port, timeout=60)
        answered: list[float] = []

        def move() -> None:
            seconds = matches.move(connection)
            if seconds is not None:
                answered.append(seconds)

        own = _delays(readers, move, given)
        connection.close()
        other = _delays(readers, matches.move_from_elsewhere, given)
        held = readers.count
    finally:
        readers.close()
    _tell("moves of the same process", own)
    _tell("moves of another process", other)
    _tell("moves answered", answered)
    label = f"{streams} streams"
    return {
        f"{label}: held": at_least(held, streams),
        f"{label}: p99 ms": at_most(round(_quantile(own, 0.99) * 1000, 1), 100),
        f"{label}: p99 ms, other process": at_most(round(_quantile(other, 0.99) * 1000, 1), 100),
        f"{label}: idle core share": at_most(round(idle, 3), 0.5),
    }


def _delays(readers: Readers, move: Any, given: argparse.Namespace) -> list[float]:
    """Make moves at the rate for the time; the delays with which they arrived."""
    time.sleep(1)
    readers.delays.clear()
    began = time.monotonic()
    count = 0
    while (now := time.monotonic()) - began < given.seconds:
        due = began + count / given.rate
        if now < due:
            time.sleep(due - now)
        move()
        count += 1
    time.sleep(1)
    return list(readers.delays)


def _tell(what: str, seconds: list[float]) -> None:
    p50, p99 = (_quantile(seconds, each) * 1000 for each in (0.5, 0.99))
    print(f"  {what}: {len(seconds)}, p50 {p50:.1f} ms, p99 {p99:.1f} ms")


def _quantile(values: list[float], share: float) -> float:
    if len(values) < 2:
        return float("inf")
    return statistics.quantiles(values, n=1000, method="inclusive")[round(share * 1000) - 1]


@contextlib.contextmanager
def _api(database: Server, port: int) -> Iterator[int]:
    """One API process; its id."""
    environment = {
        **os.environ,
        "ABBOT_DATABASE_URL": database.app_url,
        "ABBOT_DATA": str(database.folder / "api"),
        "ABBOT_PORT": str(port),
        "ABBOT_API_WORKERS": "1",
        "ABBOT_STREAMS": "20000",
        "ABBOT_STREAMS_PER_PLAYER": "20000",
        "ABBOT_LOG_LEVEL": "warning",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-P", "-m", "gunicorn", "-c", "python:api.command.gunicorn_config"]
    process = subprocess.Popen([*command, "api.wsgi:app"], cwd=ROOT, env=environment)
    try:
        _wait_until_ready(port)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield int(children[0])
    finally:
        process.terminate()
        process.wait(60)


def _wait_until_ready(port: int) -> None:
    for _ in range(600):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        with contextlib.suppress(OSError), contextlib.closing(connection):
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError("the API does not get ready")


def _memory(pid: int) -> int:
    """Bytes of memory in use."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _cpu(pid: int) -> float:
    """Seconds of processor time used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
