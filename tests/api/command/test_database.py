"""Commands on a database that is away, that is empty, or whose tables are not this release's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from eventstore.settings import ROOT
from tests.databases import Scratch, scratch_database

NOBODY = "01a22cad-10fb-7014-bbf4-ff2bb423f608"
COMMANDS = [
    ("audit", "--all"),
    ("audit", NOBODY),
    ("keys",),
    ("keys", "rotate"),
    ("app", "list"),
    ("app", "create", "Somebody"),
    ("grant", NOBODY, "audit"),
    ("rebuild", "summaries"),
    ("rebuild", "standings"),
    ("backup", "{folder}/saved"),
    ("partitions",),
    ("partitions", "make"),
    ("partitions", "detach", "events_2025_01"),
    ("partitions", "archive", "events_2025_01", "{folder}/file"),
]
"""All that work on tables which must be there."""

COMMAND = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)


@pytest.fixture(scope="module")
def empty() -> Iterator[Scratch]:
    """A database of ours without our tables."""
    with scratch_database(migrated=False) as scratch:
        yield scratch


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABBOT_DATA", str(tmp_path / "data"))


def use(monkeypatch: pytest.MonkeyPatch, scratch: Scratch) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)
    monkeypatch.setenv("ABBOT_OWNER_DATABASE_URL", scratch.owner_url)


def call(command: tuple[str, ...], folder: Path) -> int:
    name, *arguments = (word.format(folder=folder) for word in command)
    code: int = import_module(f"api.command.{name}").main(arguments)
    return code


@COMMAND
def test_without_tables(
    empty: Scratch,
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    use(monkeypatch, empty)
    assert call(command, tmp_path) == 1
    told = "abbot: the database has none of our tables yet: `./abbot migrate` makes them\n"
    assert capsys.readouterr().err == told
    assert not (tmp_path / "saved").exists()


def test_as_a_role_without_rights(
    scratch: Scratch,
    empty: Scratch,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever gives the application another role has to migrate once more."""
    stranger = make_conninfo(empty.app_url, dbname=scratch.name)
    monkeypatch.setenv("ABBOT_DATABASE_URL", stranger)
    monkeypatch.delenv("ABBOT_OWNER_DATABASE_URL", raising=False)
    for command in (("keys",), ("app", "list"), ("audit", "--all"), ("partitions",)):
        assert call(command, tmp_path) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "`./abbot migrate` gives the one of ABBOT_DATABASE_URL its rights" in line


def test_settings_are_read_before_gevent_patches_what_psycopg_waits_with(scratch: Scratch) -> None:
    code = "import sys; from eventstore.settings import Settings as S; S.from_env()"
    for url in (scratch.app_url, "postgresql://me:p%40ss@[::1]:5433,db:1/abbot?sslmode=require"):
        subprocess.run(
            [sys.executable, "-c", f"{code}; sys.exit('psycopg' in sys.modules)"],
            env=os.environ | {"ABBOT_DATABASE_URL": url, "PYTHONPATH": str(ROOT)},
            check=True,
        )


@pytest.mark.parametrize(
    "url", ["mysql://me:s3cret@db/abbot", "postgresql://[::1", "postgresql://me:s3cret%@db/", "db"]
)
def test_what_is_no_url(
    scratch: Scratch,
    url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL"):
        use(monkeypatch, scratch)
        monkeypatch.setenv(name, f" {url} ")
        for command in (*COMMANDS, ("migrate",)):
            assert call(command, tmp_path) == 1
            (line,) = capsys.readouterr().err.splitlines()
            assert f"{name}: Must be a postgresql:// URL." in line
            assert "s3cret" not in line


def test_the_owners_url_alone(
    scratch: Scratch,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Not taken for the embedded database, nor for one half of it."""
    use(monkeypatch, scratch)
    monkeypatch.setenv("ABBOT_DATABASE_URL", " ")
    for command in (*COMMANDS, ("migrate",), ("restore", "{folder}/saved"), ("up",)):
        if command[0] == "restore":
            monkeypatch.setattr("api.command.restore.read", lambda _folder: {})
        assert call(command, tmp_path) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert "ABBOT_OWNER_DATABASE_URL is set and ABBOT_DATABASE_URL is not" in line
    assert not any(tmp_path.iterdir())


def test_with_tables_of_another_release(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with scratch_database() as scratch:
        use(monkeypatch, scratch)
        scratch.execute("DROP TABLE archives, app_keys CASCADE")
        for command in (("partitions",), ("app", "list")):
            assert call(command, tmp_path) == 1
            (line,) = capsys.readouterr().err.splitlines()
            assert "another release: `./abbot migrate`" in line


@COMMAND
def test_away(
    scratch: Scratch,
    command: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    use(monkeypatch, scratch)
    for name in ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL"):
        monkeypatch.setenv(name, scratch.owner_url.replace("port=", "port=1"))
    assert call(command, tmp_path) == 1
    assert capfd.readouterr().err == "abbot: the database cannot be reached\n"


def test_one_line_of_a_database_that_goes_away() -> None:
    """In a process of its own: here pytest takes what is logged."""
    script = """
from api.command import database
from eventstore.errors import Unavailable
from eventstore.database import Database
from eventstore.pool import open_pool

database.quiet()
with open_pool("host=127.0.0.1 port=1", 1, timeout=1.5) as pool:
    try:
        Database(pool).once("SELECT 1", {})
    except Unavailable:
        print("away")
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("away\n", "")
