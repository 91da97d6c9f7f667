"""The processor time of this process and of everything that it has started."""

from __future__ import annotations

import os
from pathlib import Path


def seconds() -> float:
    """How many seconds of a core the threads of all of them have used that have not ended.

    Linux tells it to the nanosecond for each thread.
    """
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        fields = _text(path).rpartition(")")[2].split()
        parents[int(path.parent.name)] = int(fields[1]) if fields else 0
    return sum(map(_nanoseconds, filter(lambda pid: _is_ours(pid, parents), parents))) / 1e9


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    own = os.getpid()
    while pid not in (own, 0):
        pid = parents.get(pid, 0)
    return pid == own


def _nanoseconds(pid: int) -> int:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    used = [_text(Path(f"/proc/{pid}/task/{thread}/schedstat")).split() for thread in threads]
    return sum(int(fields[0]) for fields in used if fields)


def _text(path: Path) -> str:
    """What a file of /proc says, nothing if what it tells of has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
