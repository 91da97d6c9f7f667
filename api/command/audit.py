"""`./abbot audit [GAME | --all]`: check the record, and all that follows from it.

    ./abbot audit 0197f3c2-…      one game, check by check, the last one against what was signed
    ./abbot audit --all           every game, the feed and the signed checkpoints

Games may go on meanwhile. Nothing is changed. The exit code is 1 when something is wrong; the first
event that is wrong is named. Games of a month that is detached from the record cannot be looked at:
--all says how many there are, and with one of them for GAME the exit code is 1.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
import uuid
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from api.command import database
from api.command.auditing import audited
from api.command.console import CommandFailed, complain, say
from api.command.jwks import read_jwks
from api.command.simulation.progress import Progress
from api.command.simulation.running import cores
from api.command.supervisor import Stopping
from domain.verification import Check
from eventstore.auditing import Audited, Auditor
from eventstore.checkpoints import Checkpoints, Kept
from eventstore.errors import Unavailable
from eventstore.jws import entry
from eventstore.pool import Pool, open_pool
from eventstore.settings import Settings, SettingsError
from eventstore.signing import Signer

SHOWN = 100
"""Faults that are listed at most; all are counted."""


def main(argv: list[str]) -> int:
    """Run the command: 0 when all is right, 1 when something is not or it cannot be done."""
    options = _parser().parse_args(argv)
    if (options.game is None) != options.all:
        complain("name one game, or give --all")
        return 2
    try:
        with database.reached() as settings:
            ok = audit(settings, options)
    except Stopping:
        return 130
    except (CommandFailed, SettingsError) as error:
        complain(str(error))
        return 1
    except Unavailable:
        complain(database.UNREACHABLE)
        return 1
    except BrokenProcessPool:
        complain("a process that audited was killed")
        return 1
    return 0 if ok else 1


def audit(settings: Settings, options: argparse.Namespace) -> bool:
    """Audit, show what was found, and tell whether all is right."""
    threshold = settings.prepare_threshold
    url = settings.owner_database_url or settings.database_url
    with open_pool(url, 2, prepare_threshold=threshold, application="abbot-audit") as pool:
        trusted, kept = _trusted(pool, settings, options.jwks), options.checkpoint
        if options.all:
            report = everything(pool, url, threshold, options.jobs, trusted, kept=kept)
            show = _show_all
        else:
            found = Auditor(pool).game(options.game)
            # After the game: one that goes on may have more events by now, and never fewer.
            checkpoints = Checkpoints(pool)
            signed = [checkpoints.check_game(options.game, trusted)]
            if found is None and signed[0].ok is None:
                raise CommandFailed(f"there is no game {options.game}")
            if kept is not None:
                signed.append(checkpoints.check_kept(kept))
            report, show = one(found or Audited(options.game, 0), signed), _show_one
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)
    return bool(report["ok"])


def of(settings: Settings) -> int:
    """An audit of everything that is reached with `settings`, for the end of another command; the
    exit code."""
    say("auditing everything")
    return 0 if audit(settings, _parser().parse_args(["--all"])) else 1


def one(found: Audited, signed: list[Check]) -> dict[str, Any]:
    """What is said of one game; `signed`: the checks against checkpoints."""
    return {
        "ok": _ok(found, signed),
        "game_id": found.game_id,
        "events": found.events,
        "checks": [_shown(check) for check in (*found.checks, *signed)],
    }


def _ok(found: Audited, signed: list[Check]) -> bool | None:
    """None where nothing is wrong, but the game could not be looked at."""
    if found.wrong or any(check.ok is False for check in signed):
        return False
    return None if found.unseen else True


def everything(
    pool: Pool,
    url: str,
    threshold: int | None,
    jobs: int,
    jwks: dict[str, Any],
    *,
    kept: Kept | None = None,
) -> dict[str, Any]:
    """What is said of all games, the feed and the checkpoints."""
    began = time.monotonic()
    auditor, checkpoints = Auditor(pool), Checkpoints(pool)
    wrong: list[dict[str, Any]] = []
    games = events = wrong_games = unseen = 0
    newest = checkpoints.newest()
    with Progress(auditor.count()[1], "events") as progress:
        for found in audited(auditor, url, threshold, jobs):
            games += 1
            events += found.events
            unseen += found.unseen
            progress.advance(found.events)
            if found.wrong:
                wrong_games += 1
                wrong += [{"game_id": found.game_id, **_shown(check)} for check in found.wrong]
    feed = auditor.feed()
    signed = 0
    with Progress(checkpoints.count(), "checkpoints") as progress:
        for check in checkpoints.check(jwks):
            signed += 1
            progress.advance()
            if check.ok is False:
                wrong.append(_shown(check))
    if kept is not None and not (check := checkpoints.check_kept(kept)).ok:
        wrong.insert(0, _shown(check))
    if feed.check.ok is False:
        wrong.insert(0, _shown(feed.check))
    return {
        "ok": not wrong,
        "games": games,
        "events": events,
        "unseen_games": unseen,
        "detached": auditor.detached(),
        "wrong_games": wrong_games,
        "faults": len(wrong),
        "wrong": wrong[:SHOWN],
        "positions": feed.positions,
        "checkpoints": signed,
        **({} if newest is None else {"newest_checkpoint": newest}),
        "seconds": round(time.monotonic() - began, 1),
    }


def _trusted(pool: Pool, settings: Settings, path: Path | None) -> dict[str, Any]:
    """The keys that checkpoints may be signed with."""
    if path is None:
        listed = Signer(pool, settings.signing_keys).listed()
        return {"keys": [entry(key.kid, key.jwk) for key in listed]}
    return read_jwks(path)


def _shown(check: Check) -> dict[str, Any]:
    shown = dataclasses.asdict(check)
    return {name: value for name, value in shown.items() if value is not None and value != ""}


def _show_one(report: dict[str, Any]) -> None:
    for check in report["checks"]:
        mark = {True: "ok", False: "WRONG"}.get(check.get("ok"), "-")
        print(f"{mark:5}  {check['check']:11}  {_sentence(check)}".rstrip())
    if report["ok"] is None:
        why = report["checks"][0]["detail"]
        say(f"game {report['game_id']} could not be looked at: {why}")
        return
    right = "is right" if report["ok"] else "IS WRONG"
    say(f"game {report['game_id']} with {report['events']} events {right}")


def _show_all(report: dict[str, Any]) -> None:
    for fault in report["wrong"]:
        game = f"game {fault['game_id']}: " if "game_id" in fault else ""
        print(f"WRONG  {game}{fault['check']}: {_sentence(fault)}")
    if report["faults"] > len(report["wrong"]):
        print(f"… and {report['faults'] - len(report['wrong'])} more")
    summed = (
        f"{report['games']:,} games with {report['events']:,} events, {report['positions']:,} "
        f"positions of the feed and {report['checkpoints']:,} checkpoints in {report['seconds']} s"
    )
    unseen = report["unseen_games"]
    if not report["ok"]:
        say(f"{report['faults']:,} fault{'' if report['faults'] == 1 else 's'} in {summed}")
    else:
        say(f"{'what could be looked at' if unseen else 'all'} is right: {summed}")
    if unseen:
        say(
            f"{unseen:,} of the games could not be looked at, as their events are in "
            f"{', '.join(report['detached'])}: `./abbot partitions attach` and audit again"
        )
    if "newest_checkpoint" in report:
        say(f"the newest checkpoint is {report['newest_checkpoint']}")


def _sentence(check: dict[str, Any]) -> str:
    version = f"event {check['version']}: " if "version" in check else ""
    return f"{version}{check.get('detail', '')}"


def _game_id(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no id of a game") from None


def _kept(text: str) -> Kept:
    try:
        return Kept.read(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./abbot audit",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("game", nargs="?", metavar="GAME", type=_game_id, help="a game's id")
    parser.add_argument("--all", action="store_true", help="audit everything")
    parser.add_argument("--json", action="store_true", help="JSON in place of text")
    parser.add_argument("--jobs", type=int, default=cores(), help="processes (one a core)")
    parser.add_argument(
        "--checkpoint",
        metavar="NUMBER:HASH",
        type=_kept,
        help="a checkpoint that was kept elsewhere, and must be there",
    )
    parser.add_argument(
        "--jwks",
        type=Path,
        metavar="FILE",
        help="trust the keys of this file alone, not those that the database lists",
    )
    return parser
