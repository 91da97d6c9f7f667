"""How fast the engine is, beside other people's game engines in the same run.

- Random play, per move of a player, in µs: legal moves, then the move with all that follows from
  it. The deal is not measured, draws and reshuffles are. Each engine plays in a process of its
  own, and all of them take turns, round after round, so that a busy machine slows all alike.
  Abbot's moves are pushed, as in a search: judged and evolved, with no record kept, as the others
  keep none. By commands they take a copy of the game as well, and the events to store.
- Folding stored events, per event.
- The legal moves where there are the most, 30 units against a battalion of 4: finding them all and
  taking one, as the random play does; beside it, writing all of them out.

Times are the processor's, figures are medians over the rounds, ratios those of the same round.
The other engines are installed in bench/peers of the data folder (`.abbot`) and stay there.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from api.command.simulation.matches import Plan, play
from api.command.simulation.records import Record
from api.command.simulation.tables import table
from bench.common.arguments import Arguments
from bench.common.peers import Peers
from bench.common.report import Figure, at_most, finish
from domain.commands import Context, CreateGame, SeatBot, StartGame
from domain.events import Event, Recorded
from domain.game import Game, decide, evolve, fold, legal_moves, new_game
from domain.vallelujah.units import UNITS
from eventstore.settings import ROOT

WORKER = ROOT / "bench" / "contenders" / "worker.py"
GOALS = {"halleluja": 2.4, "vallelujah": 4.0}
"""At most so many times what crazy_eights takes for a move, at the same number of seats."""
FOLD_GOAL = 4.0
"""µs for each event."""
WORST_GOAL = 10.0
"""µs for the legal moves of 30 units against 4."""


@dataclass(frozen=True, slots=True)
class Contender:
    """An engine as it is measured: `library` is the package that it needs, if it is not ours."""

    name: str
    module: str
    seats: int
    games: int
    arguments: tuple[str, ...] = ()
    library: str | None = None


CONTENDERS = (
    *(
        Contender(f"abbot {ruleset}, {seats} seats", "abbot", seats, 150, (ruleset, "push"))
        for ruleset in GOALS
        for seats in (2, 4)
    ),
    *(
        Contender(f"abbot {ruleset} by commands, 2 seats", "abbot", 2, 100, (ruleset, "decide"))
        for ruleset in GOALS
    ),
    *(
        Contender(
            f"OpenSpiel crazy_eights, {seats} seats", "crazy_eights", seats, 400,
            library="open_spiel",
        )
        for seats in (2, 4)
    ),
    *(
        Contender(f"RLCard uno, {seats} seats", "uno", seats, 150, library="rlcard")
        for seats in (2, 4)
    ),
    Contender("python-chess", "chess_board", 2, 8, library="chess"),
)  # fmt: skip


class Running:
    """A contender in its process."""

    def __init__(self, contender: Contender, python: Path) -> None:
        arguments = (contender.seats, contender.games, *contender.arguments)
        environment = {**os.environ, "PYTHONPATH": "" if contender.library else str(ROOT)}
        self.process = subprocess.Popen(
            [python, WORKER, contender.module, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self._answer()

    def measure(self) -> float:
        """µs a move, in games not played before."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found = self._answer()
        return found["seconds"] / found["moves"] * 1e6

    def close(self) -> None:
        """End the process."""
        self.process.communicate()

    def _answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"a contender ended with status {self.process.wait()}")
        answer: dict[str, float] = json.loads(line)
        return answer


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = Arguments("engine", __doc__)
    parser.add_argument("--rounds", type=int, default=9, help="rounds of measuring")
    parser.add_argument("--alone", action="store_true", help="without other people's engines")
    arguments = parser.parse_args(argv)
    figures = random_play(arguments.rounds, alone=arguments.alone)
    figures |= folding(arguments.rounds)
    figures |= worst_case(arguments.rounds)
    return finish(figures)


def random_play(rounds: int, *, alone: bool) -> dict[str, Figure]:
    """µs a move of every contender, and the ratios to crazy_eights."""
    peers = None if alone else Peers()
    running: dict[str, Running] = {}
    for each in CONTENDERS:
        if each.library is None:
            running[each.name] = Running(each, Path(sys.executable))
        elif peers is None:
            continue
        elif each.library in peers.missing:
            print(f"{each.name}: not measured, {peers.missing[each.library]}")
        else:
            running[each.name] = Running(each, peers.python)
    found: dict[str, list[float]] = {name: [] for name in running}
    for number in range(rounds + 1):
        for name, contender in running.items():
            taken = contender.measure()
            if number:  # The first round warms up.
                found[name].append(taken)
    for contender in running.values():
        contender.close()
    return _ratios(found)


def _ratios(found: dict[str, list[float]]) -> dict[str, Figure]:
    print("random play, µs a move\n")
    rows = [("", "median", "least", "most", "x crazy_eights")]
    figures: dict[str, Figure] = {}
    for each in CONTENDERS:
        if each.name not in found:
            continue
        taken = found[each.name]
        base = found.get(f"OpenSpiel crazy_eights, {each.seats} seats")
        ratio = None
        if base:
            ratio = statistics.median(a / b for a, b in zip(taken, base, strict=True))
        median = statistics.median(taken)
        numbers = (median, min(taken), max(taken))
        shown = f"{ratio:.2f}" if ratio else "-"
        rows.append((each.name, *(f"{number:.2f}" for number in numbers), shown))
        if ratio and each.arguments[1:] == ("push",):
            ruleset = each.arguments[0]
            name = f"{ruleset}_{each.seats}_seats_x_crazy_eights"
            figures[name] = at_most(round(ratio, 2), GOALS[ruleset])
    print("\n".join(table(rows)))
    return figures


def timed(work: Callable[[], int], rounds: int) -> list[float]:
    """µs for each of what `work` counts, by round; a first round warms up."""
    taken = []
    for _ in range(rounds + 1):
        began = time.process_time()
        count = work()
        taken.append((time.process_time() - began) / count * 1e6)
    return taken[1:]


def folding(rounds: int) -> dict[str, Figure]:
    """µs an event for folding whole records, parsed as the store hands them over."""
    print("\nfolding stored events, µs an event\n")
    rows, figures = [("", "median", "least", "most")], {}
    for ruleset in GOALS:
        for seats in (2, 4):
            records = [_record(ruleset, seats, number) for number in range(20)]

            def work(records: list[list[Recorded]] = records) -> int:
                return sum(fold(events[0].game_id, events).version for events in records)

            taken = timed(work, rounds)
            numbers = (statistics.median(taken), min(taken), max(taken))
            rows.append((f"{ruleset}, {seats} seats", *(f"{each:.2f}" for each in numbers)))
            figures[f"{ruleset}_{seats}_seats_fold_us"] = at_most(round(numbers[0], 2), FOLD_GOAL)
    print("\n".join(table(rows)))
    return figures


def _record(ruleset: str, seats: int, number: int) -> list[Recorded]:
    record = Record()
    play(Plan(ruleset, ("random",) * seats, seed=1), number, record.add)
    return [
        Recorded(
            event.game_id, event.version, event.type, event.at, event.by,
            json.loads(json.dumps(event.data)), event.prev_hash, event.hash,
        )
        for event in record.events
    ]  # fmt: skip


def worst_case(rounds: int) -> dict[str, Figure]:
    """µs for the legal moves of 30 random units against 4, in positions not seen before."""
    print("\nlegal moves of 30 units against 4, µs a position\n")
    rng = random.Random(30)
    below, counts = rng.random, []
    taken: dict[str, list[float]] = {"find all, take one": [], "write all out": []}
    for number in range(rounds + 1):
        positions = [_crowded(rng) for _ in range(200)]
        began = time.process_time()
        for game in positions:
            moves = legal_moves(game, 0)
            moves[int(below() * len(moves))]
        found = time.process_time()
        written = [len([*legal_moves(game, 0)]) for game in positions]
        ended = time.process_time()
        if number:
            for name, spent in zip(taken, (found - began, ended - found), strict=True):
                taken[name].append(spent / len(positions) * 1e6)
            counts += written
    rows = [("", "median", "least", "most", "moves")]
    for name, spents in taken.items():
        numbers = (statistics.median(spents), min(spents), max(spents))
        count = f"{statistics.fmean(counts):.0f}, at most {max(counts)}"
        rows.append((name, *(f"{each:.2f}" for each in numbers), count))
    print("\n".join(table(rows)))
    median = statistics.median(taken["find all, take one"])
    return {"vallelujah_30_against_4_us": at_most(round(median, 2), WORST_GOAL)}


def _crowded(rng: random.Random) -> Game:
    """Seat 0 holds 30 random units and faces 4 of one banner."""
    units = rng.sample(UNITS, len(UNITS))
    banner = rng.choice(UNITS).rsplit("-", 1)[0]
    arena = [f"{banner}-{power}" for power in sorted(rng.sample(range(1, 10), 4))]
    rest = [unit for unit in units if unit not in arena]
    strength = int("".join(sorted((unit[-1] for unit in arena), reverse=True)))
    game, context = new_game("019b7600-0000-7000-8000-000000000000"), Context(bytes(32))
    for command in (CreateGame("host", "vallelujah"), SeatBot("host", "random")):
        game = decide(game, command, context).game
    started = decide(game, StartGame("host"), context).events
    deal = {
        **started[-1].data,
        "first": 1,
        "hands": {"0": rest[:30], "1": [*arena, rest[30]]},
        "undealt": rest[31:],
        "turn": {"seat": 1, "number": 1},
    }
    led = {"seat": 1, "units": arena, "strength": strength, "turn": {"seat": 0, "number": 2}}
    by = {"kind": "bot", "seat": 1}
    for type_, data in (
        ("game.started", started[0].data), ("round.dealt", deal), ("battalion.led", led),
    ):  # fmt: skip
        evolve(game, Event(game.version + 1, type_, by, data))
    return game


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
