"""Requests made up from the document, in every way that Schemathesis knows, against the server.

None ends in a 5xx or in an undocumented answer, what fits the document is taken, what does not is
refused, and nothing is there after it was removed.

`ABBOT_FUZZ_SEED` has other requests made up, `--long` has more of them, and every way in which one
can be wrong; a smaller choice of those is in test_parameters.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from eventstore.settings import ROOT
from tests.api.fuzzing import world
from tests.api.server import Server, serving
from tests.databases import Scratch

LONG = bool(os.environ.get("ABBOT_LONG"))
CONFIG = Path(world.__file__).with_name("schemathesis.toml")
UNBOUNDED = {
    "ABBOT_REQUESTS_PER_TOKEN": "0",
    "ABBOT_REQUESTS_PER_APP": "0",
    "ABBOT_REQUESTS_PER_ADDRESS": "0",
    "ABBOT_REGISTRATIONS_PER_ADDRESS": "0",
    "ABBOT_LOBBIES_PER_PLAYER": "100000",
    "ABBOT_GAMES_PER_PLAYER": "100000",
}


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("fuzz")
    # URLs of webhooks are made up: no name server is asked for them, and nobody calls them.
    with serving(scratch, folder, ABBOT_WEBHOOKS="anywhere", **UNBOUNDED) as server:
        yield server


@pytest.fixture(scope="module")
def environment(server: Server, scratch: Scratch) -> dict[str, str]:
    made = world.made(scratch, server.port)
    return {**os.environ, "PYTHONPATH": str(ROOT), **made.environment()}


@pytest.mark.parametrize(
    ("phase", "examples"),
    [("examples", 1), ("coverage", 1), ("fuzzing", 4), ("stateful", 10)],
)
def test_made_up_requests_find_nothing(
    server: Server, environment: dict[str, str], phase: str, examples: int
) -> None:
    command = [
        *(sys.executable, "-P", "-m", "schemathesis.cli", "--config-file", str(CONFIG)),
        *("run", f"{server.url}/openapi.json", "--phases", phase, "--checks", "all"),
        *("--max-examples", str(examples * (25 if LONG else 1))),
        *("--mode", "positive" if phase == "coverage" and not LONG else "all"),
        *("--seed", os.environ.get("ABBOT_FUZZ_SEED", "8"), "--output-sanitize", "false"),
    ]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-3000:]
    assert "Traceback" not in server.log()
