"""`./abbot bench`: what there is to measure, and how a measurement ends."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from api.command import bench
from bench import bots, engine, store
from bench.common.arguments import GOALS
from bench.common.peers import Peers
from bench.common.report import at_least, at_most, finish


def test_measurements_are_known_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"bots", "engine"} <= set(bench.names())
    assert bench.main(["nothing"]) == 2
    assert "engine" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        bench.main([])
    error = capsys.readouterr().err
    assert error.startswith("usage: ./abbot bench [-h] NAME ...")
    assert error.endswith("required: NAME\n")


def test_a_measurement_ends_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert finish({"time_us": at_most(4.5, 4), "rate": at_least(0.6, 0.6)}) == 0
    printed = capsys.readouterr().out
    assert "MISSED" in printed
    assert json.loads(printed.splitlines()[-1]) == {
        "time_us": {"value": 4.5, "goal": 4, "holds": False},
        "rate": {"value": 0.6, "goal": 0.6, "holds": True},
    }


def test_the_engine_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["engine", "--alone", "--rounds", "1"]) == 0
    printed = capsys.readouterr().out
    assert "abbot vallelujah, 4 seats" in printed
    assert "vallelujah_30_against_4_us" in json.loads(printed.splitlines()[-1])
    assert len(engine.CONTENDERS) > 8


def test_the_bots_are_measured(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["bots", "--games", "4", "--wise-games", "4", "--timed", "2", "--jobs", "1"]
    assert bench.main(argv) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert {f"greedy_{game}_{seats}_seats" for game, seats in bots.GREEDY_GOALS} < set(figures)


@pytest.mark.parametrize("name", bench.names())
def test_help_shows_each_default_and_says_what_goals_are(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        bench.main([name, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert GOALS in printed
    options = re.split(r"\n  (?=-)", printed.split("show this help message and exit")[1])[1:]
    for option in options:
        takes_a_value = re.match(r"--[a-z-]+ [A-Z\[]", option)
        words = option.replace(GOALS, "").split("\n\n")[0].strip()
        assert not takes_a_value or re.search(r" \([0-9][0-9. ]*\)$", words), option
    assert any("(" in option for option in options)


def test_what_is_installed_is_told_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABBOT_DATA", str(tmp_path))
    told: list[tuple[str, bool]] = []
    folder = tmp_path / "bench" / "peers"
    monkeypatch.setattr(sys, "stderr", Noting(lambda text: told.append((text, folder.exists()))))
    Peers((), size="some 40 MB")
    assert told[0] == (
        f"what is measured against is installed in {folder}, some 40 MB, and stays there",
        False,
    )
    assert folder.exists()
    assert "some 40 MB" in str(store.__doc__)


class Noting(io.StringIO):
    """A stream that tells of each text that is written to it."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__()
        self._note = note

    def write(self, text: str) -> int:
        self._note(text)
        return len(text)
