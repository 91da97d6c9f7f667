"""What operators start by hand is what `./abbot up` starts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"


def modules(command: str) -> tuple[str, ...]:
    """A command from the module that it runs on, without settings that have a default."""
    words = command.split()
    found = words[words.index("-m") + 1 :]
    return tuple(word for word in found if not word.startswith(("worker@", "info", "--")))


def procfile(part: str) -> str:
    lines = dict(
        line.split(": ", 1) for line in (DEPLOY / "Procfile").read_text().splitlines() if line
    )
    return lines[part]


def unit(part: str) -> str:
    text = (DEPLOY / f"abbot-{part}.service").read_text()
    (command,) = re.findall(r"^ExecStart=(.*)$", text, re.M)
    return str(command)


@pytest.mark.parametrize("part", ["api", "worker"])
def test_every_way_starts_the_same(part: str) -> None:
    assert modules(procfile(part)) == modules(unit(part))
    up = (ROOT / "api" / "command" / "up.py").read_text()
    for word in modules(unit(part)):
        assert f'"{word}"' in up, f"./abbot up starts {part} with {word}"


@pytest.mark.parametrize("part", ["api", "worker"])
def test_a_unit_gives_a_stop_its_time_and_starts_again(part: str) -> None:
    text = (DEPLOY / f"abbot-{part}.service").read_text()
    for line in ("TimeoutStopSec=30", "KillMode=mixed", "Restart=always", "User=abbot"):
        assert line in text.splitlines()
