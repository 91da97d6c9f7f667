"""Playing many matches in several processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from ctypes import c_bool
from multiprocessing.sharedctypes import RawValue
from pathlib import Path

from .matches import Match, Plan, play
from .records import Record

_AT_ONCE = 4
"""Matches that a process takes at a time, at most."""
_AHEAD = 4
"""Batches that are handed out or played for each process, so that none has to wait."""
_LOOKS = 0.2
"""Seconds between two looks of a process at whether it shall end."""


def run(plan: Plan, games: int, jobs: int = 1, folder: Path | None = None) -> Iterator[Match]:
    """Play matches 0 to `games` - 1 of the plan in at most `jobs` processes, giving each in order.

    With `folder`, an existing one, the record of each match is saved in it. BrokenProcessPool if
    a process is killed. Whoever stops asking, or is interrupted, ends the processes.
    """
    jobs = min(jobs, games)
    if jobs <= 1:
        yield from _play_several(plan, range(games), folder)
        return
    stop = RawValue(c_bool, False)
    pool = ProcessPoolExecutor(jobs, initializer=_begin, initargs=(os.getpid(), stop))
    at_once = max(1, min(_AT_ONCE, games // (jobs * _AHEAD)))
    begun: deque[Future[list[Match]]] = deque()
    try:
        for first in range(0, games, at_once):
            numbers = range(first, min(first + at_once, games))
            begun.append(pool.submit(_batch, plan, numbers, folder))
            if len(begun) == jobs * _AHEAD:
                yield from begun.popleft().result()
        while begun:
            yield from begun.popleft().result()
    except BaseException:
        stop.value = True
        raise
    finally:
        pool.shutdown()


def _batch(plan: Plan, numbers: Iterable[int], folder: Path | None) -> list[Match]:
    return list(_play_several(plan, numbers, folder))


def _play_several(plan: Plan, numbers: Iterable[int], folder: Path | None) -> Iterator[Match]:
    return (play_and_save(plan, number, folder) for number in numbers)


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


def _begin(parent: int, stop: c_bool) -> None:
    """A process of the pool leaves Ctrl-C to the process that started it, and ends when that one
    says so or is gone."""
    # A flag and no event, whose setter would wait for ever for a process that was killed.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent, stop), daemon=True).start()


def _end_with(parent: int, stop: c_bool) -> None:
    while os.getppid() == parent and not stop.value:
        time.sleep(_LOOKS)
    os._exit(1)
