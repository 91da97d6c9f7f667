"""A process that appends whenever it is told to.

usage: worker.py MODULE THREADS

Each line on standard input is a number of seconds; it is answered by one of JSON with the moves
made in that time and the seconds that they took.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Callable


def main(name: str, threads: int) -> None:
    """Answer until standard input ends."""
    movers = importlib.import_module(name).prepare(threads)
    print(json.dumps({"ready": name}), flush=True)
    for line in sys.stdin:
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


def _move(mover: Callable[[], None], counts: list[int], number: int, until: float) -> None:
    while time.perf_counter() < until:
        mover()
        counts[number] += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
