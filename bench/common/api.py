"""The API as `./abbot up` starts it, for a measurement."""

from __future__ import annotations

import contextlib
import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from bench.common.server import Server
from eventstore.settings import ROOT

READY_SECONDS = 60.0


@contextlib.contextmanager
def serving(database: Server, port: int, workers: int, **settings: str) -> Iterator[None]:
    """Its processes, ready; `settings` are environment variables."""
    environment = {
        **os.environ,
        "ABBOT_DATABASE_URL": database.app_url,
        "ABBOT_DATA": str(database.folder / "api"),
        "ABBOT_PORT": str(port),
        "ABBOT_API_WORKERS": str(workers),
        "ABBOT_LOG_LEVEL": "warning",
        "PYTHONPATH": str(ROOT),
        **settings,
    }
    command = [sys.executable, "-P", "-m", "gunicorn", "-c", "python:api.command.gunicorn_config"]
    process = subprocess.Popen([*command, "api.wsgi:app"], cwd=ROOT, env=environment)
    try:
        _wait(port)
        yield
    finally:
        process.terminate()
        process.wait(60)


def _wait(port: int) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise RuntimeError("the API does not get ready")
