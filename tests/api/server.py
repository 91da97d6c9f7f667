"""The application as it is served: gunicorn with gevent workers, over real sockets."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.databases import Scratch
from tests.workers.servers import ROOT, free_port, wait_for

PATIENCE = 60.0
"""Seconds for what takes a moment on a machine that has nothing else to do."""


class Server:
    """A running server. `settings` are environment variables."""

    def __init__(self, scratch: Scratch, folder: Path, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = folder / f"server-{self.port}.log"
        environment = {
            **os.environ,
            "ABBOT_DATABASE_URL": scratch.app_url,
            "ABBOT_DATA": str(folder / "data"),
            "ABBOT_PORT": str(self.port),
            "ABBOT_API_WORKERS": "1",
            "ABBOT_LOG_LEVEL": "info",
            "PYTHONPATH": str(ROOT),
            **settings,
        }
        command = [sys.executable, "-m", "gunicorn", "-c", "python:api.command.gunicorn_config"]
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [*command, "api.wsgi:app"], cwd=ROOT, env=environment, stdout=output, stderr=output
            )
        try:
            wait_for(self._ready, 90, "the server gets ready")
        except BaseException:
            self.process.kill()
            raise

    def _ready(self) -> bool:
        assert self.process.poll() is None, self.log()
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            connection.request("GET", "/readyz")
            with contextlib.closing(connection):
                return connection.getresponse().status == 200
        return False

    def log(self) -> str:
        """All that it has logged."""
        return self._log.read_text()

    def workers(self) -> list[int]:
        """The processes that answer."""
        task = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in task.read_text().split()]

    def stop(self) -> float:
        """SIGTERM; the seconds until it has ended."""
        began = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)
        return time.monotonic() - began


@contextlib.contextmanager
def serving(scratch: Scratch, folder: Path, **settings: str) -> Iterator[Server]:
    """A running server, which must not have met anything unforeseen."""
    server = Server(scratch, folder, **settings)
    try:
        yield server
    finally:
        server.stop()
        # Or the next one would find that the service was away meanwhile.
        scratch.forget_processes()
    assert "Traceback" not in server.log(), server.log()[-3000:]
