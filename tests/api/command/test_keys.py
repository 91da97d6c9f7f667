"""`abbot keys`, on a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.command import keys
from tests.databases import Scratch


@pytest.fixture
def _settings(scratch: Scratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)
    monkeypatch.setenv("ABBOT_SIGNING_KEYS", str(tmp_path / "keys"))


@pytest.mark.usefixtures("_settings")
def test_rotate_and_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert keys.main(["rotate"]) == 0
    first = capsys.readouterr().out.split()[3]
    assert keys.main(["rotate"]) == 0
    second = capsys.readouterr().out.split()[3]
    assert keys.main([]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "retired" in lines[first]
    assert "in use" in lines[second]


def test_without_a_database(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ABBOT_DATABASE_URL", raising=False)
    assert keys.main(["list"]) == 1
    assert "no database: start `./abbot up`, or set ABBOT_DATABASE_URL." in capsys.readouterr().err
