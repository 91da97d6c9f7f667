"""`./abbot bench feed`: what the feed costs a move, and how late its readers are.

The cost: one client makes moves through the executor on a server of its own, with an append that
leaves nothing in the outbox (the same function without that one statement), with the outbox, and
with a sequencer that empties it as well. Compared is the processor time of all processes for a
move, the server's too, as rates swing by more than the few percent that are looked for.

How late: players in several processes keep all cores busy. Late is from an event's own time, which
is before its commit, until a reader that the sequencer wakes, as in a worker node, has it; then for
single events while nothing else happens.
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
from typing import LiteralString

from bench.common import processor
from bench.common.arguments import Arguments
from bench.common.report import Figure, at_most, finish
from bench.common.server import Server, server
from bench.storing.abbot import FASTEST, Player
from domain.commands import CreateGame, MakeMove, StartGame, TakeSeat
from domain.game import legal_moves
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.sql import EVENT
from eventstore.store import Store
from workers.sequencer import Sequencer

LATE: LiteralString = f"""
SELECT f.position,
    extract(epoch FROM clock_timestamp() - substr(e.body, 8, 27)::timestamptz)::float8
FROM feed f CROSS JOIN {EVENT.format("f")} e WHERE f.position > %(position)s ORDER BY f.position
"""
"""The events after a position, and how old they are."""

MODES = ("no outbox", "outbox", "sequencer")


def main(argv: list[str]) -> int:
    """Measure; 0 when done."""
    parser = Arguments("feed", __doc__)
    parser.add_argument("--clients", type=int, default=8, help="processes that play under load")
    parser.add_argument("--seconds", type=float, default=2.0, help="seconds of a round under load")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of each kind")
    parser.add_argument("--moves", type=int, default=1500, help="moves whose cost a round compares")
    options = parser.parse_args(argv)
    with server() as postgres:
        percent = _cost(postgres, options.rounds, options.moves)
        late = _late(postgres, options.clients, options.rounds, options.seconds)
        idle = _alone(postgres.app_url)
    print(f"\nlate by {len(late)} events under load, {len(idle)} of single moves")
    figures: dict[str, Figure] = {
        "cost_percent": at_most(round(percent, 1), 5),
        "late_median_ms": at_most(round(1000 * late[len(late) // 2], 1), 50),
        "late_p99_ms": at_most(round(1000 * late[len(late) * 99 // 100], 1), 250),
        "late_idle_median_ms": at_most(round(1000 * median(idle), 1), 250),
    }
    return finish(figures)


def _cost(postgres: Server, rounds: int, moves: int) -> float:
    """By how many percent a move costs more with outbox and sequencer."""
    parts = [(mode, _function(postgres)) for mode in MODES]
    parts[0] = (MODES[0], _without_outbox(postgres))
    costs: dict[str, list[float]] = {mode: [] for mode in MODES}
    with ProcessPoolExecutor(1, get_context("spawn")) as client:
        client.submit(_prepare, postgres.app_url, moves).result()
        for number in range(rounds):
            # What a part leaves behind, such as pages to be written, is not always the same one's.
            turn = number % len(parts)
            for mode, function in parts[turn:] + parts[:turn]:
                postgres.execute(function)
                client.submit(_prepare, postgres.app_url, moves).result()
                postgres.execute("DELETE FROM outbox")
                postgres.execute("VACUUM outbox")
                with _following(postgres.app_url, mode):
                    used = processor.seconds()
                    client.submit(_move, moves).result()
                    cost = 1e6 * (processor.seconds() - used) / moves
                costs[mode].append(cost)
                print(f"round {number + 1}  {mode:10}  {cost:6.0f} µs a move", flush=True)
        postgres.execute(parts[1][1])
    for mode in MODES:
        print(f"{mode:10}  {median(costs[mode]):6.0f} µs of processor time a move")
    return 100 * (median(costs["sequencer"]) / median(costs["no outbox"]) - 1)


_PLAYERS: list[Player] = []
"""The one of the process in which moves are counted."""


def _prepare(url: str, moves: int) -> None:
    """Have so many moves thought out."""
    if not _PLAYERS:
        _PLAYERS.append(Player(Executor(Store(open_pool(url, 1))), random.Random(1)))
    _PLAYERS[0].stock(moves / FASTEST)


def _move(moves: int) -> None:
    for _ in range(moves):
        _PLAYERS[0].move()


def _late(postgres: Server, clients: int, rounds: int, seconds: float) -> list[float]:
    """How late a reader had each event while so many processes played, sorted."""
    late: list[float] = []
    url = postgres.app_url
    with ProcessPoolExecutor(clients, get_context("spawn")) as players:
        list(players.map(_play, [url] * clients, [1.0] * clients))
        for number in range(rounds):
            postgres.execute("DELETE FROM outbox")  # What came while nobody followed.
            with _following(url, "reader", late):
                began = time.monotonic()
                moves = sum(players.map(_play, [url] * clients, [seconds] * clients))
                rate = moves / (time.monotonic() - began)
            print(f"round {number + 1}  under load  {rate:6.0f} moves/s", flush=True)
    return sorted(late)


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
def _following(url: str, mode: str, late: list[float] | None = None) -> Iterator[None]:
    """What the mode has besides the players, while the block runs; a reader adds to `late`."""
    stopping = threading.Event()

    woken = threading.Event()
    found = [] if late is None else late

    def sequence() -> None:
        with open_pool(url, 1) as pool:
            feed = Feed(pool)
            sequencer = Sequencer(lambda: feed, woken.set)
            while not stopping.is_set():
                stopping.wait(sequencer.step())
        woken.set()

    def read() -> None:
        with open_pool(url, 1) as pool:
            feed = Feed(pool)
            position = feed.head()
            while not stopping.is_set():
                woken.wait()
                woken.clear()
                rows = feed.database.run(LATE, {"position": position})
                found.extend(seconds for _, seconds in rows)
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
