"""`abbot up` as a person meets it: the whole server, started, broken, stopped and started again."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.command import processes
from api.command.supervisor import MARK
from tests.pages import script, section_of

CHECKOUT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0
SETTINGS = ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL", "ABBOT_BROKER_URL")


class Up:
    """A running `abbot up` on the data in `data`."""

    def __init__(self, data: Path, port: int, **settings: str) -> None:
        self.data = data
        self.url = f"http://127.0.0.1:{port}"
        environment = {name: text for name, text in os.environ.items() if name not in SETTINGS}
        environment |= {"ABBOT_DATA": str(data), "ABBOT_PORT": str(port), **settings}
        self.output = data.parent / f"up-{time.monotonic_ns()}.out"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-P", str(CHECKOUT / "api" / "command" / "__main__.py"), "up"],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd="/",
            )

    def told(self) -> str:
        return self.output.read_text()

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self.told():
            assert self.process.poll() is None, self.told()
            assert time.monotonic() < deadline, self.told()
            time.sleep(0.05)

    def log(self, name: str) -> str:
        return (self.data / "logs" / f"{name}.log").read_text(errors="replace")

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def pid(self, name: str) -> int:
        pid = processes.read_pid_file(self.data / "run" / f"{name}.pid")
        assert pid is not None
        return pid

    def call(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(
            self.url + path,
            method=method,
            headers=headers,
            data=None if body is None else json.dumps(body).encode(),
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def call_until_answered(self, path: str, token: str) -> Any:
        """A call that is repeated while the server recovers."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.call("GET", path, token=token)
            except OSError:
                assert time.monotonic() < deadline, self.told()
                time.sleep(0.2)


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder that shares this run's environment."""
    folder = tmp_path / "data für up"
    folder.mkdir()
    (folder / "venv").symlink_to(sys.prefix)
    yield folder
    processes.kill(processes.marked(MARK, str(folder)))


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def test_starts_survives_and_finds_its_data_again(data: Path, port: int) -> None:
    up = Up(data, port, ABBOT_API_WORKER="2")
    up.wait_for("Ctrl-C stops everything")
    sentence = "ABBOT_API_WORKER is no setting and does nothing. Is ABBOT_API_WORKERS meant?"
    for told in (up.told(), up.log("api"), up.log("worker")):
        assert told.count(sentence) == 1

    curl = re.search(r"curl .*", up.told())
    assert curl is not None
    if shutil.which("curl"):
        printed = subprocess.run(shlex.split(curl[0]), capture_output=True, check=True).stdout
        player = json.loads(printed)
    else:
        player = up.call("POST", "/v1/players", {"name": "Ada"})
    assert player["name"] == "Ada"

    second = Up(data, port)
    assert second.process.wait(PATIENCE) == 1
    assert f"process {up.process.pid} already runs Abbot" in second.told()

    for name in ("api", "worker", "valkey", "postgres"):
        os.kill(up.pid(name), signal.SIGKILL)
        up.wait_for(f"{name} is back")
        assert f"{name} died (SIGKILL)" in up.told()
    me = up.call_until_answered("/v1/me", player["token"])
    assert me["player_id"] == player["player_id"]

    assert up.stop() == 0
    assert up.told().endswith("abbot: stopping\nabbot: stopped\n")
    assert processes.marked(MARK, str(data)) == []
    assert not list((data / "run").glob("*.pid"))

    again = Up(data, port)
    again.wait_for("Ctrl-C stops everything")
    assert "making the database" not in again.told()
    assert again.call("GET", "/v1/me", token=player["token"]) == me

    # Killed without a chance to stop anything, it leaves nothing that the next run trips over.
    for pid in (again.process.pid, again.pid("postgres"), again.pid("api")):
        os.kill(pid, signal.SIGKILL)
    again.process.wait(PATIENCE)
    third = Up(data, port)
    third.wait_for("Ctrl-C stops everything")
    assert third.call("GET", "/v1/me", token=player["token"]) == me
    asked_with_psql(data)
    assert third.stop(signal.SIGINT) == 0

    written = {path.name for path in data.iterdir()}
    assert written == {
        *(
            "keys",
            "logs",
            "ports.json",
            "postgres",
            "run",
            "secrets.json",
            "up.lock",
            "valkey",
            "venv",
        )
    }
    everything = "".join(path.read_text(errors="replace") for path in (data / "logs").iterdir())
    for secret in json.loads((data / "secrets.json").read_text()).values():
        assert secret not in everything + up.told()
    assert player["token"] not in everything
    # Celery says in plain words that it was told to stop.
    for name in ("api", "worker"):
        others = [line for line in third.log(name).splitlines() if line and line[:1] != "{"]
        assert [line for line in others if not line.startswith("worker: ")] == []


def asked_with_psql(data: Path) -> None:
    """What docs/operate.md tells, with the program that it names, and whose arguments are noted."""
    section = "The embedded database"
    home = data.parent / "checkout"
    home.mkdir()
    (home / ".abbot").symlink_to(data)
    (named,) = re.findall(r"`(\.abbot/venv/\S+/psql)`", section_of("operate.md", section))
    (program,) = home.glob(named)
    noting = home / "bin" / "psql"
    noting.parent.mkdir()
    noting.write_text(f'#!/bin/sh\necho "$*" >"{home}/arguments"\nexec "{program}" -At "$@"\n')
    noting.chmod(0o755)
    asked = subprocess.run(
        ["sh", "-eu", "-c", script("operate.md", section)],
        input="SELECT name FROM players; SELECT user;",
        env=os.environ | {"PATH": f"{noting.parent}:{os.environ['PATH']}"},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (asked.returncode, asked.stdout) == (0, "Ada\nabbot_app\n"), asked.stderr
    arguments = (home / "arguments").read_text()
    assert "postgresql://abbot_app@127.0.0.1:" in arguments
    for secret in json.loads((data / "secrets.json").read_text()).values():
        assert secret not in arguments + asked.stdout + asked.stderr


def test_taken_port_is_told_at_once(data: Path, port: int) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        up = Up(data, port)
        assert up.process.wait(PATIENCE) == 1
    assert f"port {port} on 127.0.0.1 is taken" in up.told()
    assert "ABBOT_PORT" in up.told()
    assert not (data / "postgres").exists()


def test_wrong_setting_is_named(data: Path, port: int) -> None:
    up = Up(data, port, ABBOT_API_WORKERS="many")
    assert up.process.wait(PATIENCE) == 1
    assert "ABBOT_API_WORKERS" in up.told()


def test_stops_while_it_starts(data: Path, port: int) -> None:
    up = Up(data, port)
    up.wait_for("making the database")
    assert up.stop() == 0
    assert processes.marked(MARK, str(data)) == []
    assert not (data / "postgres" / "data.partial" / "postmaster.pid").exists()
