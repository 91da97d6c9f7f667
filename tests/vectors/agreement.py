"""Both verifiers on the same files: ours, and docs/verify.js, which follows the format's page."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from domain.events import Recorded
from eventstore.verifying import Report, check_export
from tests.domain.games import CELLS, RandomGame
from tests.domain.verification.records import chained, changed, play_out
from tests.eventstore.exports import Notary

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "verify.js"
NODE = shutil.which("node")
SHARED = ("file", "signature", "chain", "commitment")
AT_ONCE = 50

Answers = dict[str, dict[str, Any]]


def able() -> bool:
    """Whether there is a Node with Ed25519 in its WebCrypto."""
    if NODE is None:
        return False
    code = "crypto.subtle.generateKey({name:'Ed25519'},false,['sign']).catch(()=>process.exit(1))"
    return subprocess.run([NODE, "-e", code], capture_output=True, check=False).returncode == 0


def records(count: int) -> Iterator[list[Recorded]]:
    """Random matches over all options and numbers of seats, one cell after the other."""
    for n in range(count):
        ruleset, seats, options = CELLS[n * 7 % len(CELLS)]
        yield play_out(RandomGame(ruleset, seats, options, seed=("agreement", n)))


def second(files: Iterable[Path], keys: Path) -> Iterator[Answers]:
    """What the second verifier says of each file: its checks by name."""
    names = [str(file) for file in files]
    assert NODE is not None
    for start in range(0, len(names), AT_ONCE):
        some = names[start : start + AT_ONCE]
        done = subprocess.run(
            [NODE, str(SCRIPT), *some, "--keys", str(keys)],
            capture_output=True,
            check=False,
            timeout=600,
        )
        assert done.returncode in (0, 1), done.stderr.decode()
        lines = done.stdout.splitlines()
        assert len(lines) == len(some), done.stderr.decode()
        for line in lines:
            yield {check["check"]: check for check in json.loads(line)["checks"]}


def flip(data: bytes, dice: random.Random) -> tuple[bytes, int]:
    """The data with one byte changed, and the line in which it is."""
    place = dice.randrange(len(data))
    other = data[place]
    while other == data[place]:
        other = dice.randrange(256)
    return data[:place] + bytes([other]) + data[place + 1 :], 1 + data.count(b"\n", 0, place)


def tampered(record: list[Recorded], notary: Notary, dice: random.Random) -> bytes:
    """An export that is not right: by anyone who has the file, or by the service itself, which
    can chain and sign anew."""
    export = notary.export(record)
    lines = export.splitlines(keepends=True)
    index = dice.randrange(len(record) - 2)
    kind = dice.randrange(15)
    if kind == 0:
        return flip(export, dice)[0]
    if kind == 1:
        return b"".join(lines[: index + 1] + lines[index + 2 :])
    if kind == 2:
        return b"".join([*lines[:index], lines[index + 1], lines[index], *lines[index + 2 :]])
    if kind == 3:
        return b"".join([*lines[: index + 1], lines[-1]])
    if kind == 4:
        return Notary().export(record)
    if kind == 5:
        return notary.export(changed(record, 0, lambda data: data.update(commitment="ab" * 32)))
    if kind == 6:
        last = len(record) - 1
        return notary.export(changed(record, last, lambda data: data.update(secret="cd" * 32)))
    if kind == 7:
        host = replace(record[1], data={**record[1].data, "client_seed": "0123"})
        return notary.export(chained([record[0], host, *record[2:]]))
    if kind == 8:
        return b"".join(lines[: index + 1])
    if kind == 9:
        return export + dice.choice(lines)[: dice.randrange(1, 40)]
    if kind == 10:
        return b"".join(lines[index + 1 :])
    if kind == 11:
        return notary.export(changed(record, 0, lambda data: data.update(commitment="AB" * 32)))
    if kind == 12:
        return notary.export(_misshapen(record, index, dice))
    if kind == 13:
        return b"".join(lines[:-1])
    return notary.export(_other_cards(record, dice))


def _misshapen(record: list[Recorded], index: int, dice: random.Random) -> list[Recorded]:
    """One event is not of the form of an event, and the chain fits all the same."""
    event = record[index]
    odd = dice.choice(
        (
            replace(event, by={**event.by, "kind": "server"}),
            replace(event, by={**event.by, "name": "x"}),
            replace(event, by={**event.by, "seat": -1}),
            replace(event, by={"seat": 0}),
            replace(event, at=event.at.replace("-11-30T", "-11-31T")),
            replace(event, at=event.at[:17] + "60" + event.at[19:]),
            replace(event, at=event.at[:-1] + "+00:00"),
        )
    )
    return chained([*record[:index], odd, *record[index + 1 :]])


def running(record: list[Recorded], notary: Notary, dice: random.Random, honest: bool) -> bytes:
    """The export of the record's beginning as a seat or a spectator sees it while the game runs;
    if it is not `honest` it was changed."""
    # What is appended at once can be read only at once.
    ends = [i for i in range(1, len(record)) if record[i].at != record[i - 1].at]
    seat = dice.choice((None, 0, 1))
    seen = notary.export(record[: dice.choice(ends)], seat, over=False)
    if honest:
        return seen
    lines = seen.splitlines(keepends=True)
    index = dice.randrange(len(lines))
    return dice.choice(
        (flip(seen, dice)[0], b"".join(lines[:-1]), b"".join([*lines[:index], *lines[index + 1 :]]))
    )


def _other_cards(record: list[Recorded], dice: random.Random) -> list[Recorded]:
    salted = [i for i, event in enumerate(record) if "salt" in event.data]
    index = dice.choice(salted)

    def change(data: dict[str, Any]) -> None:
        cards = data.get("draw_pile") or data.get("undealt") or data.get("cards") or []
        if len(cards) > 1 and dice.random() < 0.8:
            cards[0], cards[-1] = cards[-1], cards[0]
        else:
            data["salt"] = "0" * 32

    return changed(record, index, change)


def disagreement(ours: Report, theirs: Answers) -> str | None:
    """In what the two do not say the same; None if they agree."""
    own = {check.check: check for check in ours.checks}
    for name in SHARED:
        check, other = own[name], theirs[name]
        if (check.ok, check.version) != (other.get("ok"), other.get("version")):
            return f"{name}: {check} against {other}"
    check, other = own["shuffle"], theirs["shuffle"]
    if check.ok is True or other.get("ok") is None:
        return None if other.get("ok") is check.ok else f"shuffle: {check} against {other}"
    # What only the rules can tell, ours finds first and stops.
    stopped = [each for each in ours.checks if each.check in ("legality", "deadlines", "result")]
    first = min((each.version for each in (check, *stopped) if each.version), default=0)
    if other.get("ok") is False and other["version"] < first:
        return f"shuffle: {check} against {other}"
    by_rules = check.ok is None or " picked" in check.detail or "stands where" in check.detail
    if not by_rules and other.get("version") != check.version:
        return f"shuffle: {check} against {other}"
    return None


def compare(
    exports: Iterable[bytes], notary: Notary, folder: Path
) -> tuple[list[Report], list[str]]:
    """What ours says of each export, and in what the second verifier disagrees."""
    keys = folder / "keys.json"
    keys.write_text(json.dumps(notary.jwks))
    files, reports = [], []
    for number, export in enumerate(exports):
        file = folder / f"{number}.ndjson"
        file.write_bytes(export)
        files.append(file)
        reports.append(check_export(export, jwks=notary.jwks))
    told = zip(reports, second(files, keys), files, strict=True)
    found = [
        f"{file.name}: {words}"
        for ours, theirs, file in told
        if (words := disagreement(ours, theirs)) is not None
    ]
    return reports, found
