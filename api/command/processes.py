"""Facts about processes, and pid files that are not fooled by an id that was given out again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

Escalation = Sequence[tuple[int, float]]
"""Signals to stop a process with, each with the seconds it is given; SIGKILL follows."""


def identity(pid: int) -> str | None:
    """A text that no other process ever shares, None if there is no such process (a zombie
    counts as none)."""
    if sys.platform == "linux":
        fields = _stat(pid)
        if fields is None or fields[0] == "Z":
            return None
        return f"{_boot()}:{fields[19]}"
    found = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = found.stdout.strip().partition(" ")
    return started.strip() if started and not state.startswith("Z") else None


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the state on (the name before may hold anything)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()


def _boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def write_pid_file(path: Path, pid: int) -> None:
    """Note that `pid` is ours, readable for the next run."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"pid": pid, "identity": identity(pid)}))
    partial.replace(path)


def read_pid_file(path: Path) -> int | None:
    """The process that the file names, if that same process still runs."""
    try:
        noted = json.loads(path.read_text())
        pid, seen = int(noted["pid"]), noted["identity"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return pid if seen is not None and identity(pid) == seen else None


def end(pid: int, escalation: Escalation) -> None:
    """Stop a process that is not our child: one signal after the other, then SIGKILL to its
    whole group if it leads one."""
    seen = identity(pid)
    if seen is None:
        return
    for number, seconds in escalation:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if identity(pid) != seen:
                return
            time.sleep(0.05)
    with suppress(ProcessLookupError):
        if os.getpgid(pid) == pid:
            kill_group(pid)
        os.kill(pid, signal.SIGKILL)


def kill_group(leader: int) -> None:
    """Kill what is left of the process group that `leader` led."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def kill(pids: list[int], patience: float = 10.0) -> None:
    """Kill processes and wait until they are gone, as until then they hold their ports."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + patience
    while any(identity(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)


def marked(variable: str, value: str) -> list[int]:
    """Processes whose environment began with ``variable=value``, ours left out. Linux only;
    elsewhere none are found."""
    wanted = os.fsencode(f"{variable}={value}")
    found = []
    for folder in Path("/proc").glob("[0-9]*") if sys.platform == "linux" else ():
        with suppress(OSError):
            pid = int(folder.name)
            if pid != os.getpid() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(pid)
    return found
