"""The API in processes of its own, as an operator would start it."""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.workers.servers import ROOT, free_port, wait_for


class Api:
    """gunicorn with the API, that a test may kill and start again on the same port."""

    def __init__(self, database_url: str, folder: Path, **settings: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "api.log"
        self._environment = {
            **os.environ,
            "ABBOT_DATABASE_URL": database_url,
            "ABBOT_DATA": str(folder / "data"),
            "ABBOT_PORT": str(self.port),
            "PYTHONPATH": str(ROOT),
            **settings,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        command = [sys.executable, "-m", "gunicorn", "-c", "python:api.command.gunicorn_config"]
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                [*command, "api.wsgi:app"],
                cwd=ROOT,
                env=self._environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        wait_for(self._answers, 60, "the API starts")

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def stop(self, seconds: float = 30) -> int:
        """Stop it as an operator does; the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(seconds)
        finally:
            self.kill()

    def kill(self) -> None:
        """End all its processes at once."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(10)
        self._process = None
