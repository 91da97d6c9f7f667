"""`./abbot backup` and `./abbot restore`, with PostgreSQL's own programs and new clusters."""

from __future__ import annotations

import random
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from api.command import backup, migrate, postgres_tools, restore
from api.command.console import CommandFailed
from eventstore.checkpoints import Checkpoints
from eventstore.executor import Executor
from eventstore.pool import open_pool
from eventstore.settings import Settings
from eventstore.signing import KeyFolder, Signer
from eventstore.store import Store
from tests.api.command.houses import enterable, house
from tests.databases import Scratch, scratch_database
from tests.eventstore.feeds import check
from tests.eventstore.tables import Table, open_table


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with enterable() as made:
        yield made


def test_games_feed_and_readers_go_on_in_a_new_cluster(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new, saved = folder / "old", folder / "new", folder / "saved"
    with house(monkeypatch, old) as before:
        running, ended = open_table(before.executor), open_table(before.executor)
        player = before.end(ended)
        before.sequence()
        handled = before.handle(7)
        while before.standings.step():
            pass
        assert Checkpoints(before.pool).write(Signer(before.pool, before.settings.signing_keys))
        running.make_move()
        waiting = before.feed.waiting()
        fed = before.feed.after(0, 1000)
        assert waiting
        with named(before.settings):
            assert backup.main([str(saved)]) == 0
    assert "all is right: 2 games" in capsys.readouterr().out
    assert mode(saved) == 0o700
    assert {path.name: mode(path) for path in saved.iterdir()} == {
        "abbot.dump": 0o600,
        "manifest.json": 0o600,
    }

    monkeypatch.setenv("ABBOT_DATA", str(new))
    assert restore.main([str(saved)]) == 0
    shown = capsys.readouterr().out
    assert "all is right: 2 games" in shown
    assert f"no signing keys in {new / 'keys'}" in shown.splitlines()[-1]
    shutil.copytree(old / "keys", new / "keys")
    with house(monkeypatch, new) as after:
        assert after.feed.after(0, 1000) == fed
        assert after.feed.waiting() == waiting
        assert after.played(player) == 1
        moved = Table(after.executor, running.game_id, running.players)
        moved.make_move()
        another = after.end(open_table(after.executor))
        after.sequence()
        while after.standings.step():
            pass
        assert (after.played(player), after.played(another)) == (1, 1)
        while items := after.handle(5):
            handled += items
        check(handled)
        everything = after.feed.after(0, 1000)
        assert handled == everything
        assert everything[: len(fed)] == fed
        signer = Signer(after.pool, after.settings.signing_keys)
        made = Checkpoints(after.pool).write(signer)
        assert made is not None
        assert made.number == 2
        assert all(each.ok for each in Checkpoints(after.pool).check(signer.jwks()))
        with named(after.settings):
            assert restore.main([str(saved)]) == 1
        assert "not empty" in capsys.readouterr().err
        assert after.feed.after(0, 1000) == everything


@contextmanager
def named(settings: Settings) -> Iterator[None]:
    """Commands work on the server of `settings`, as they do where `abbot up` runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ABBOT_DATABASE_URL", settings.database_url)
        patch.setenv("ABBOT_OWNER_DATABASE_URL", settings.owner_database_url)
        yield


@contextmanager
def bare() -> Iterator[Scratch]:
    """An empty database with its two roles, on the server that tests are run on."""
    with scratch_database(migrated=False) as scratch:
        scratch.execute("DROP SCHEMA clock CASCADE")
        yield scratch


def use(monkeypatch: pytest.MonkeyPatch, scratch: Scratch) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)
    monkeypatch.setenv("ABBOT_OWNER_DATABASE_URL", scratch.owner_url)


def test_servers_of_ones_own_and_other_roles(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rights, limits and guards are those of the new database's roles."""
    monkeypatch.setenv("ABBOT_DATA", str(folder / "data"))
    saved = folder / "saved"
    with bare() as old:
        use(monkeypatch, old)
        migrate.upgrade(old.owner_url, old.app_url)
        with open_pool(old.app_url, 2) as pool:
            executor = Executor(Store(pool))
            table = open_table(executor)
            open_table(executor).play_out(random.Random(1))
        assert backup.main([str(saved), "--no-audit"]) == 0
        text = (saved / "manifest.json").read_text()
        assert backup.main([str(saved), "--no-audit"]) == 1
        assert "not empty" in capsys.readouterr().err
        assert (saved / "manifest.json").read_text() == text
    with bare() as new:
        use(monkeypatch, new)
        dump = saved / "abbot.dump"
        content = dump.read_bytes()
        dump.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        assert restore.main([str(saved)]) == 1
        assert "damaged" in capsys.readouterr().err
        dump.write_bytes(content)
        KeyFolder(folder / "data" / "keys").current()
        assert restore.main([str(saved), "--no-audit"]) == 0
        assert "no signing keys" not in capsys.readouterr().out
        with open_pool(new.app_url, 2) as pool:
            Table(Executor(Store(pool)), table.game_id, table.players).make_move()
        for url, error in (
            (new.app_url, psycopg.errors.InsufficientPrivilege),
            (new.owner_url, psycopg.errors.RestrictViolation),
        ):
            with psycopg.connect(url) as connection, pytest.raises(error):
                connection.execute("DELETE FROM events")
        with psycopg.connect(new.app_url) as connection:
            assert connection.execute("SHOW statement_timeout").fetchone() == ("15s",)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sha256": "", "pg_dump": "x", "content": {}}'])
def test_what_is_no_backup_is_not_restored(folder: Path, text: str) -> None:
    with pytest.raises(CommandFailed):
        restore.read(folder)
    (folder / "manifest.json").write_text(text)
    with pytest.raises(CommandFailed, match="is not that of a backup"):
        restore.read(folder)


def test_a_program_that_fits_is_chosen_or_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    there = [postgres_tools.Tool(Path(f"/{major}"), major) for major in (18, 15, 16)]
    monkeypatch.setattr(postgres_tools, "_found", lambda name: iter(there))
    assert postgres_tools.for_dump(15).major == 15
    assert postgres_tools.for_dump(17).major == 18
    with pytest.raises(CommandFailed, match="no pg_dump"):
        postgres_tools.for_dump(19)
    assert postgres_tools.for_restore(15, made_by=15).major == 15
    assert postgres_tools.for_restore(16, made_by=15).major == 16
    assert postgres_tools.for_restore(18, made_by=15).major == 18
    with pytest.raises(CommandFailed, match="no pg_restore"):
        postgres_tools.for_restore(15, made_by=18)


def test_no_password_is_on_a_command_line(tmp_path: Path) -> None:
    """What is run shows all that it was given."""
    fake, shown = tmp_path / "pg_fake", tmp_path / "shown"
    fake.write_text(f'#!/bin/sh\necho "$@" > {shown}\nenv >> {shown}\nexit 3\n')
    fake.chmod(0o700)
    url = "postgresql://me:s3cret@db.example/abbot?sslmode=require&connect_timeout=4"
    with pytest.raises(CommandFailed, match="pg_fake failed"):
        postgres_tools.run(postgres_tools.Tool(fake, 18), url, "--x")
    arguments, *environment = shown.read_text().splitlines()
    assert "s3cret" not in arguments
    assert "PGPASSWORD=s3cret" in environment
    assert "PGHOST=db.example" in environment
    assert "PGSSLMODE=require" in environment
    assert mode(shown) & 0o077 == 0
