"""`./abbot bench`: what there is to measure, and how a measurement ends."""

from __future__ import annotations

import json

import pytest

from api.command import bench
from bench import bots, engine
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
