"""Parts of a whole installation are killed and paused while turns are due; it is started and
supervised by `abbot up`, as an operator's is."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.common.report import Figure, at_least, at_most
from bench.timing.matches import EXPIRED, Matches, wait_until
from domain.times import to_micros
from eventstore.settings import ROOT, data_dir
from eventstore.sql import RFC3339

RATE = 100
TURN_SECONDS = 5
MATCHES = RATE * TURN_SECONDS
PAUSE_SECONDS = 5.0
AWAY_SECONDS = 20.0
SETTLE_SECONDS = 60.0

TURNS = """
SELECT substr(body, 8, 27), body::json ->> 'type', body::json #>> '{data,turn,number}'
FROM events WHERE game_id = %s::uuid ORDER BY version
"""
OUTAGES = f"""
SELECT to_char(began_at AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(ended_at AT TIME ZONE 'UTC', '{RFC3339}') FROM outages
"""


@dataclass(frozen=True, slots=True)
class Installation:
    """What `abbot up` has started."""

    folder: Path
    process: subprocess.Popen[bytes]

    def pid(self, part: str) -> int:
        """The main process of a part."""
        noted = json.loads((self.folder / "run" / f"{part}.pid").read_text())
        return int(noted["pid"])

    def family(self, part: str) -> list[int]:
        """All processes of a part."""
        pids = [self.pid(part)]
        for pid in pids:
            path = Path(f"/proc/{pid}/task/{pid}/children")
            if path.exists():
                pids += map(int, path.read_text().split())
        return pids

    def signal(self, part: str, number: signal.Signals) -> None:
        """Send a signal to all processes of a part."""
        for pid in self.family(part):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


@contextlib.contextmanager
def installation() -> Iterator[Installation]:
    """A whole one, in a folder that goes away with it."""
    folder = data_dir() / "bench" / "installation"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # Our own Python environment serves: a second one would take a minute to make.
    (folder / "venv").symlink_to(sys.prefix)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ours = ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL", "ABBOT_BROKER_URL")
    environment = {
        **{name: value for name, value in os.environ.items() if name not in ours},
        "ABBOT_DATA": str(folder),
        "ABBOT_PORT": str(port),
        "PYTHONPATH": str(ROOT),
    }
    code = "from api.command.up import main; raise SystemExit(main([]))"
    with (folder / "up.log").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code], cwd=ROOT, env=environment, stdout=out, stderr=out
        )
    try:
        up = folder / "run" / "up.json"
        wait_until(lambda: up.exists() or process.poll() is not None, 120)
        if not up.exists():
            raise RuntimeError((folder / "up.log").read_text()[-2000:])
        yield Installation(folder, process)
    finally:
        process.send_signal(signal.SIGCONT)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def kill(part: str) -> Callable[[Installation], None]:
    """Its main process and all others of it at once."""
    return lambda all_: all_.signal(part, signal.SIGKILL)


def stop_postgres_at_once(all_: Installation) -> None:
    """An immediate stop; it has to recover from its log."""
    os.kill(all_.pid("postgres"), signal.SIGQUIT)


def pause(part: str) -> Callable[[Installation], None]:
    """All processes of a part hang for a while."""

    def action(all_: Installation) -> None:
        pids = all_.family(part)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            if number == signal.SIGSTOP:
                time.sleep(PAUSE_SECONDS)

    return action


def keep_postgres_away(all_: Installation) -> None:
    """Nobody starts it again for a while."""
    all_.process.send_signal(signal.SIGSTOP)
    os.kill(all_.pid("postgres"), signal.SIGQUIT)
    time.sleep(AWAY_SECONDS)
    all_.process.send_signal(signal.SIGCONT)


FAULTS: dict[str, Callable[[Installation], None]] = {
    "worker killed": kill("worker"),
    "broker killed": kill("valkey"),
    "postgres stopped at once": stop_postgres_at_once,
    "worker paused 5 s": pause("worker"),
    "broker paused 5 s": pause("valkey"),
    "postgres paused 5 s": pause("postgres"),
    "postgres away 20 s": keep_postgres_away,
}


def measure() -> dict[str, Figure]:
    """Every fault by itself, with 100 turns due per second."""
    figures: dict[str, Figure] = {}
    with installation() as everything:
        noted = json.loads((everything.folder / "run" / "up.json").read_text())
        matches = Matches(noted["ABBOT_DATABASE_URL"], noted["ABBOT_OWNER_DATABASE_URL"])
        began = matches.now()
        moments: list[int] = []
        for name, fault in FAULTS.items():

            def noted(all_: Installation, fault: Callable[[Installation], None] = fault) -> None:
                moments.append(time.time_ns() // 1000)
                fault(all_)

            figures |= _under(name, noted, everything, matches)
        least = _least_time(matches, began, moments)
        print(f"no turn of {TURN_SECONDS} s had less than {least:.3f} s in which to move")
        figures["least time of a turn"] = at_least(round(least, 3), TURN_SECONDS)
    return figures


def _under(
    name: str, fault: Callable[[Installation], None], everything: Installation, matches: Matches
) -> dict[str, Figure]:
    """What became of the turns that ran out from just before the fault on. The matches are new
    ones, as those before may all run out at the same moment after a pause."""
    matches.end()
    opened = matches.open(MATCHES, lambda: TURN_SECONDS, per_second=RATE)
    wait_until(lambda: _behind(matches) == 0, SETTLE_SECONDS)
    since = matches.now()
    time.sleep(1)
    fault(everything)
    # Time may have been given back; wait until as many turns were lost as there are matches.
    wait_until(lambda: _expired(matches, since) >= MATCHES, SETTLE_SECONDS, 1.0)
    caught_up = wait_until(lambda: _behind(matches) == 0, SETTLE_SECONDS) < math.inf
    found = matches.found(since)
    wrong = matches.wrong(opened)
    print(
        f"{name}: {len(found.late)} turns, late by {found.quantile(0.5):.3f} s (p50), "
        f"{found.worst:.3f} s at most, {found.twice} twice, all settled: {caught_up}, "
        f"{wrong} records wrong"
    )
    return {
        f"worst lateness, {name}": at_most(round(found.worst, 2), 10.0),
        f"twice, {name}": at_most(found.twice, 0),
        f"all settled, {name}": at_least(int(caught_up), 1),
        f"wrong records, {name}": at_most(wrong, 0),
    }


def _expired(matches: Matches, since: str) -> int:
    """How many turns have expired since then; none while the database is away."""
    try:
        return len(matches.found(since).late)
    except psycopg.Error:
        return 0


def _behind(matches: Matches) -> int:
    """How many turns have been due for more than a second."""
    try:
        rows = matches.run(
            "SELECT count(*) FROM deadlines"
            " WHERE kind = 'turn' AND due_at < clock_timestamp() - interval '1 s'"
        )
    except psycopg.Error:
        return 1  # The database is away.
    return int(str(rows[0][0]))


def _least_time(matches: Matches, since: str, faults: list[int]) -> float:
    """The shortest time for which a turn that expired since then could have been moved in.

    An outage is noted as beginning at the last sign of life before it. What was lost began with
    the fault; `faults` are their moments in microseconds, by the clock that the database has, too.
    """
    outages = [
        (max([a, *(moment for moment in faults if a <= moment < b)]), b)
        for a, b in ((to_micros(str(a)), to_micros(str(b))) for a, b in matches.run(OUTAGES))
    ]
    least = math.inf
    for game_id in {str(row[0]) for row in matches.run(EXPIRED, (since,))}:
        began = 0
        for at, kind, turn in matches.run(TURNS, (game_id,)):
            moment = to_micros(str(at))
            if kind == "turn.expired" and str(at) >= since:
                lost = sum(max(0, min(moment, b) - max(began, a)) for a, b in outages)
                least = min(least, (moment - began - lost) / 1e6)
            if turn is not None:
                began = moment
    return least
