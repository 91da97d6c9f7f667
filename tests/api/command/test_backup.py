"""`./abbot backup` and `./abbot restore`, with PostgreSQL's own programs and new clusters."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from api.command import backup, migrate, postgres_tools, restore
from api.command.console import CommandFailed
from eventstore import backups
from eventstore.checkpoints import Checkpoints
from eventstore.executor import Executor
from eventstore.players import Players
from eventstore.pool import open_pool
from eventstore.sealing import Sealer
from eventstore.settings import ROOT, Settings
from eventstore.signing import KeyFolder, Signer
from eventstore.store import Store
from eventstore.webhooks import Owner, Webhooks
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


def test_the_keys_that_must_be_kept_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of webhooks matter where there are webhooks."""
    kept, elsewhere, saved = folder / "kept", folder / "elsewhere", folder / "saved"
    monkeypatch.setenv("ABBOT_SIGNING_KEYS", str(kept))
    KeyFolder(kept).current()
    with bare() as old:
        use(monkeypatch, old)
        migrate.upgrade(old.owner_url, old.app_url)
        assert backup.main([str(folder / "before"), "--no-audit"]) == 0
        said = capsys.readouterr().out
        assert "the signing keys and the key of webhooks (webhooks.key)" in said
        assert f"keep {kept} as well" in said
        with open_pool(old.app_url, 1) as pool:
            owner = Owner("player", Players(pool).register("Ada", bytes(32), ["play"]).player_id)
            assert Webhooks(pool, Sealer(kept)).add(owner, "https://example.com/", ["game.over"])
        assert backup.main([str(saved), "--no-audit"]) == 0
    capsys.readouterr()
    for source, keys, about in (
        (folder / "before", kept, ()),
        (saved, kept, ()),
        (saved, elsewhere, ("webhooks.key", "no signing keys")),
    ):
        monkeypatch.setenv("ABBOT_SIGNING_KEYS", str(keys))
        with bare() as new:
            use(monkeypatch, new)
            assert restore.main([str(source), "--no-audit"]) == 0
        said = capsys.readouterr().out
        for each in ("webhooks.key", "no signing keys"):
            assert (each in said) == (each in about), said
    assert not elsewhere.exists()
    KeyFolder(elsewhere).current()
    assert Sealer(elsewhere).key_id
    with bare() as new:
        use(monkeypatch, new)
        assert restore.main([str(saved), "--no-audit"]) == 0
    assert "webhooks.key that webhooks' secrets are sealed with" in capsys.readouterr().out


def test_with_the_applications_role_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it takes is said before any program of PostgreSQL complains."""
    monkeypatch.setenv("ABBOT_DATA", str(folder / "data"))
    told = "abbot: this takes ABBOT_OWNER_DATABASE_URL, with the role that owns the tables\n"
    saved = folder / "saved"
    with bare() as old:
        use(monkeypatch, old)
        monkeypatch.delenv("ABBOT_OWNER_DATABASE_URL")
        assert migrate.main([]) == 1
        assert capsys.readouterr().err == told
        migrate.upgrade(old.owner_url, old.app_url)
        assert backup.main([str(folder / "none")]) == 1
        assert capsys.readouterr().err == told
        assert not (folder / "none").exists()
        old.execute(f"GRANT pg_read_all_data TO {old.app_role}")
        assert backup.main([str(folder / "reader"), "--no-audit"]) == 0
        use(monkeypatch, old)
        assert backup.main([str(saved), "--no-audit"]) == 0
    capsys.readouterr()
    with bare() as new:
        use(monkeypatch, new)
        monkeypatch.delenv("ABBOT_OWNER_DATABASE_URL")
        assert restore.main([str(saved)]) == 1
        assert capsys.readouterr().err == told
        assert backups.is_empty(new.owner_url)


def test_the_warning_of_one_role_is_true(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ABBOT_DATA", str(folder / "data"))
    warning = "may do anything to the record"
    with bare() as house:
        use(monkeypatch, house)
        assert migrate.main([]) == 0
        assert warning not in capsys.readouterr().err
        monkeypatch.delenv("ABBOT_OWNER_DATABASE_URL")
        assert migrate.main([]) == 0, "there is nothing to do"
        assert capsys.readouterr().err == ""
        monkeypatch.setenv("ABBOT_DATABASE_URL", house.owner_url)
        assert migrate.main([]) == 0
        assert warning in capsys.readouterr().err
        use(monkeypatch, house)
        house.execute(f"GRANT {house.owner_role} TO {house.app_role}")
        assert migrate.main([]) == 0
        assert warning in capsys.readouterr().err


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
    with pytest.raises(CommandFailed, match="client programs of PostgreSQL 19,"):
        postgres_tools.for_dump(19)
    assert postgres_tools.for_restore(15, made_by=15).major == 15
    assert postgres_tools.for_restore(16, made_by=15).major == 16
    assert postgres_tools.for_restore(18, made_by=15).major == 18
    # Never could: whoever has all programs there are is told to take another server.
    for made_by, server in ((18, 15), (17, 16)):
        with pytest.raises(CommandFailed, match="of PostgreSQL 17 or later") as caught:
            postgres_tools.for_restore(server, made_by=made_by)
        assert "Install" not in str(caught.value)
    there.remove(postgres_tools.Tool(Path("/16"), 16))
    with pytest.raises(CommandFailed, match="client programs of PostgreSQL 16,"):
        postgres_tools.for_restore(15, made_by=16)
    there.remove(postgres_tools.Tool(Path("/15"), 15))
    # What 18 wrote would not get into the server that it is of.
    with pytest.raises(CommandFailed, match="client programs of PostgreSQL 15,"):
        postgres_tools.for_dump(15)
    there.clear()
    with pytest.raises(CommandFailed, match="client programs of PostgreSQL 18,"):
        postgres_tools.for_restore(18, made_by=17)


def test_what_a_later_pg_dump_wrote_is_not_for_an_early_server(folder: Path) -> None:
    """With the newest programs: what is said of PostgreSQL 17 and later is so."""
    newest = postgres_tools.newest("pg_dump")
    with bare() as old, bare() as new:
        server = backups.server_version(old.owner_url)
        if newest.major < 17 or server >= 17:
            pytest.skip("takes programs of PostgreSQL 17 and a server before that")
        dump = folder / "dump"
        postgres_tools.run(newest, old.owner_url, "--format=custom", f"--file={dump}")
        restores = {tool.major: tool for tool in postgres_tools._found("pg_restore")}
        for tool in restores.values():
            with pytest.raises(CommandFailed, match=r"transaction_timeout|unsupported version"):
                postgres_tools.run(tool, new.owner_url, "--exit-on-error", str(dump))


@pytest.mark.skipif(sys.platform != "linux", reason="takes a signal that only Linux sends")
def test_a_program_ends_with_us_however_we_end(tmp_path: Path) -> None:
    """Else a restore that was killed would go on, and a second try find a database that fills."""
    fake, noted = tmp_path / "pg_fake", tmp_path / "pid"
    fake.write_text(f"#!/bin/sh\necho $$ > {noted}.partial\nmv {noted}.partial {noted}\nsleep 60\n")
    fake.chmod(0o700)
    script = (
        "from pathlib import Path; from api.command.postgres_tools import Tool, run;"
        f"run(Tool(Path({str(fake)!r}), 18), 'postgresql://db.example/abbot')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(ROOT)}
    ) as ours:
        wait_for(noted.exists)
        pid = int(noted.read_text())
        assert Path(f"/proc/{pid}").exists()
        ours.kill()
    wait_for(lambda: not Path(f"/proc/{pid}").exists())


def wait_for(happens: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not happens():
        assert time.monotonic() < until
        time.sleep(0.02)


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
