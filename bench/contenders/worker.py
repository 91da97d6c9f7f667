"""A process that measures one contender whenever it is told to.

usage: worker.py MODULE SEATS GAMES [ARGUMENT …]

Each line on standard input is answered by one of JSON, `{"moves": …, "seconds": …}`: the processor
time that playing so many games took. Each line plays other games.
"""

from __future__ import annotations

import gc
import importlib
import json
import random
import sys
import time


def main(name: str, seats: int, games: int, *arguments: str) -> None:
    """Answer until standard input ends."""
    contender = importlib.import_module(name)
    print(json.dumps({"ready": name}), flush=True)
    for number, _ in enumerate(sys.stdin):
        play = contender.prepare(seats, games, random.Random(number), *arguments)
        gc.collect()
        began = time.process_time()
        moves = play()
        seconds = time.process_time() - began
        print(json.dumps({"moves": moves, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
