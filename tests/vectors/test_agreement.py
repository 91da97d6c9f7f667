"""Two verifiers in two languages say the same of any file."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from domain.canonical import canonical
from domain.events import Recorded
from eventstore.verifying import check_export
from tests.domain.verification.records import changed
from tests.eventstore.exports import Notary
from tests.vectors import agreement
from tests.vectors.making import sandbox_record

needs_node = pytest.mark.skipif(not agreement.able(), reason="needs Node with Ed25519")


def _agree(games: int, folder: Path) -> None:
    notary, dice = Notary(), random.Random(f"agree {games}")
    honest, false = folder / "honest", folder / "false"
    honest.mkdir()
    false.mkdir()
    seen = folder / "running"
    seen.mkdir()
    exports, forgeries, open_games, changed = [], [], [], []
    for record in agreement.records(games):
        exports.append(notary.export(record))
        forgeries.append(agreement.tampered(record, notary, dice))
        open_games.append(agreement.running(record, notary, dice, honest=True))
        changed.append(agreement.running(record, notary, dice, honest=False))
    reports, found = agreement.compare(exports, notary, honest)
    assert found == []
    assert all(check.ok is True for report in reports for check in report.checks)
    reports, found = agreement.compare(forgeries, notary, false)
    assert found == []
    assert not any(report.ok for report in reports)
    # Of what is hidden in part a change may not show before the end.
    reports, found = agreement.compare(open_games + changed, notary, seen)
    assert found == []
    assert all(report.ok for report in reports[:games])


@needs_node
def test_they_agree_on_sandbox_records(tmp_path: Path) -> None:
    notary, record = Notary(), sandbox_record()
    clock = next(i for i, event in enumerate(record) if event.type == "clock.advanced")
    later = next(i for i, event in enumerate(record) if event.data.get("round") == 2)
    changes: list[tuple[int, Callable[[dict[str, Any]], Any]]] = [
        (0, lambda data: data.pop("sandbox")),
        (0, lambda data: data.update(sandbox={"deal": "another"})),
        (0, lambda data: data.update(sandbox={})),
        (0, lambda data: data.update(sandbox=True)),
        (0, lambda data: data.update(sandbox={"deal": 5})),
        (clock, lambda data: data.update(ahead_ms=5)),
        (later, lambda data: data.pop("ahead_ms")),
        (len(record) - 1, lambda data: data.update(secret="ab" * 32)),
    ]
    files = [record, *(changed(record, index, change) for index, change in changes)]
    reports, found = agreement.compare([notary.export(each) for each in files], notary, tmp_path)
    assert found == []
    assert [report.ok for report in reports] == [True, *[False] * len(changes)]
    assert [report.sandbox for report in reports] == [True, False, *[True] * (len(changes) - 1)]
    done = subprocess.run(
        [str(agreement.NODE), str(agreement.SCRIPT), str(tmp_path / "0.ndjson")],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["sandbox"] is True
    assert b"SANDBOX" in done.stderr


@needs_node
def test_they_agree_on_heads_of_sandbox_games_and_of_others(tmp_path: Path) -> None:
    """The key is the same, so what is signed has to say which it is."""
    notary, real = Notary(), next(agreement.records(1))

    def headed(record: list[Recorded], **marks: bool) -> bytes:
        *lines, last = notary.export(record).splitlines(keepends=True)
        head = json.loads(last)
        signed = {name: head[name] for name in ("game_id", "version", "hash", "at")} | marks
        jws = notary.sign(signed)
        end = canonical({"type": "export.signed", **signed, "jws": jws})
        return b"".join([*lines, end, b"\n"])

    def unsigned(record: list[Recorded], **marks: bool) -> bytes:
        """The mark is on the head alone."""
        *lines, last = notary.export(record).splitlines(keepends=True)
        head = {name: each for name, each in json.loads(last).items() if name != "sandbox"}
        return b"".join([*lines, canonical(head | marks), b"\n"])

    made = sandbox_record()
    files = [
        headed(made, sandbox=True),
        headed(real),
        headed(made),
        headed(made, sandbox=False),
        headed(real, sandbox=True),
        headed(real, sandbox=False),
        unsigned(made),
        unsigned(real, sandbox=True),
    ]
    reports, found = agreement.compare(files, notary, tmp_path)
    assert found == []
    wrong = [[each.check for each in report.checks if each.ok is False] for report in reports]
    assert wrong == [[], [], *[["signature"]] * 6]


@needs_node
def test_a_real_record_is_called_no_sandbox(tmp_path: Path) -> None:
    file = tmp_path / "real.ndjson"
    file.write_bytes(Notary().export(next(agreement.records(1))))
    done = subprocess.run(
        [str(agreement.NODE), str(agreement.SCRIPT), str(file)], capture_output=True, check=True
    )
    assert "sandbox" not in json.loads(done.stdout)
    assert done.stderr == b""


def _flips(matches: int, each: int) -> int:
    """The count of bytes that were changed, each of them found and its event named."""
    notary, dice, done = Notary(), random.Random(f"flips {matches}"), 0
    for record in agreement.records(matches):
        export = notary.export(record)
        report = check_export(export, jwks=notary.jwks)
        assert [check for check in report.checks if check.ok is not True] == []
        for _ in range(each):
            changed, line = agreement.flip(export, dice)
            first = check_export(changed).first_wrong
            assert first is not None
            if line <= len(record):
                assert first.version == line
            else:
                assert first.check in ("signature", "file")
            done += 1
    return done


@needs_node
def test_they_agree(tmp_path: Path) -> None:
    _agree(12, tmp_path)


@pytest.mark.long
@needs_node
def test_they_agree_on_a_thousand_games_and_a_thousand_false_ones(tmp_path: Path) -> None:
    _agree(int(os.environ.get("ABBOT_GAMES", "1000")), tmp_path)


@pytest.mark.long
def test_ten_thousand_changed_bytes_are_found() -> None:
    matches = int(os.environ.get("ABBOT_GAMES", "500"))
    assert _flips(matches, 20) == matches * 20
