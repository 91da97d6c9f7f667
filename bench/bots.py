"""How strong the bots are, and how long they think.

- `greedy` against `random`: one greedy seat, all others random, in single rounds.
- `wise` against `greedy` in two-player Vallelujah.

A rate is of rounds won by the one seat, of all rounds, void ones too; its seat moves on by one
from game to game, and the seed is fixed. Thinking is timed at the same table, in one process.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

from api.command.simulation.figures import rate
from api.command.simulation.matches import Plan
from api.command.simulation.progress import Progress
from api.command.simulation.running import cores, run
from api.command.simulation.tables import table
from bench.common.arguments import Arguments
from bench.common.report import Figure, at_least, at_most, finish
from bench.contenders.abbot import started
from domain import bots
from domain.bots.choices import every
from domain.game import push, view
from domain.redaction import Viewer

GREEDY_GOALS = {
    ("vallelujah", 2): 0.80,
    ("vallelujah", 4): 0.65,
    ("halleluja", 2): 0.60,
    ("halleluja", 4): 0.32,
}
"""The share of rounds that is wanted, by ruleset and seats."""
SLACK = 0.03
"""How far below it still holds: even 2,000 rounds tell a rate no closer than two points."""
WISE_GOAL = 0.57
WISE_MS = 50.0
GREEDY_MS = 1.0
SEED = 2026


def main(argv: list[str]) -> int:
    """Measure and print."""
    parser = Arguments("bots", __doc__)
    parser.add_argument("--games", type=int, default=2000, help="games of greedy")
    parser.add_argument("--wise-games", type=int, default=1000, help="games of wise")
    parser.add_argument("--timed", type=int, default=300, help="choices to time")
    parser.add_argument("--jobs", type=int, default=cores(), help="processes, one a core")
    arguments = parser.parse_args(argv)
    figures = strength(arguments.games, arguments.wise_games, arguments.jobs)
    figures |= thinking(arguments.timed)
    return finish(figures)


def strength(games: int, wise_games: int, jobs: int) -> dict[str, Figure]:
    """The share of rounds that the better bot wins at each table."""
    rows = [("one seat against the others", "rounds", "won", "95%", "void")]
    figures: dict[str, Figure] = {}
    measure = partial(_share, jobs=jobs, rows=rows)
    for (ruleset, seats), goal in GREEDY_GOALS.items():
        plan = _plan(ruleset, "greedy", *["random"] * (seats - 1))
        share = measure(plan, games)
        figures[f"greedy_{ruleset}_{seats}_seats"] = Figure(share, goal, share >= goal - SLACK)
    wise = _plan("vallelujah", "wise", "greedy")
    figures["wise_vallelujah_2_seats"] = at_least(measure(wise, wise_games), WISE_GOAL)
    # Not asked for, but worth knowing: the rest of what wise can do.
    for plan in (
        _plan("vallelujah", "wise", "greedy", "greedy", "greedy"),
        _plan("halleluja", "wise", "greedy"),
        _plan("halleluja", "wise", "greedy", "greedy", "greedy"),
    ):
        measure(plan, wise_games // 4)
    print("\n".join(table(rows)))
    return figures


def _plan(ruleset: str, *kinds: str) -> Plan:
    return Plan(ruleset, kinds, {"rounds_to_win": 1}, SEED)


def _share(plan: Plan, games: int, *, jobs: int, rows: list[tuple[str, ...]]) -> float:
    name = f"{plan.ruleset}, {plan.kinds[0]} against {len(plan.kinds) - 1} {plan.kinds[1]}"
    won = void = rounds = 0
    with Progress(games, f"games of {name}") as progress:
        for match in run(plan, games, jobs):
            seat = match.kinds.index(plan.kinds[0])
            winners = [each.winner for each in match.rounds]
            rounds += len(winners)
            won += winners.count(seat)
            void += winners.count(None)
            progress.advance()
    found = rate(won, rounds)
    interval = f"{found.low:.1%} to {found.high:.1%}"
    rows.append((name, f"{rounds:,}", f"{found.rate:.1%}", interval, str(void)))
    return found.rate


def thinking(choices: int) -> dict[str, Figure]:
    """How long the bots take to choose where there is more than one move."""
    rows = [("thinking, ms a choice", "seats", "p50", "p95", "p99", "most")]
    taken: dict[str, float] = {}
    for kind in ("greedy", "wise"):
        for ruleset in ("vallelujah", "halleluja"):
            for seats in (2, 4):
                spent = sorted(_think(ruleset, seats, kind, choices))
                last = len(spent) - 1
                numbers = [spent[round(last * share)] for share in (0.5, 0.95, 0.99, 1)]
                shown = (f"{number:.2f}" for number in numbers)
                rows.append((f"{kind}, {ruleset}", str(seats), *shown))
                p99 = numbers[2]
                taken[kind] = max(p99, taken.get(kind, 0.0))
    print()
    print("\n".join(table(rows)))
    return {
        "greedy_p99_ms": at_most(round(taken["greedy"], 3), GREEDY_MS),
        "wise_p99_ms": at_most(round(taken["wise"], 1), WISE_MS),
    }


def _think(ruleset: str, seats: int, kind: str, choices: int) -> list[float]:
    """Processor time of so many choices, in ms, at a table of this bot alone."""
    rng = random.Random(SEED)
    spent: list[float] = []
    while len(spent) < choices:
        game, context = started(ruleset, seats, rng)
        while (turn := game.turn) is not None and len(spent) < choices:
            shown = view(game, Viewer(turn.seat))
            listed = shown["you"]["legal_moves"]
            choose: Callable[..., dict[str, object]] = partial(bots.choose, kind, shown, listed)
            began = time.process_time()
            move = choose(rng)
            if len(every(listed)) > 1:
                spent.append((time.process_time() - began) * 1000)
            push(game, move, context)
    return spent
