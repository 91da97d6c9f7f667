"""`./abbot verify FILE`: check an exported record, without a server, a database or a network.

    ./abbot verify game.ndjson --keys jwks.json
    ./abbot verify game.ndjson --receipt eyJhbGci… --json

FILE is what GET /v1/games/{id}/events gives as application/x-ndjson, or what `./abbot simulate`
saves; - is the standard input. Fetch the keys, /.well-known/jwks.json, when you trust the server,
and keep them: a file cannot vouch for the key that signed it.

Exit code: 0 nothing is wrong (something may be hidden yet), 1 something is, 2 it cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from api.command.console import CommandFailed, complain
from api.command.jwks import read_jwks
from domain.verification import Check
from eventstore.exports import LARGEST, is_page, refusal
from eventstore.verifying import Report, check_export

_MARKS = {True: "ok", False: "WRONG", None: "unknown"}
_SANDBOX = "SANDBOX: no real game, but one for tests, with chosen cards and a clock that was moved."
_MOST = 1 << 20


def main(argv: list[str]) -> int:
    """Run the command; return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        data = _read(arguments.file, LARGEST + 1)
        jwks = None if arguments.keys is None else read_jwks(Path(arguments.keys))
        receipts = [_receipt(text) for text in arguments.receipt]
        report = check_export(data, receipts=receipts, jwks=jwks)
        if report.game_id is None and is_page(data):
            raise CommandFailed(
                "this is a page of events, not an export; fetch it with "
                "`Accept: application/x-ndjson`"
            )
        if report.game_id is None and (refused := refusal(data)) is not None:
            raise CommandFailed(f"this is no record: the server refused it ({_printable(refused)})")
    except CommandFailed as error:
        complain(str(error))
        return 2
    if arguments.json:
        print(json.dumps(as_json(report), indent=2))
    else:
        print(as_text(report))
    return 0 if report.ok else 1


def as_json(report: Report) -> dict[str, Any]:
    """The report for tools. `ok` of a check is absent where it could not be made."""
    shown: dict[str, Any] = {"ok": report.ok, "checks": [_members(c) for c in report.checks]}
    if report.game_id is not None:
        shown |= {"game_id": report.game_id, "events": report.events}
    if report.sandbox:
        shown["sandbox"] = True
    if report.first_wrong is not None:
        shown["first_wrong"] = _members(report.first_wrong)
    return shown


def as_text(report: Report) -> str:
    """The report for people."""
    lines = []
    if report.game_id is not None:
        lines.append(f"game {_printable(report.game_id)}, {report.events} events")
    if report.sandbox:
        lines.append(_SANDBOX)
    for check in report.checks:
        lines.append(f"  {_MARKS[check.ok]:<8} {check.check:<11} {_sentence(check)}")
    first = report.first_wrong
    if first is not None:
        lines.append(f"First wrong: {first.check}: {_sentence(first)}.")
    elif all(check.ok for check in report.checks):
        lines.append("Everything is right.")
    else:
        lines.append("Nothing is wrong; what is unknown could not be checked.")
    return "\n".join(lines)


def _members(check: Check) -> dict[str, Any]:
    members: dict[str, Any] = {"check": check.check}
    if check.ok is not None:
        members["ok"] = check.ok
    members["detail"] = check.detail
    if check.version is not None:
        members["version"] = check.version
    return members


def _sentence(check: Check) -> str:
    detail = _printable(check.detail)
    return detail if check.version is None else f"event {check.version}: {detail}"


def _printable(text: str) -> str:
    """A file may hold anything, and a terminal obeys some of it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./abbot verify",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", help="the export; - for the standard input")
    parser.add_argument(
        "--receipt",
        action="append",
        default=[],
        metavar="JWS|FILE",
        help="a receipt of a move: does it belong to this record? May be given several times",
    )
    parser.add_argument("--keys", metavar="JWKS", help="a file with the keys that you trust")
    parser.add_argument("--json", action="store_true", help="JSON in place of text")
    return parser


def _read(name: str, most: int) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except OSError as error:
        raise CommandFailed(f"{name} cannot be read: {error.strerror}") from None


def _receipt(text: str) -> str:
    if text.count(".") == 2 and "/" not in text and not Path(text[:200]).is_file():
        return text
    return _read(text, _MOST).decode("ascii", errors="replace").strip()
