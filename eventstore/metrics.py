"""Figures for Prometheus that API and workers have in common, and the folder that they share.

Each process writes its own files; whoever is asked adds up those of all processes under one data
folder. prometheus_client looks for the folder when it is first imported, so `share` comes before.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"

API, WORKERS = "api", "workers"


def folder(data: Path, part: str) -> Path:
    """Where the processes of a part (`API`, `WORKERS`) keep their figures."""
    return data / "run" / "metrics" / part


def share(data: Path, part: str) -> None:
    """Let this process and its children keep their figures for others to add up.

    A folder that cannot be written costs the figures and nothing else.
    """
    path = folder(data, part)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = str(path)


def forget_dead(data: Path, part: str) -> None:
    """Remove the figures of processes that no longer run."""
    for path in folder(data, part).glob("*.db"):
        pid = path.stem.rpartition("_")[2]
        if pid.isdigit() and not _runs(int(pid)):
            with contextlib.suppress(OSError):
                path.unlink()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def exposition(data: Path, told: Callable[[], Iterator[Any]]) -> bytes:
    """The figures of all processes under the data folder and those that `told` gives, in
    Prometheus' text format."""
    from prometheus_client import REGISTRY, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector
    from prometheus_client.registry import Collector, CollectorRegistry

    class Shared(Collector):
        def collect(self) -> Iterator[Any]:
            paths = (path for part in (API, WORKERS) for path in folder(data, part).glob("*.db"))
            merge: Any = MultiProcessCollector.merge
            yield from merge([str(path) for path in paths])

    class Told(Collector):
        def collect(self) -> Iterator[Any]:
            yield from told()

    registry = CollectorRegistry()
    registry.register(Told())
    if VARIABLE not in os.environ:
        return generate_latest(REGISTRY) + generate_latest(registry)
    registry.register(Shared())
    return generate_latest(registry)
