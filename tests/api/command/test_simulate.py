"""`./abbot simulate`: the same games from the same seed, figures that add up, records that hold."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from api.command import simulate
from api.command import verify as verify_command
from api.command.simulation.figures import figures, length, rate
from api.command.simulation.matches import Plan, play
from api.command.simulation.progress import Progress
from api.command.simulation.running import run
from domain import verification
from domain.events import Recorded
from domain.game import evolve, fold, new_game
from domain.randomness import DEAL, Chance, commitment
from domain.times import plus_seconds
from eventstore.chain import verify
from eventstore.recorded import canonical

PLANS = [
    Plan("halleluja", ("greedy", "random"), {"annoyed_stacks": True}, seed=4),
    Plan("vallelujah", ("random", "greedy", "random"), {"rounds_to_win": 2}, seed=5),
]


def shown_by(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert simulate.main(list(argv)) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert simulate.main(list(argv)) == 2
    printed = capsys.readouterr()
    assert not printed.out
    return printed.err


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.ruleset)
def test_the_same_seed_plays_the_same_games(plan: Plan) -> None:
    alone = list(run(plan, 8, jobs=1))
    assert list(run(plan, 8, jobs=2)) == alone
    assert len({match.game_id for match in alone}) == 8
    other = Plan(plan.ruleset, plan.kinds, plan.options, seed=plan.seed + 1)
    assert list(run(other, 8)) != alone
    # A record belongs to one match only, so another plan's matches have other ids.
    longer = Plan(plan.ruleset, plan.kinds, plan.options, plan.seed, turn_seconds=61)
    assert not {match.game_id for match in run(longer, 8)} & {match.game_id for match in alone}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.ruleset)
def test_figures_add_up(plan: Plan) -> None:
    matches = list(run(plan, 12))
    found = figures(plan, matches)
    assert json.loads(json.dumps(found)) == json.loads(json.dumps(figures(plan, matches)))
    assert found["games"] == 12
    assert sum(found["ended"]["games"].values()) == 12
    assert sum(found["ended"]["rounds"].values()) == found["rounds"]
    assert sum(moves * count for moves, count in found["moves_in_rounds"]) == found["moves"]
    won = sum(count for end, count in found["ended"]["rounds"].items() if "void" not in end)
    for name in ("by_bot", "by_seat"):
        rates = [each["rounds"] for each in found["won"][name].values()]
        assert sum(each["won"] for each in rates) == won
        assert sum(each["played"] for each in rates) == found["rounds"] * len(plan.kinds)
    assert sum(each["won"] for each in found["won"]["by_place"].values()) == won


def test_bots_sit_everywhere_equally_often() -> None:
    plan = Plan("vallelujah", ("greedy", "random", "random"))
    seats = [plan.seated(number).index("greedy") for number in range(6)]
    assert sorted(seats) == [0, 0, 1, 1, 2, 2]
    assert play(plan, 1).kinds == plan.seated(1)


def test_intervals_are_wilsons() -> None:
    """The values are those of Newcombe's table (1998, method 3)."""
    assert (rate(81, 263).low, rate(81, 263).high) == (0.2553, 0.3662)
    assert (rate(15, 148).low, rate(15, 148).high) == (0.0624, 0.1605)
    assert (rate(0, 20).low, rate(0, 20).high) == (0.0, 0.1611)
    assert rate(0, 0).high == 1.0


def test_lengths() -> None:
    found = length(range(101))
    assert found == {"mean": 50, "least": 0, "p5": 5, "median": 50, "p95": 95, "most": 100}


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.ruleset)
def test_saved_records_hold(plan: Plan, tmp_path: Path) -> None:
    for match in run(plan, 3, folder=tmp_path):
        lines = (tmp_path / f"{match.game_id}.ndjson").read_bytes().splitlines()
        assert [canonical(json.loads(line)) for line in lines] == lines
        events = [Recorded(**json.loads(line)) for line in lines]
        assert verify(events, game_id=match.game_id) is None
        checks = verification.verify(events)
        assert not [check for check in checks if check.ok is False]
        assert checks[0].ok
        game = fold(match.game_id, events)
        assert game.over
        assert game.result["winner"] == match.winner
        assert game.commitment == commitment(bytes.fromhex(game.secret), match.game_id)
        assert {seat: game.seats[seat].bot for seat in (1, len(plan.kinds) - 1)} == {
            seat: match.kinds[seat] for seat in (1, len(plan.kinds) - 1)
        }
        deals_are_those_of_the_secret(game, events)
        every_move_is_in_time(events)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.ruleset)
def test_the_command_verify_accepts_what_was_saved(
    plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (match,) = run(plan, 1, folder=tmp_path)
    file = tmp_path / f"{match.game_id}.ndjson"
    assert verify_command.main([str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    made = {check["check"]: check.get("ok") for check in found["checks"]}
    # No server has signed it, and all the rest can be checked.
    assert made.pop("signature") is None
    assert set(verification.CHECKS) <= set(made)
    assert set(made.values()) == {True}
    text = file.read_bytes()
    file.write_bytes(text.replace(b'"kind":"bot"', b'"kind":"player"', 1))
    assert verify_command.main([str(file)]) == 1


def deals_are_those_of_the_secret(game: Any, events: list[Recorded]) -> None:
    deals = [event.data for event in events if event.type == "round.dealt"]
    assert deals
    for deal in deals:
        chance = Chance(
            bytes.fromhex(game.secret), game_id=game.game_id, purpose=DEAL,
            round_number=deal["round"], n=0, seeds=game.seeds,
        )  # fmt: skip
        deck = chance.shuffled(game.rules.cards)
        assert deck[len(deck) - len(deal["undealt"]) :] == deal["undealt"]


def every_move_is_in_time(events: list[Recorded]) -> None:
    game = new_game(events[0].game_id)
    times = 0
    for event in events:
        if game.turn is not None and game.turn.at:
            assert event.at <= game.due_at == plus_seconds(game.turn.at, game.due_seconds)
            times += event.at > game.turn.at
        evolve(game, event)
    assert times > 5


def test_the_command_shows_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown_by(capsys, "vallelujah", "--games", "4", "--seed", "1", "--bots", "greedy,random",
                    "--seats", "3", "--jobs", "1")  # fmt: skip
    for part in ("vallelujah/1, 3 seats: greedy, random, random", "4 games", "bot greedy",
                 "seat 2", "place 3", "a hand was emptied", "moves a second"):  # fmt: skip
        assert part in text


def test_the_command_writes_json_charts_and_records(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    chart, folder = tmp_path / "chart.svg", tmp_path / "some" / "records"
    text = shown_by(capsys, "halleluja", "--games", "6", "--seed", "2", "--jobs", "2", "--json",
                    "--plot", str(chart), "--save", str(folder),
                    "--options", "mitre_wild=true, rounds_to_win=2")  # fmt: skip
    found = json.loads(text)
    assert found["options"] == {"mitre_wild": True, "rounds_to_win": 2}
    assert found["speed"]["moves_per_second"] > 0
    root = ElementTree.parse(chart).getroot()
    words = " ".join(root.itertext())
    for heading in ("by its bot", "by its number", "Moves a round", "How rounds ended"):
        assert heading in words
    index = json.loads((folder / "index.json").read_text())
    assert {f"{each['game_id']}.ndjson" for each in index} | {"index.json"} == {
        path.name for path in folder.iterdir()
    }
    again = shown_by(capsys, "halleluja", "--games", "6", "--seed", "2", "--jobs", "1", "--json",
                     "--options", "mitre_wild=true,rounds_to_win=2")  # fmt: skip
    assert {**json.loads(again), "speed": 0} == {**found, "speed": 0}


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("halleluja", "--bots", "deep"), "no bot 'deep'"),
        (("halleluja", "--seats", "5"), "2 to 4 seats"),
        (("halleluja", "--seats", "2", "--bots", "random,random,greedy"), "3 bots for 2 seats"),
        (("halleluja", "--options", "lead_all=true"), "options.lead_all is no option"),
        (("vallelujah", "--options", "rounds_to_win=10"), "must be from 1 to 9"),
        (("vallelujah", "--options", "lead_all"), "name=true"),
        (("vallelujah", "--turn-seconds", "1"), "turn_seconds must be from 3"),
        (("vallelujah", "--options", "=3"), "name=true"),
        (("vallelujah", "--games", "0"), "at least 1"),
        (("vallelujah", "--jobs", "0"), "from 1 to 256"),
        (("vallelujah", "--jobs", "257"), "from 1 to 256"),
        (("vallelujah", "--plot", "chart.png"), "must end in .svg"),
    ],
)
def test_what_cannot_be_played_is_said(
    capsys: pytest.CaptureFixture[str], argv: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, *argv)


def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("")
    # Neither is found out after so many games only.
    for argument in ("--save", "--plot"):
        argv = ["halleluja", "--games", "1000000", "--jobs", "1", argument, str(taken / "in.svg")]
        assert simulate.main(argv) == 1
        assert "cannot be written" in capsys.readouterr().err


def test_records_are_saved_in_a_folder_of_their_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    argv = ["halleluja", "--games", "2", "--jobs", "1", "--save", str(tmp_path)]
    assert simulate.main(argv) == 0
    before = sorted(tmp_path.iterdir())
    assert simulate.main(argv) == 1
    assert "is not empty" in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_ctrl_c_ends_every_process_at_once(tmp_path: Path) -> None:
    argv = ["simulate", "vallelujah", "--games", "1000000", "--jobs", "2", "--save", str(tmp_path)]
    # A group of its own is what a terminal interrupts.
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *argv], stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        wait_until(lambda: len(list(tmp_path.glob("*.ndjson"))) > 4)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=30)[1].decode()
    finally:
        process.kill()
    assert process.returncode == 130
    assert said == ""
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


PROGRAM = """
import importlib, sys
try:
    sys.exit(importlib.import_module("api.command.simulate").main(sys.argv[2:]))
except KeyboardInterrupt:
    sys.exit(130)
"""


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_whoever_stops_asking_ends_the_processes() -> None:
    before = threading.active_count()
    matches = run(Plan("halleluja", ("random", "random")), 1_000_000, jobs=2)
    next(matches)
    matches.close()
    assert not multiprocessing.active_children()
    assert threading.active_count() == before


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_is_for_terminals_only() -> None:
    for stream, drawn in ((io.StringIO(), False), (Terminal(), True)):
        with Progress(4, "games", stream) as progress:
            progress.advance(4)
        assert bool(stream.getvalue()) == drawn
    assert "games" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
