"""Appends, loads and audits while the record grows."""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg

from bench.common.server import Server
from bench.storing import filling
from bench.storing.abbot import moved, started
from eventstore.auditing import Auditor
from eventstore.executor import Executor
from eventstore.pool import Pool
from eventstore.settings import ROOT
from eventstore.store import Store

SIZES = (1_000, 100_000, 1_000_000, 10_000_000)
"""Events at which there is a measurement, up to the number that is asked for."""
THREADS = 4
FILLERS = 2
SECONDS = 3.0
SAMPLE = 200
AUDITS = 50

_SIZE = """
SELECT (SELECT sum(pg_table_size(relid)) FROM pg_partition_tree('events')),
    (SELECT sum(pg_indexes_size(relid)) FROM pg_partition_tree('events'))
"""


def measure(database: Server, pool: Pool, events: int, seconds: float = 900.0) -> None:
    """Grow the record to so many events, for at most so many seconds, and measure on the way."""
    until = time.monotonic() + seconds
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        filling.make_partitions(owner)
    print(
        f"\n{'events':>12} {'stored/s':>9} {'moves/s':>8} {'load ms':>8} {'whole ms':>9}"
        f" {'audits/s':>9} {'bytes':>6} {'of index':>9}"
    )
    numbers = 0
    executor = Executor(Store(pool))
    for target in sorted({*(size for size in SIZES if size < events), events}):
        there = _count(database)
        began = time.monotonic()
        numbers += _grow(database, target - there, numbers, until)
        count = _count(database)
        rate = (count - there) / (time.monotonic() - began)
        database.execute("ANALYZE")
        database.execute("CHECKPOINT")
        ((table, index),) = database.execute(_SIZE)
        sample = _sample(database)
        stored = f"{rate:.0f}" if count > there else "-"
        print(
            f"{count:>12,} {stored:>9} {_moves(executor):>8.0f} {_load_ms(pool, sample):>8.2f}"
            f" {_load_ms(pool, sample, whole=True):>9.2f} {_audits(pool, sample):>9.1f}"
            f" {(int(str(table)) + int(str(index))) / count:>6.0f} {int(str(index)) / count:>9.0f}",
            flush=True,
        )
        if time.monotonic() > until:
            print(f"  ({events:,} events would take longer than the time that is given)")
            return


def _count(database: Server) -> int:
    ((count,),) = database.execute("SELECT count(*) FROM events")
    return int(str(count))


def _grow(database: Server, events: int, first: int, until: float) -> int:
    """Store about so many events in some processes; how many numbers of matches are used up."""
    if events <= 0:
        return 0
    command = [sys.executable, "-m", "bench.storing.filling", database.owner_url]
    share = str(-(-events // FILLERS))
    processes = [
        subprocess.Popen(
            [*command, share, str(first + n), str(FILLERS)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for n in range(FILLERS)
    ]
    try:
        with ThreadPoolExecutor(FILLERS) as threads:
            stored = list(threads.map(lambda process: _follow(process, until), processes))
    finally:
        for process in processes:
            process.kill()
            process.wait()
    # One more than is known, as a process that is ended may have stored another transaction.
    return (max(stored) + filling.MATCHES_AT_A_TIME) * FILLERS


def _follow(process: subprocess.Popen[str], until: float) -> int:
    stored = 0
    assert process.stdout is not None
    for line in process.stdout:
        stored = int(line)
        if time.monotonic() > until:
            return stored
    if process.wait():
        raise RuntimeError("a process that fills the record has failed")
    return stored


def _sample(database: Server) -> list[str]:
    rows = database.execute(
        "SELECT game_id::text FROM games WHERE status = 'finished'"
        f" ORDER BY random() LIMIT {SAMPLE}"
    )
    return [str(row[0]) for row in rows]


def _moves(executor: Executor) -> float:
    def play(number: int) -> int:
        dice, count = random.Random(number), 0
        game = started(executor, "vallelujah", seats=3)
        until = time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            game = moved(executor, game, dice)
            count += 1
            if game.over:
                game = started(executor, "vallelujah", seats=3)
        return count

    with ThreadPoolExecutor(THREADS) as threads:
        return sum(threads.map(play, range(THREADS))) / SECONDS


def _load_ms(pool: Pool, sample: list[str], *, whole: bool = False) -> float:
    store = Store(pool, games=0)

    def load(game_id: str) -> None:
        store.load(game_id, whole=whole)

    return statistics.median(_seconds(lambda g=each: load(g)) for each in sample) * 1000


def _audits(pool: Pool, sample: list[str]) -> float:
    auditor = Auditor(pool)

    def audit(game_id: str) -> None:
        audited = auditor.game(game_id)
        if audited is None or audited.wrong:
            raise RuntimeError(f"a match is not recorded as it should be: {audited}")

    return 1 / statistics.median(_seconds(lambda g=each: audit(g)) for each in sample[:AUDITS])


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
