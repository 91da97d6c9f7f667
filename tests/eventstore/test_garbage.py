"""Processes that serve seldom look for reference cycles, and not in what they have loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eventstore.garbage import YOUNG

API = "from api.command.gunicorn_config import post_worker_init; post_worker_init(None)"
WORKER = (
    "from eventstore.settings import Settings; from workers.resources import Resources;"
    "Resources(Settings.from_env()).executor()"
)


@pytest.mark.parametrize("begin", [API, WORKER], ids=["api", "worker"])
def test_a_process_that_serves(begin: str, tmp_path: Path) -> None:
    report = "import gc; print(gc.get_threshold()[0], gc.get_freeze_count() > 10_000"
    environment = {
        **os.environ,
        "ABBOT_DATA": str(tmp_path),
        "ABBOT_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    }
    done = subprocess.run(
        [sys.executable, "-c", f"{begin}; {report}, flush=True); import os; os._exit(0)"],
        env=environment,
        stdout=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert done.stdout.decode().split() == [str(YOUNG), "True"]
