"""`./abbot partitions`: what it shows, and what it says when something cannot be done."""

from __future__ import annotations

import datetime
import json
import random
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from api.command import audit, backup, partitions, postgres_tools, rebuild
from eventstore.executor import Executor
from eventstore.pool import Pool, open_pool
from eventstore.store import Store
from tests.api.command.houses import enterable, house
from tests.databases import Scratch, scratch_database
from tests.eventstore.months import OLD, OLD_NAME, catch_up, id_at, make_old, table_as
from tests.eventstore.tables import Table, open_table
from tests.pages import commands

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
    assert new.endswith(" kB"), "nobody has counted yet, so it does not say that there are none"


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
    for arguments in (("attach", "events_2001_01"), ("archive", "events_2001_01", "file")):
        code, text = run(*arguments)
        assert (code, "takes ABBOT_OWNER_DATABASE_URL" in text) == (1, True)
    monkeypatch.setenv("ABBOT_OWNER_DATABASE_URL", scratch.app_url.replace("port=", "port=1"))
    code, text = run()
    assert code == 1
    assert scratch.app_role not in text


class TestAnArchive:
    """A month that is over, with a match."""

    @pytest.fixture
    def scratch(self) -> Iterator[Scratch]:
        with scratch_database() as scratch:
            make_old(scratch.owner_url)
            yield scratch

    @pytest.fixture
    def old(self, scratch: Scratch) -> Iterator[Table]:
        with open_pool(scratch.app_url, 2) as pool:
            yield play(pool)

    def line(self, run: Run) -> str:
        (line,) = (line for line in run()[1].splitlines() if line.startswith(OLD_NAME))
        return line

    def test_where_a_month_is(self, run: Run, old: Table, tmp_path: Path) -> None:
        file = tmp_path / "archive"
        assert f"{OLD_NAME}   attached" in self.line(run)
        assert run("detach", OLD_NAME)[0] == 0
        assert f"{OLD_NAME}   detached" in self.line(run)
        assert " kB" in self.line(run)
        assert " 0 kB" not in self.line(run)
        assert run("detach", OLD_NAME) == (1, f"abbot: {OLD_NAME} is detached already\n")
        assert run("archive", OLD_NAME, str(file))[0] == 0
        assert run("drop", OLD_NAME, str(file))[0] == 0
        assert self.line(run) == f"{OLD_NAME}   not here: it is in its archive"
        code, text = run("detach", OLD_NAME)
        assert code == 1
        assert "not here: it was detached" in text
        nobodys = "events_2024_01"
        assert run("detach", nobodys) == (1, f"abbot: there is no partition {nobodys}\n")

    def test_every_command_says_what_it_cannot_look_at(
        self, run: Run, old: Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def call(command: Any, *arguments: str) -> tuple[int, str]:
            code = command.main(list(arguments))
            captured = capsys.readouterr()
            return code, captured.out + captured.err

        def report(*arguments: str) -> tuple[int, dict[str, Any]]:
            code = audit.main([*arguments, "--json"])
            return code, json.loads(capsys.readouterr().out)

        file, table = tmp_path / "archive", open_table(old.executor)
        catch_up(old.executor.store.pool)
        code, found = report("--all", "--jobs", "1")
        assert (code, found["unseen_games"], found["detached"]) == (0, 0, [])
        run("detach", OLD_NAME)
        run("archive", OLD_NAME, str(file))
        for dropped in (False, True):
            if dropped:
                run("drop", OLD_NAME, str(file))
            code, text = call(audit, "--all", "--jobs", "1")
            assert code == 0
            assert "what could be looked at is right: 2 games" in text
            assert (
                f"1 of the games could not be looked at, as their events are in {OLD_NAME}" in text
            )
            code, found = report("--all", "--jobs", "2")
            assert (code, found["ok"], found["games"]) == (0, True, 2)
            assert (found["unseen_games"], found["detached"]) == (1, [OLD_NAME])
            code, text = call(audit, old.game_id)
            assert code == 1
            assert f"{old.game_id} could not be looked at: its events are in {OLD_NAME}" in text
            assert "right" not in text
            code, found = report(old.game_id)
            assert (code, found["ok"]) == (1, None)
            assert call(audit, table.game_id)[0] == 0
            code, text = call(rebuild, "standings")
            assert code == 1
            assert f"is in {OLD_NAME}, which is detached: `./abbot partitions attach" in text
            code, text = call(backup, str(tmp_path / f"saved-{dropped}"))
            assert code == 0
            assert (f"{OLD_NAME} is not in it, as it is in its archive" in text) == dropped
            assert f"could not be looked at, as their events are in {OLD_NAME}" in text

    def test_a_month_with_a_match_that_goes_on_is_not_detached(
        self, run: Run, scratch: Scratch, old: Table
    ) -> None:
        going_on = table_as(old.executor, id_at(OLD))
        code, text = run("detach", OLD_NAME)
        assert code == 1
        assert f"games of {OLD_NAME} are not over yet, {going_on.game_id} for one" in text

    def test_there_and_back(self, run: Run, old: Table, tmp_path: Path) -> None:
        file, events = tmp_path / "archive", old.events()
        assert f"{OLD_NAME} is part of the record" in run("archive", OLD_NAME, str(file))[1]
        run("detach", OLD_NAME)
        code, text = run("archive", OLD_NAME, str(file))
        assert (code, text) == (0, f"abbot: {len(events)} events of {OLD_NAME} are in {file}\n")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert list(tmp_path.iterdir()) == [file]
        assert "is left alone" in run("restore", str(file))[1]
        assert run("drop", OLD_NAME, str(file))[0] == 0
        assert "restore` its archive" in run("attach", OLD_NAME)[1]
        assert run("restore", str(file))[0] == 0
        assert f"{OLD_NAME}   detached" in self.line(run)
        assert run("attach", OLD_NAME)[0] == 0
        assert old.events() == events

    def test_an_archive_takes_the_place_of_nothing(
        self, run: Run, old: Table, tmp_path: Path
    ) -> None:
        run("detach", OLD_NAME)
        file, link = tmp_path / "mine", tmp_path / "link"
        file.write_text("mine")
        link.symlink_to(tmp_path / "nowhere")
        for taken in (file, link):
            code, text = run("archive", OLD_NAME, str(taken))
            assert (code, "left alone" in text) == (1, True)
        assert file.read_text() == "mine"
        assert not (tmp_path / "nowhere").exists()
        code, text = run("archive", OLD_NAME, str(tmp_path / "no" / "folder"))
        assert (code, "cannot be made" in text) == (1, True)
        assert {each.name for each in tmp_path.iterdir()} == {"mine", "link"}

    def test_an_archive_is_there_whole_or_not_at_all(
        self, run: Run, old: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever pg_dump says: it may have written something else."""
        run("detach", OLD_NAME)
        whole = tmp_path / "whole"
        run("archive", OLD_NAME, str(whole))
        cut = tmp_path / "cut"
        cut.write_bytes(whole.read_bytes()[:-100])
        dumps = {"nothing": "exit 0", "half": f'cp "{cut}" "$file"', "fails": "exit 3"}
        for name, does in dumps.items():
            fake = tmp_path / f"pg_{name}"
            fake.write_text(
                "#!/bin/sh\nfor each; do case $each in --file=*) file=${each#*=};; esac; done\n"
                f"{does}\n"
            )
            fake.chmod(0o700)
            tool = postgres_tools.Tool(fake, 99)
            with monkeypatch.context() as patch:
                patch.setattr(postgres_tools, "for_dump", lambda _server, tool=tool: tool)
                code, text = run("archive", OLD_NAME, str(tmp_path / "archive"))
            assert code == 1, text
            assert not list(tmp_path.glob("archive*"))

    @pytest.mark.parametrize(
        "change",
        [
            "DELETE FROM {} WHERE version = 3",
            "UPDATE {} SET body = body || ' ' WHERE version = 3",
            "UPDATE {} SET hash = sha256(hash) WHERE version = 3",
            "UPDATE {} SET version = 4000 WHERE version = 3",
        ],
    )
    def test_only_what_the_archive_holds_is_dropped(
        self, run: Run, scratch: Scratch, old: Table, tmp_path: Path, change: str
    ) -> None:
        file = tmp_path / "archive"
        run("detach", OLD_NAME)
        run("archive", OLD_NAME, str(file))
        with scratch.unguarded(OLD_NAME):
            scratch.execute(change.format(OLD_NAME))
        code, text = run("drop", OLD_NAME, str(file))
        assert code == 1
        assert "are not the same" in text
        assert f"{OLD_NAME}   detached" in self.line(run)

    def test_only_a_detached_month_is_dropped_and_with_its_own_archive(
        self, run: Run, scratch: Scratch, old: Table, tmp_path: Path
    ) -> None:
        file, other = tmp_path / "archive", tmp_path / "other"
        run("detach", OLD_NAME)
        run("archive", OLD_NAME, str(file))
        run("attach", OLD_NAME)
        assert "detach it first" in run("drop", OLD_NAME, str(file))[1]
        with psycopg.connect(scratch.owner_url) as owner:
            owner.execute("SELECT make_partition('2025-02-01')")
        run("detach", "events_2025_02")
        assert run("archive", "events_2025_02", str(other))[1].startswith("abbot: 0 events")
        run("detach", OLD_NAME)
        code, text = run("drop", OLD_NAME, str(other))
        assert (code, "is the archive of events_2025_02" in text) == (1, True)
        assert f"{OLD_NAME}   detached" in self.line(run)

    def test_what_is_no_archive(
        self, run: Run, scratch: Scratch, old: Table, tmp_path: Path
    ) -> None:
        run("detach", OLD_NAME)
        whole = tmp_path / "whole"
        run("archive", OLD_NAME, str(whole))
        text, cut, games = tmp_path / "text", tmp_path / "cut", tmp_path / "games"
        text.write_text("SELECT 1;\n")
        cut.write_bytes(whole.read_bytes()[:-100])
        tool = postgres_tools.newest("pg_dump")
        table = ("--format=custom", "--table=games", f"--file={games}")
        postgres_tools.run(tool, scratch.owner_url, *table)
        assert run("drop", OLD_NAME, str(whole))[0] == 0
        for file in (text, cut, games, tmp_path / "none"):
            for action in (("restore",), ("drop", OLD_NAME)):
                code, said = run(*action, str(file))
                assert code == 1, said
        assert "not here" in self.line(run)

    def test_what_was_never_detached_is_not_restored(
        self, run: Run, scratch: Scratch, old: Table, tmp_path: Path
    ) -> None:
        file = tmp_path / "archive"
        run("detach", OLD_NAME)
        run("archive", OLD_NAME, str(file))
        run("drop", OLD_NAME, str(file))
        scratch.execute("DELETE FROM archives")
        code, text = run("restore", str(file))
        assert (code, "was never detached" in text) == (1, True)


def test_the_pages_commands_with_the_embedded_server(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without any URL, whatever programs of PostgreSQL are on PATH."""
    for name in ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    mains: dict[str, Any] = {"partitions": partitions.main, "audit": audit.main}
    with enterable() as data:
        with house(monkeypatch, data) as before:
            make_old(before.settings.owner_database_url)
            old = play(before.pool)
            events = old.events()
        for name, *rest in commands("scale.md", "Partitions"):
            words = [word.replace("events_2026_01", OLD_NAME) for word in rest]
            assert mains[name](words) == 0, capsys.readouterr().err
        assert "all is right: 1 games" in capsys.readouterr().out
        assert (tmp_path / f"{OLD_NAME}.dump").exists()
        with house(monkeypatch, data) as after:
            assert after.executor.store.events(old.game_id) == events


def play(pool: Pool) -> Table:
    """A match of the old month, to its end."""
    table = table_as(Executor(Store(pool)), id_at(OLD + datetime.timedelta(days=3)))
    table.play_out(random.Random(1))
    catch_up(pool)
    return table
