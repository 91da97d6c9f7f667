"""Playing many matches in several processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from .matches import Match, Plan, play
from .records import Record

_AT_ONCE = 4
"""Matches that a process takes at a time: few, so that the bar moves and Ctrl-C is prompt."""


def run(plan: Plan, games: int, jobs: int = 1, folder: Path | None = None) -> Iterator[Match]:
    """Play matches 0 to `games` - 1 of the plan in `jobs` processes, giving each in order.

    With `folder`, an existing one, the record of each match is saved in it. BrokenProcessPool if
    a process is killed.
    """
    one = partial(play_and_save, plan, folder=folder)
    if jobs <= 1:
        yield from map(one, range(games))
        return
    pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=(os.getpid(),))
    try:
        yield from pool.map(one, range(games), chunksize=_AT_ONCE)
    finally:
        pool.shutdown(cancel_futures=True)


def play_and_save(plan: Plan, number: int, folder: Path | None = None) -> Match:
    """Play match `number`; save its record where there is a folder for it."""
    if folder is None:
        return play(plan, number)
    record = Record()
    match = play(plan, number, record.add)
    record.save(folder)
    return match


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begin(parent: int) -> None:
    """A process of the pool ends silently at Ctrl-C, and with the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
