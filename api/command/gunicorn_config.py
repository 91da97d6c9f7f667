"""How gunicorn runs the API; loaded by gunicorn itself (``-c python:api.command...``)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from api.command import limits
from eventstore import garbage, metrics, misspelled
from eventstore.settings import Settings

_settings = Settings.from_env()
metrics.share(_settings.data_dir, metrics.API)
_folder = _settings.data_dir / "run" / "gunicorn"
_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
limits.allow_files(_settings.streams + 1000 + 512)
_host = f"[{_settings.host}]" if ":" in _settings.host else _settings.host

bind = f"{_host}:{_settings.port}"
workers = _settings.api_workers
worker_class = "api.http_worker.HttpWorker"
# Each stream is a connection, and plain requests need some too.
worker_connections = _settings.streams + 1000
# A socket through which anyone with our user id could stop or change the server, and which lies
# outside of the data folder where the path is too long for one: not needed here.
control_socket_disable = True
worker_tmp_dir = str(_folder)
timeout = 60
# Streams are open for long; a stop waits this long for what is under way.
graceful_timeout = 8
keepalive = 5
loglevel = _settings.log_level
logger_class = "api.command.gunicorn_logs.JsonLogger"
errorlog = "-"
accesslog = None
backlog = 1024


def on_starting(server: Any) -> None:
    """Tell of settings that are none, and forget the figures of processes of an earlier run."""
    for sentence in misspelled.warnings():
        server.log.warning("%s", sentence)
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir(mode=0o700, parents=True)


def post_worker_init(_worker: Any) -> None:
    """In each process that serves, once the application is loaded."""
    garbage.seldom()


def child_exit(_server: Any, worker: Any) -> None:
    """Forget the live figures (gauges) of a process that has ended."""
    if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)
