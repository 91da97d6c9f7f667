"""The README's first game works as it is written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from api.command.client import Client
from tests.e2e.conftest import Installation
from tests.pages import python_code

README = Path(__file__).resolve().parents[2] / "README.md"


def blocks(section: str) -> list[str]:
    """The shell commands of a section of the README."""
    text = README.read_text(encoding="utf-8")
    body = text.split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"```sh\n(.*?)```", body, re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="the README's commands use curl")
def test_the_first_game_as_written(installation: Installation, tmp_path: Path) -> None:
    *first, proof = blocks("A first game")
    resigned = 'call -X POST "$API/games/$GAME/resign" >/dev/null'
    (tmp_path / ".abbot").mkdir()  # as `up` makes it
    abbot = tmp_path / "abbot"
    # The command itself, in the environment that is there.
    verify = "import sys; from api.command import verify; sys.exit(verify.main(sys.argv[2:]))"
    abbot.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{verify}' \"$@\"\n")
    abbot.chmod(0o755)
    done = subprocess.run(
        ["sh", "-eu", "-c", "\n".join((*first, resigned, "echo END", "turn", proof))],
        env=os.environ
        | {
            "ABBOT_PORT": str(urlsplit(installation.api.url).port),
            "PYTHONPATH": str(README.parent),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told, end = done.stdout.split("END\n")
    over, *verified = end.splitlines()
    assert over == "finished"
    assert verified[-1] == "Everything is right."
    lines = [json.loads(line) for line in told.splitlines()]
    *versions, signed = [line["version"] for line in lines if "version" in line]
    assert versions == list(range(1, signed + 1))
    assert {"game.created", "game.started", "round.dealt"} <= {
        line["type"] for line in lines if "type" in line
    }
    moves = next(line for line in lines if isinstance(line, list))
    assert moves[0]["type"] in ("card.played", "cards.drawn")


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_the_player_that_the_guide_shows_plays_a_match(
    installation: Installation, ruleset: str
) -> None:
    url = installation.api.url
    tokens = [Client(url).post("/players", {"name": name}).body["token"] for name in ("Ada", "Ben")]
    host, guest = (Client(url, token) for token in tokens)
    settings = {"ruleset": ruleset, "turn_seconds": 600, "options": {"rounds_to_win": 1}}
    game_id = host.post("/games", settings).body["game_id"]
    guest.post(f"/games/{game_id}/seats")
    host.post(f"/games/{game_id}/start")
    play = python_code("integrate.md", "play")["play"]
    with ThreadPoolExecutor(2) as threads:
        ends = list(threads.map(lambda token: play(f"{url}/v1", token, game_id), tokens))
    assert {game["status"] for game in ends} == {"finished"}
    assert ends[0]["result"] == ends[1]["result"]


def test_the_two_commands_exist() -> None:
    (script,) = blocks("Two commands")
    told = subprocess.run(
        [str(README.parent / "abbot"), "help"], capture_output=True, text=True, check=True
    ).stdout
    for line in script.splitlines():
        name = line.split()[1]
        assert re.search(rf"^\s+{name}\s", told, re.MULTILINE), name


def test_every_link_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (README.parent / link).exists(), link
