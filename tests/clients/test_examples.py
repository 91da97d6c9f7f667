"""The example clients on a connection that loses, cuts and doubles: nothing is lost or doubled."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.command.client import Client
from tests.api.server import Server
from tests.clients import tools
from tests.clients.conftest import CLIENTS
from tests.clients.trouble import MOVES, READS, Trouble, trouble
from tests.pages import python_code
from tests.workers.servers import wait_for

EXAMPLES = CLIENTS / "examples"
PATIENCE = 120
FAULTS = {*MOVES, *READS} - {"fine"}


@dataclass
class Match:
    """A match against a host that plays by itself, for a guest whose connection is bad."""

    server: str
    game_id: str
    host: Client
    guest: Client
    proxy: Trouble
    ended: Future[Any]

    @property
    def environment(self) -> dict[str, str]:
        assert self.guest.token is not None
        return {"ABBOT_URL": self.proxy.url, "ABBOT_TOKEN": self.guest.token}

    def record(self) -> list[dict[str, Any]]:
        """All events as the guest may see them."""
        answer = self.guest.get(f"/games/{self.game_id}/events", limit=1000)
        return list(answer.body["items"])

    def check_moves(self) -> None:
        """Each key counted once, and each of its answers was the same."""
        game = self.ended.result(PATIENCE)
        assert game["status"] == "finished"
        assert self.proxy.refusals == []
        assert len(self.proxy.answers) > 0
        seat = self.guest.get(f"/games/{self.game_id}").body["you"]["seat"]
        firsts = [versions[0] for versions in self.proxy.answers.values()]
        for versions in self.proxy.answers.values():
            assert len(set(versions)) == 1
        # All that the guest has done was asked for under these keys.
        counted = sorted(version for versions in firsts for version in versions)
        assert len(counted) == len(set(counted))
        mine = {
            event["version"]
            for event in self.record()
            if event["by"].get("seat") == seat and event["type"] not in AT_THE_TABLE
        }
        assert mine
        assert mine <= set(counted)


AT_THE_TABLE = {"seat.taken", "seat.seeded", "seat.ready", "seat.left"}


@pytest.fixture
def match(server: Server) -> Iterator[Match]:
    """A match that has begun."""
    players = []
    for name in ("Host", "Guest"):
        token = Client(server.url).post("/players", {"name": name}).body["token"]
        players.append(Client(server.url, token))
    host, guest = players
    settings = {"ruleset": "halleluja", "turn_seconds": 3600, "max_seats": 2}
    options = {"rounds_to_win": 1, "pause_seconds": 0}
    game_id = host.post("/games", settings | {"options": options}).body["game_id"]
    guest.post(f"/games/{game_id}/seats")
    host.post(f"/games/{game_id}/start")
    play = python_code("integrate.md", "play")["play"]
    with trouble(server.port) as proxy, ThreadPoolExecutor(1) as threads:
        ended = threads.submit(play, f"{server.url}/v1", host.token, game_id)
        try:
            yield Match(server.url, game_id, host, guest, proxy, ended)
        finally:
            # Else the host would wait for a guest that has failed.
            if not ended.done():
                guest.post(f"/games/{game_id}/resign")


@contextlib.contextmanager
def running(
    command: list[str], folder: Path, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """A client, killed at the end if it still runs."""
    with subprocess.Popen(
        command, cwd=folder, env=os.environ | environment, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def kept(path: Path) -> int:
    """The whole lines of a file."""
    return path.read_text("utf-8").count("\n") if path.exists() else 0


def names(events: Iterable[dict[str, Any]]) -> list[tuple[int, str]]:
    """Which events these are: once a game is over there is more to see in them than before."""
    return [(event["version"], event["hash"]) for event in events]


def finish(process: subprocess.Popen[str]) -> None:
    """Wait for a client's own end."""
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, said


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on this machine")
def test_a_shell_script_plays_a_match(match: Match) -> None:
    done = subprocess.run(
        [str(EXAMPLES / "play.sh"), match.game_id],
        env=os.environ | match.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    match.check_moves()
    *events, _signed = [json.loads(line) for line in done.stdout.splitlines()]
    assert events == match.record()
    assert set(match.proxy.did) >= FAULTS


def test_a_follower_is_killed_and_misses_nothing(
    match: Match, python_client: Path, tmp_path: Path
) -> None:
    path = tmp_path / "events.ndjson"
    environment = match.environment | {"PYTHONPATH": str(python_client)}
    command = [sys.executable, str(EXAMPLES / "follow.py"), match.game_id, str(path)]
    begun = len(match.record())
    with running(command, tmp_path, **environment):
        wait_for(lambda: kept(path) > 0, PATIENCE, "an event is kept")
    # As if it had been ended in the middle of a line.
    with path.open("a", encoding="utf-8") as file:
        file.write('{"version":')
    with ThreadPoolExecutor(1) as threads:
        play = python_code("integrate.md", "play")["play"]
        threads.submit(play, f"{match.server}/v1", match.guest.token, match.game_id)
        with running(command, tmp_path, **environment):
            wait_for(lambda: kept(path) > begun, PATIENCE, "an event of the match is kept")
        with running(command, tmp_path, **environment) as process:
            finish(process)
    lines = path.read_text("utf-8").splitlines()
    assert names(json.loads(line) for line in lines) == names(match.record())
    assert set(match.proxy.did) >= {"stream cut", "rewound"}


def test_a_phone_is_offline_ended_and_tapped_twice(
    match: Match, typescript_client: Path, tmp_path: Path
) -> None:
    path, proxy = tmp_path / "phone.json", match.proxy
    command = [tools.node(), str(typescript_client / "built" / "phone.js")]
    command += [match.game_id, str(path)]
    # Ended while a move has counted and its answer is on the way.
    proxy.next["move"] = "held"
    with running(command, tmp_path, **match.environment):
        wait_for(proxy.holding.is_set, PATIENCE, "a move has counted")
        assert len(proxy.answers) == 1
    # Offline, with that move still to be sent, and ended once more.
    proxy.offline = True
    with running(command, tmp_path, **match.environment):
        wait_for(lambda: proxy.did["offline"] > 3, PATIENCE, "it tries")
    with running(command, tmp_path, **match.environment) as process:
        proxy.offline = False
        wait_for(lambda: len(proxy.answers) > 1, PATIENCE, "it plays on")
        proxy.offline = True
        tried = proxy.did["offline"]
        wait_for(lambda: proxy.did["offline"] > tried + 2, PATIENCE, "it tries")
        proxy.offline = False
        finish(process)
    match.check_moves()
    assert names(json.loads(path.read_text("utf-8"))["shown"]) == names(match.record())
    assert set(proxy.did) >= {"held", "offline", "stream cut", "rewound"}
