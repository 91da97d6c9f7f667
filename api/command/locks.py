"""Locks between commands that work in the same data folder. Standard library only."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType


class Busy(Exception):
    """Another process holds the lock. `pid` is that process's id where it could be read."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(f"held by process {pid}" if pid else "held by another process")
        self.pid = pid


class Lock:
    """An exclusive lock on a file, let go when the process ends, however it ends.

    The file stays behind on purpose: removing it would let two processes hold "the" lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self, *, wait: bool = False) -> None:
        """Take the lock; raise Busy at once if it is taken, unless `wait`."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            pid = _pid(os.read(descriptor, 32))
            os.close(descriptor)
            raise Busy(pid) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let the lock go; nothing happens if it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def holder(self) -> int | None:
        """The id of the process that holds the lock, 0 if it is unknown, None if nobody does."""
        try:
            descriptor = os.open(self.path, os.O_RDWR)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _pid(os.read(descriptor, 32)) or 0
        finally:
            os.close(descriptor)
        return None

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.release()


def _pid(text: bytes) -> int | None:
    return int(text) if text.strip().isdigit() else None
