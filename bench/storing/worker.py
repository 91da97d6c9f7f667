"""A process that appends whenever it is told to.

usage: worker.py MODULE THREADS

A line on standard input is a number of seconds, for which it gets ready and says so; after an empty
line it appends for that time, and answers with a line of JSON: the moves made, and the seconds that
they took. Whatever a module needs for so many seconds of
moves it makes before they begin, as pgbench is given its script.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from typing import Protocol


class Mover(Protocol):
    """Makes the moves of one client."""

    def stock(self, seconds: float) -> None:
        """Get ready for so many seconds of moves."""

    def move(self) -> None:
        """Make one."""


def main(name: str, threads: int) -> None:
    """Answer until standard input ends."""
    movers: list[Mover] = importlib.import_module(name).prepare(threads)
    print(json.dumps({"ready": name}), flush=True)
    for line in sys.stdin:
        for mover in movers:
            mover.stock(float(line))
        print(json.dumps({"stocked": threads}), flush=True)
        if not sys.stdin.readline():
            return
        counts = [0] * threads
        began = time.perf_counter()
        until = began + float(line)
        running = [
            threading.Thread(target=_move, args=(mover, counts, number, until))
            for number, mover in enumerate(movers)
        ]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        seconds = time.perf_counter() - began
        print(json.dumps({"moves": sum(counts), "seconds": seconds}), flush=True)


def _move(mover: Mover, counts: list[int], number: int, until: float) -> None:
    while time.perf_counter() < until:
        mover.move()
        counts[number] += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
