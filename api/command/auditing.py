"""Auditing many games in several processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context

from api.command import database
from eventstore.auditing import Audited, Auditor
from eventstore.pool import open_pool

AT_ONCE = 10
"""Games that a process takes at a time."""

AHEAD = 4
"""Such portions that wait for each process."""

_auditors: list[Auditor] = []
"""This process's own, where it is one of several."""


def audited(auditor: Auditor, url: str, threshold: int | None, jobs: int) -> Iterator[Audited]:
    """Audit every game, in `jobs` processes, each with a connection of its own to `url`.

    Gives them in the order of ids. BrokenProcessPool if a process is killed.
    """
    ids = auditor.game_ids()
    if jobs <= 1:
        for game_id in ids:
            found = auditor.game(game_id)
            if found is not None:
                yield found
        return
    # Not forked: the pool of connections has threads.
    pool = ProcessPoolExecutor(
        jobs, get_context("spawn"), initializer=_open, initargs=(os.getpid(), url, threshold)
    )
    waiting: deque[Future[list[Audited]]] = deque()
    try:
        while True:
            portion = list(islice(ids, AT_ONCE))
            if portion:
                waiting.append(pool.submit(_audit, portion))
            if not waiting:
                return
            if not portion or len(waiting) >= AHEAD * jobs:
                yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _open(parent: int, url: str, threshold: int | None) -> None:
    """A process leaves Ctrl-C to the one that started it, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    database.quiet()
    pool = open_pool(url, 1, prepare_threshold=threshold, application="abbot-audit")
    _auditors.append(Auditor(pool))


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def _audit(game_ids: list[str]) -> list[Audited]:
    found = (_auditors[0].game(game_id) for game_id in game_ids)
    return [each for each in found if each is not None]
