"""`./abbot partitions`: what it shows, and what it says when something cannot be done."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pytest

from api.command import partitions
from tests.databases import Scratch

Run = Callable[..., tuple[int, str]]
THIS_MONTH = f"events_{datetime.datetime.now(datetime.UTC):%Y_%m}"


@pytest.fixture
def run(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """The command on the scratch database: exit code, and what it said."""
    monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)
    monkeypatch.setenv("ABBOT_OWNER_DATABASE_URL", scratch.owner_url)

    def call(*arguments: str) -> tuple[int, str]:
        code = partitions.main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return call


def test_what_there_is(run: Run) -> None:
    for arguments in ((), ("list",)):
        code, text = run(*arguments)
        assert code == 0
        for name in (THIS_MONTH, "events_default"):
            (line,) = (line for line in text.splitlines() if line.startswith(name))
            assert "attached" in line


def test_how_many_events_is_told_once_the_database_has_an_idea(run: Run, scratch: Scratch) -> None:
    run("make", "--months", "24")
    scratch.execute("ANALYZE events_default")
    *_, new, default = run("list")[1].splitlines()
    assert default.endswith(" events")
    assert "about " in default
    assert new.endswith("MB"), "nobody has counted yet, so it does not say that there are none"


def test_making_the_next(run: Run) -> None:
    code, text = run("make", "--months", "4")
    assert code == 0
    assert f"{THIS_MONTH}: there" in text
    with pytest.raises(SystemExit):
        run("make", "--months", "25")


@pytest.mark.parametrize("action", ["detach", "attach"])
def test_what_cannot_be_done(run: Run, action: str) -> None:
    for name in (THIS_MONTH, "events_default", "events_2000_01"):
        code, text = run(action, name)
        assert code == 1
        assert name in text


def test_it_takes_the_owner(run: Run, scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABBOT_OWNER_DATABASE_URL", scratch.app_url)
    code, text = run("attach", "events_2001_01")
    assert code == 1
    assert "events_2001_01" in text
    monkeypatch.setenv("ABBOT_OWNER_DATABASE_URL", scratch.app_url.replace("port=", "port=1"))
    code, text = run()
    assert code == 1
    assert scratch.app_role not in text
