"""`./abbot bench feed`: what the feed costs a move, and how late its readers are.

Players in processes of their own make moves through the executor on a server of their own: with an
append that leaves nothing in the outbox (the same function without that one statement), with the
outbox, and with a sequencer that empties it, in turn for several rounds. Then a reader follows the
feed as well. Late is from an event's own time, which is before its commit, until a reader that
looks every few milliseconds has it.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from statistics import median

import psycopg

from bench.common.arguments import Arguments
from bench.common.report import Figure, at_most, finish
from bench.common.server import Server, server
from domain.commands import CreateGame, MakeMove, StartGame, TakeSeat
from domain.game import legal_moves
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.store import Store
from workers.sequencer import Sequencer

LOOK_SECONDS = 0.005
"""How often the reader looks."""

MODES = ("no outbox", "outbox", "sequencer", "reader")


def main(argv: list[str]) -> int:
    """Measure; 0 when done."""
    parser = Arguments("feed", __doc__)
    parser.add_argument("--clients", type=int, default=8, help="processes that play")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds of a part of a round")
    parser.add_argument("--rounds", type=int, default=7, help="rounds")
    options = parser.parse_args(argv)
    rates: dict[str, list[float]] = {mode: [] for mode in MODES}
    late: list[float] = []
    with (
        server() as postgres,
        ProcessPoolExecutor(options.clients, get_context("spawn")) as players,
    ):
        without = _without_outbox(postgres)
        parts = [(mode, _function(postgres)) for mode in MODES[1:]]
        parts.insert(0, (MODES[0], without))
        list(players.map(_play, [postgres.app_url] * options.clients, [1.0] * options.clients))
        for number in range(options.rounds):
            for mode, function in parts:
                postgres.execute(function)
                postgres.execute("DELETE FROM outbox")
                with _following(postgres.app_url, mode, late):
                    began = time.monotonic()
                    moves = sum(
                        players.map(
                            _play,
                            [postgres.app_url] * options.clients,
                            [options.seconds] * options.clients,
                        )
                    )
                    rate = moves / (time.monotonic() - began)
                rates[mode].append(rate)
                print(f"round {number + 1}  {mode:10}  {rate:8.0f} moves/s", flush=True)
        idle = _alone(postgres.app_url)
    late.sort()
    cost = [
        100 * (1 - on / off) for on, off in zip(rates["sequencer"], rates["no outbox"], strict=True)
    ]
    print(f"\nlate by {len(late)} events under load, {len(idle)} of single moves")
    figures: dict[str, Figure] = {
        "cost_percent": at_most(round(median(cost), 1), 5),
        "late_median_ms": at_most(round(1000 * late[len(late) // 2], 1), 50),
        "late_p99_ms": at_most(round(1000 * late[len(late) * 99 // 100], 1), 250),
        "late_idle_median_ms": at_most(round(1000 * median(idle), 1), 250),
    }
    return finish(figures)


def _play(url: str, seconds: float) -> int:
    """Make moves at one table after another for so long; how many."""
    dice = random.Random()
    moves = 0
    ends = time.monotonic() + seconds
    with open_pool(url, 1) as pool:
        executor = Executor(Store(pool))
        while time.monotonic() < ends:
            players = [uuid7(), uuid7()]
            game_id = executor.create(CreateGame(players[0], "vallelujah", {}, 600)).game.game_id
            executor.execute(game_id, TakeSeat(players[1]))
            game = executor.execute(game_id, StartGame(players[0])).game
            while not game.over and time.monotonic() < ends:
                assert game.turn is not None
                seat = game.turn.seat
                move = dice.choice(legal_moves(game, seat))
                game = executor.execute(game_id, MakeMove(players[seat], move)).game
                moves += 1
    return moves


def _function(postgres: Server) -> str:
    ((text,),) = postgres.execute(
        "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'append_events'"
    )
    return str(text)


def _without_outbox(postgres: Server) -> str:
    lines = _function(postgres).splitlines()
    kept = [line for line in lines if "INSERT INTO outbox" not in line]
    if len(kept) != len(lines) - 1:
        raise SystemExit("the append's statement on the outbox was not found")
    return "\n".join(kept)


@contextmanager
def _following(url: str, mode: str, late: list[float]) -> Iterator[None]:
    """What the mode has besides the players, while the block runs."""
    stopping = threading.Event()

    def sequence() -> None:
        with open_pool(url, 1) as pool:
            feed = Feed(pool)
            sequencer = Sequencer(lambda: feed)
            while not stopping.is_set():
                stopping.wait(sequencer.step())

    def read() -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            row = connection.execute("SELECT coalesce(max(position), 0) FROM feed").fetchone()
            assert row is not None
            position = row[0]
            while not stopping.wait(LOOK_SECONDS):
                rows = connection.execute(
                    "SELECT f.position, extract(epoch FROM"
                    " clock_timestamp() - substr(e.body, 8, 27)::timestamptz)::float8"
                    " FROM feed f JOIN events e USING (game_id, version) WHERE f.position > %s"
                    " ORDER BY f.position",
                    (position,),
                ).fetchall()
                late.extend(seconds for _, seconds in rows)
                position = rows[-1][0] if rows else position

    besides = {"sequencer": (sequence,), "reader": (sequence, read)}.get(mode, ())
    threads = [threading.Thread(target=target, daemon=True) for target in besides]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join(30)


def _alone(url: str, tables: int = 12) -> list[float]:
    """How late a single append is seen while nothing else happens."""
    late: list[float] = []
    with open_pool(url, 1) as pool, _following(url, "reader", late):
        executor = Executor(Store(pool))
        for _ in range(tables):
            time.sleep(0.4)
            executor.create(CreateGame(uuid7(), "halleluja", {}, 600))
        time.sleep(0.5)
    return late
