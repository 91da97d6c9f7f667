"""`./abbot simulate`: play many games between bots, without a server, and show what came of them.

    ./abbot simulate vallelujah --seats 4 --games 2000 --bots greedy,random

The bots move on by one seat from game to game, so that none gains by where it sits. The same seed
plays the same games, in any number of processes; without one a new seed is drawn, and shown.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

from api.command.console import CommandFailed, complain
from api.command.simulation import charts, tables
from api.command.simulation.figures import figures
from api.command.simulation.matches import Match, Plan, play
from api.command.simulation.progress import Progress
from api.command.simulation.running import cores, run
from domain.bots import BOTS
from domain.refusals import Refused
from domain.registry import RULESETS

MOST_JOBS = 256


def main(argv: list[str]) -> int:
    """Run the command: 0 when done, 1 when it cannot go on, 2 for arguments that make no table."""
    arguments = _parser().parse_args(argv)
    try:
        plan = _plan(arguments)
        if arguments.games < 1:
            raise CommandFailed("--games must be at least 1")
        if not 1 <= arguments.jobs <= MOST_JOBS:
            raise CommandFailed(f"--jobs must be from 1 to {MOST_JOBS}")
        if arguments.plot and arguments.plot.suffix.lower() != ".svg":
            raise CommandFailed("--plot writes SVG: its file's name must end in .svg")
        # What the rules refuse shows at once, and here.
        play(replace(plan, kinds=("random",) * len(plan.kinds)), 0)
    except CommandFailed as error:
        complain(str(error))
        return 2
    except Refused as refusal:
        complain(_sentence(refusal))
        return 2
    try:
        if arguments.plot:
            # What cannot be written shows before the games are played.
            arguments.plot.open("a").close()
        shown = simulate(plan, arguments.games, arguments.jobs, arguments.save)
        if arguments.plot:
            arguments.plot.write_text(charts.page(shown), encoding="utf-8")
    except CommandFailed as error:
        complain(str(error))
        return 1
    except BrokenProcessPool:
        complain("a process that played was killed")
        return 1
    except OSError as error:
        complain(f"{error.filename} cannot be written: {error.strerror}")
        return 1
    print(json.dumps(shown, indent=2) if arguments.json else tables.report(shown))
    return 0


def simulate(plan: Plan, games: int, jobs: int, folder: Path | None) -> dict[str, Any]:
    """Play and sum up; `speed` is the one part that differs from run to run. OSError or
    CommandFailed where `folder` cannot take records."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise CommandFailed(f"{folder} is not empty: records need a folder of their own")
    began = time.perf_counter()
    matches: list[Match] = []
    with Progress(games, "games") as progress:
        for match in run(plan, games, jobs, folder):
            matches.append(match)
            progress.advance()
    seconds = time.perf_counter() - began
    shown = figures(plan, matches)
    if folder is not None:
        index = [
            {"game_id": match.game_id, "bots": match.kinds, "winner": match.winner}
            for match in matches
        ]
        (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n", encoding="utf-8")
    shown["speed"] = {
        "jobs": min(jobs, games),
        "seconds": round(seconds, 1),
        "moves_per_second": round(shown["moves"] / seconds),
    }
    return shown


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./abbot simulate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("ruleset", choices=sorted(RULESETS))
    parser.add_argument("--seats", type=int, help="how many play (as many as --bots names, or 2)")
    parser.add_argument("--games", type=int, default=1000, help="how many matches (1000)")
    parser.add_argument(
        "--bots",
        default="random",
        help=f"comma-separated: {', '.join(BOTS)}; the last one also takes the seats left over",
    )
    parser.add_argument(
        "--options",
        default="",
        help="comma-separated, as in rounds_to_win=1,lead_all=true; the rest are the defaults",
    )
    parser.add_argument("--turn-seconds", type=int, default=60, help="of the table (60)")
    parser.add_argument("--seed", type=int, help="a number that decides everything")
    parser.add_argument("--jobs", type=int, default=cores(), help="processes (one a core)")
    parser.add_argument("--json", action="store_true", help="JSON in place of tables")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="write charts to a file")
    parser.add_argument(
        "--save",
        type=Path,
        metavar="DIR",
        help="write each game's full record to DIR/<game_id>.ndjson, and DIR/index.json; DIR must "
        "be new or empty. The host, seat 0, is a player there, for whom its bot moves",
    )
    return parser


def _plan(arguments: argparse.Namespace) -> Plan:
    kinds = [kind.strip() for kind in arguments.bots.split(",")]
    unknown = [kind for kind in kinds if kind not in BOTS]
    if unknown:
        raise CommandFailed(f"there is no bot {unknown[0]!r}; there are {', '.join(BOTS)}")
    least, most = RULESETS[arguments.ruleset].seats
    seats = max(least, len(kinds)) if arguments.seats is None else arguments.seats
    if not least <= seats <= most:
        raise CommandFailed(f"{arguments.ruleset} has {least} to {most} seats")
    if len(kinds) > seats:
        raise CommandFailed(f"--bots names {len(kinds)} bots for {seats} seats")
    kinds += kinds[-1:] * (seats - len(kinds))
    seed = random.SystemRandom().randrange(1 << 32) if arguments.seed is None else arguments.seed
    options = dict(_option(text) for text in arguments.options.split(",") if text.strip())
    return Plan(arguments.ruleset, tuple(kinds), options, seed, arguments.turn_seconds)


def _option(text: str) -> tuple[str, Any]:
    name, _, value = (part.strip() for part in text.partition("="))
    if name and value in ("true", "false"):
        return name, value == "true"
    try:
        if name:
            return name, int(value)
    except ValueError:
        pass
    raise CommandFailed(f"an option is name=true, name=false or name=number, not {text!r}")


def _sentence(refusal: Refused) -> str:
    faults = "; ".join(f"{error['field']} {error['message']}" for error in refusal.errors)
    return faults or refusal.detail


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
