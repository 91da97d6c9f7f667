"""The broker dies under `abbot up`, alone or with Celery's main process, while turns are due.

Celery's main process can end with a connection that broke while tasks were under way. Whether it
does is a matter of moments, so the test ends it, too. Pool processes end by themselves.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from api.command import processes
from api.command.supervisor import MARK
from tests.e2e.test_kills import TURN_SECONDS, expiries, open_matches
from tests.e2e.test_up import PATIENCE, Up, data, port
from tests.workers.servers import wait_for

__all__ = ["data", "port"]

TURNS = 2
"""How many turns of each match run out after the last kill at least."""


@pytest.mark.parametrize("parts", [("valkey",), ("valkey", "worker")], ids="-".join)
def test_the_supervisor_brings_it_back_and_no_turn_is_lost(
    data: Path,
    port: int,
    parts: tuple[str, ...],
) -> None:
    up = Up(data, port)
    up.wait_for("Ctrl-C stops everything")
    host, opened = open_matches(up.url)

    def lost() -> list[int]:
        return [len(expiries(host, game_id)) for game_id in opened]

    for killed in range(1, 3):
        wait_for(lambda before=killed: min(lost()) >= before, PATIENCE, "turns expire")
        time.sleep(TURN_SECONDS - 0.2)
        for part in parts:
            os.kill(up.pid(part), signal.SIGKILL)
        for part in parts:
            wait_for(lambda part=part, n=killed: up.told().count(f"{part} is back") >= n, 60, part)
    reached = min(lost())
    wait_for(lambda: min(lost()) >= reached + TURNS, PATIENCE, "turns expire afterwards")

    late: list[float] = []
    for game_id in opened:
        found = expiries(host, game_id)
        turns = [turn for turn, _ in found]
        assert turns == [(1, number + 1) for number in range(len(turns))], "each, and each once"
        late += [seconds for _, seconds in found]
        host.post(f"/games/{game_id}/resign")
    host.close()
    print(f"{parts}: {len(late)} turns expired, at most {max(late):.3f} s late")
    assert up.stop() == 0
    assert processes.marked(MARK, str(data)) == [], "nor is any process left over"
