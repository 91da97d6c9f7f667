"""Two verifiers in two languages say the same of any file."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from eventstore.verifying import check_export
from tests.eventstore.exports import Notary
from tests.vectors import agreement

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
