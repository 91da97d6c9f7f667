"""`./abbot rebuild NAME`: make anew what follows from the record, while games go on.

    ./abbot rebuild summaries     games, seats and deadlines, from the events of each game
    ./abbot rebuild standings     the players' results, from the feed

Audit first. The record itself is never changed. `summaries` corrects what is wrong and leaves the
rest alone, and a game that is not, or no longer, what a checkpoint signed of it. `standings` counts
everything again beside the results that are shown, then shows those. The exit code is 1 when
something could not be corrected.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from api.command import database
from api.command.console import CommandFailed, complain, say
from api.command.simulation.progress import Progress
from api.command.supervisor import Stopping
from eventstore.errors import Broken, Unavailable
from eventstore.pool import Pool, open_pool
from eventstore.rebuilding import Correction, StandingsRebuilder, SummaryRebuilder

SHOWN = 100
"""Corrections that are listed at most; all are counted."""


def main(argv: list[str]) -> int:
    """Run the command; 0 when all is as it must be now."""
    parser = argparse.ArgumentParser(
        prog="./abbot rebuild",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("name", choices=("summaries", "standings"))
    parser.add_argument("--json", action="store_true", help="JSON in place of text")
    options = parser.parse_args(argv)
    rebuild = {"summaries": summaries, "standings": standings}[options.name]
    try:
        with (
            database.reached() as settings,
            open_pool(
                settings.owner_database_url or settings.database_url,
                2,
                prepare_threshold=settings.prepare_threshold,
                application="abbot-rebuild",
            ) as pool,
        ):
            report = rebuild(pool)
    except Stopping:
        return 130
    except (CommandFailed, Broken) as error:
        complain(str(error))
        return 1
    except Unavailable:
        complain(database.UNREACHABLE)
        return 1
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        _show(report)
    return 0 if report["ok"] else 1


def summaries(pool: Pool) -> dict[str, Any]:
    """Correct what stands beside the records, and tell of it."""
    rebuilder = SummaryRebuilder(pool)
    games = corrected = impossible = 0
    listed: list[Correction] = []
    with Progress(rebuilder.auditor.count()[0], "games") as progress:
        for correction in rebuilder.all():
            games += 1
            progress.advance()
            if correction is None:
                continue
            corrected += correction.made
            impossible += not correction.made
            if len(listed) < SHOWN:
                listed.append(correction)
    return {
        "ok": not impossible,
        "games": games,
        "corrected": corrected,
        "impossible": impossible,
        "corrections": [correction._asdict() for correction in listed],
    }


def standings(pool: Pool) -> dict[str, Any]:
    """Count all results anew, and tell of it."""
    rebuilder = StandingsRebuilder(pool)
    with Progress(rebuilder.feed.head(), "events") as progress:
        events = rebuilder.rebuild(progress.reach)
    return {"ok": True, "events": events}


def _show(report: dict[str, Any]) -> None:
    for correction in report.get("corrections", ()):
        mark = "corrected" if correction["made"] else "CANNOT BE CORRECTED"
        print(f"{mark}  game {correction['game_id']}: {'; '.join(correction['wrong'])}")
    if "games" in report:
        say(
            f"{report['games']:,} games, {report['corrected']:,} corrected, "
            f"{report['impossible']:,} that cannot be"
        )
    else:
        say(f"{report['events']:,} events counted anew")
