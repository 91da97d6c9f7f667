"""How late turns are found to have run out: at a steady rate, all at once, and with what timers
add to a move. Matches are real ones on a PostgreSQL of their own; rows that are due in days stand
for the rest.

  ./abbot bench timers                    some minutes
  ./abbot bench timers --seconds 60 --outstanding 1000 50000 1000000
  ./abbot bench timers --faults           kills and pauses parts of a whole installation, too

RabbitMQ is measured where ABBOT_BENCH_RABBITMQ names one.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from bench.common.arguments import Arguments
from bench.common.report import Figure, at_least, at_most, finish
from bench.common.server import Server, server
from bench.timing import costs, faults
from bench.timing.matches import Found, Matches, wait_until
from bench.timing.nodes import Node, valkey
from eventstore.settings import data_dir

TURN_SECONDS = 5

CYCLE_SECONDS = TURN_SECONDS + 0.25
"""From one time-out of a match to its next, with what it is late by: so many matches make the rate
that is asked for, and a little more."""


def main(argv: list[str]) -> int:
    """Run the measurement; 0 when it has worked."""
    parser = Arguments("timers", __doc__)
    parser.add_argument("--rate", type=int, default=200, help="turns due per second")
    parser.add_argument("--seconds", type=float, default=15, help="seconds measured at each rate")
    parser.add_argument(
        "--outstanding", type=int, nargs="*", default=[1000, 50_000], help="deadlines there are"
    )
    parser.add_argument("--burst", type=int, default=5000, help="turns due at once, 0 for none")
    parser.add_argument("--moves", type=int, default=200, help="moves of a round, 0 for none")
    parser.add_argument("--faults", action="store_true", help="kill and pause parts")
    parser.add_argument("--only-faults", action="store_true", help="nothing else")
    given = parser.parse_args(argv)
    figures: dict[str, Figure] = {}
    if not given.only_faults:
        with server() as database:
            _measure(database, given, figures)
    if given.faults or given.only_faults:
        figures |= faults.measure()
    return finish(figures)


def _measure(database: Server, given: argparse.Namespace, figures: dict[str, Figure]) -> None:
    matches = Matches(database.app_url, database.admin_url)
    if given.moves:
        share = costs.of_timers(database.app_url, given.moves)
        print(f"a move costs {share:.1%} more with its deadline")
        figures["move cost of timers"] = at_most(round(share, 4), 0.05)
    with contextlib.ExitStack() as stack:
        urls = {"valkey": stack.enter_context(valkey())}
        if rabbitmq := os.environ.get("ABBOT_BENCH_RABBITMQ"):
            urls["rabbitmq"] = rabbitmq
        for name, url in urls.items():
            for outstanding in given.outstanding:
                matches.end()
                matches.bare(outstanding - round(given.rate * CYCLE_SECONDS))
                with _node(database, url) as node:
                    node.wait_until_ready()
                    rate, found = _steady(matches, given.rate, given.seconds)
                label = f"{name}, {outstanding} outstanding"
                _tell(f"{label}, {rate:.0f} due per second", found)
                figures[f"due per second ({label})"] = at_least(round(rate), given.rate)
                figures[f"p99 ({label})"] = at_most(round(found.quantile(0.99), 3), 0.25)
                figures[f"twice ({label})"] = at_most(found.twice, 0)
            if given.burst:
                matches.end()
                with _node(database, url) as node:
                    node.wait_until_ready()
                    seconds, found = _burst(matches, given.burst)
                label = f"{given.burst} at once ({name})"
                print(f"{label}: settled within {seconds:.2f} s, {found.twice} twice")
                figures[label] = at_most(round(seconds, 2), 5.0)
                figures[f"twice ({label})"] = at_most(found.twice, 0)


@contextlib.contextmanager
def _node(database: Server, broker_url: str) -> Iterator[Node]:
    folder = Path(data_dir() / "bench" / "timers")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    node = Node(database.app_url, broker_url, folder, f"abbot.bench.{uuid.uuid4().hex}")
    try:
        yield node
    finally:
        node.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _steady(matches: Matches, rate: int, seconds: float) -> tuple[float, Found]:
    """Turns of 5 seconds in as many matches as make the rate, measured once all of them run: how
    many ran out in a second, and how late each was found."""
    matches.open(math.ceil(rate * CYCLE_SECONDS), lambda: TURN_SECONDS, per_second=rate)
    time.sleep(TURN_SECONDS)
    began, since = time.monotonic(), matches.now()
    time.sleep(seconds)
    found = matches.found(since)
    return len(found.late) / (time.monotonic() - began), found


def _burst(matches: Matches, count: int) -> tuple[float, Found]:
    """All turns are kept from every node until all of them are due; how long the node then needs
    for all, the second included for which it may sleep when nothing is to be claimed."""
    began = time.monotonic()
    matches.open(10, lambda: 3600)
    each = (time.monotonic() - began) / 10
    ends = time.monotonic() + 1.3 * each * count + 5
    matches.open(count, lambda: max(5, math.ceil(ends - time.monotonic())))
    matches.run("UPDATE deadlines SET claimed_until = 'infinity' WHERE turn = 1")
    others = matches.first_turns()[0] - count  # whose first turns are not due for long
    wait_until(lambda: matches.first_turns()[1] >= count, 120)
    since = matches.now()
    matches.run("UPDATE deadlines SET claimed_until = '-infinity' WHERE turn = 1")
    seconds = wait_until(lambda: matches.first_turns()[0] <= others, 60)
    return seconds, matches.found(since)


def _tell(label: str, found: Found) -> None:
    print(
        f"{label}: {len(found.late)} turns, late by {found.quantile(0.5):.3f} s (p50), "
        f"{found.quantile(0.99):.3f} s (p99), {found.worst:.3f} s at most, {found.twice} twice"
    )
