"""The embedded PostgreSQL: who gets in, and what an earlier run may have left."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from api.command import credentials, processes, run_as, supervisor
from api.command.console import CommandFailed
from api.command.embedded_postgres import EmbeddedPostgres
from api.command.ports import Ports
from api.command.run_as import RunAs
from api.command.servers import STOPS, Servers
from api.command.supervisor import Supervisor

CHECKOUT = Path(__file__).resolve().parents[3]


@contextmanager
def server(data: Path) -> Iterator[EmbeddedPostgres]:
    with Supervisor(data) as watcher:
        watcher.reap_earlier_run(STOPS)
        yield Servers(data, watcher).start_postgres(durable=False)


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """A data folder whose path is too long for a socket, with a space and an umlaut."""
    # Not in pytest's own folders, which keep everyone else out.
    outer = Path(tempfile.mkdtemp(prefix="abbot-"))
    outer.chmod(0o711)
    folder = outer / "lang" / ("l" * 60) / "für PostgreSQL"
    folder.mkdir(parents=True)
    for parent in (folder, folder.parent, folder.parent.parent):
        parent.chmod(0o711)
    with server(folder) as postgres, psycopg.connect(postgres.owner_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'yes' AS answer")
    yield folder
    shutil.rmtree(outer)


def cluster(data: Path) -> Path:
    return data / "postgres" / "data"


def answer(url: str, query: str) -> object:
    with psycopg.connect(url) as connection:
        row = connection.execute(query).fetchone()  # type: ignore[arg-type]
        return row[0] if row else None


def test_only_passwords_let_in_and_the_application_may_nothing_by_itself(data: Path) -> None:
    with server(data) as postgres:
        for user in ("postgres", "abbot_owner", "abbot_app"):
            for password in ("", " password=wrong"):
                with pytest.raises(psycopg.OperationalError):
                    psycopg.connect(
                        f"host=127.0.0.1 port={postgres.port} user={user} dbname=abbot{password}",
                        passfile="/dev/null",
                    )
        assert answer(postgres.owner_url, "SELECT answer FROM kept") == "yes"
        for refused in ("SELECT answer FROM kept", "CREATE TABLE x ()", "CREATE TEMP TABLE x ()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                answer(postgres.application_url, refused)
        for url in (postgres.owner_url, postgres.application_url):
            assert answer(url, "SELECT rolsuper FROM pg_roles WHERE rolname = user") is False
        assert answer(postgres.superuser_url, "SHOW data_checksums") == "on"
        assert answer(postgres.superuser_url, "SHOW listen_addresses") == "127.0.0.1"
        assert answer(postgres.superuser_url, "SHOW unix_socket_directories") == ""
        assert answer(postgres.superuser_url, "SHOW server_encoding") == "UTF8"


def test_nothing_is_open_to_others(data: Path) -> None:
    for path in (cluster(data), data / "postgres" / "socket", data / "logs", data / "run"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700, path
    assert stat.S_IMODE((data / "secrets.json").stat().st_mode) == 0o600


def test_short_path_gets_a_socket_that_only_its_user_can_reach() -> None:
    folder = Path(tempfile.mkdtemp(prefix="abbot-", dir="/tmp"))
    folder.chmod(0o711)
    try:
        with server(folder) as postgres:
            path = folder / "postgres" / "socket" / f".s.PGSQL.{postgres.port}"
            assert path.is_socket()
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(host=str(path.parent), port=postgres.port, user="postgres")
    finally:
        shutil.rmtree(folder)


def test_data_of_another_major_version_is_left_alone(data: Path) -> None:
    version = cluster(data) / "PG_VERSION"
    real = version.read_text()
    version.write_text("17\n")
    try:
        with pytest.raises(CommandFailed, match="made by PostgreSQL 17"), server(data):
            pass
        assert version.read_text() == "17\n"
    finally:
        version.write_text(real)


def test_lost_passwords_are_made_anew(data: Path) -> None:
    lost = (data / "secrets.json").read_text()
    (data / "secrets.json").unlink()
    with server(data) as postgres:
        assert answer(postgres.owner_url, "SELECT answer FROM kept") == "yes"
    assert (data / "secrets.json").read_text() != lost


def test_killed_server_recovers_and_its_stale_pid_file_is_no_obstacle(data: Path) -> None:
    with server(data):
        left = processes.read_pid_file(data / "run" / "postgres.pid")
        assert left is not None
        os.kill(left, signal.SIGKILL)
    path = cluster(data) / "postmaster.pid"
    lines = path.read_text().splitlines()
    # As if the id had been given to another process of the same user since.
    path.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
    with server(data) as postgres:
        assert answer(postgres.owner_url, "SELECT answer FROM kept") == "yes"


def test_server_left_by_a_killed_run_is_ended_first(data: Path) -> None:
    with server(data):
        pid_file = data / "run" / "postgres.pid"
        left = processes.read_pid_file(pid_file)
        pid_file.unlink()
        assert left is not None
        with server(data) as second:
            assert processes.identity(left) is None
            assert answer(second.owner_url, "SELECT answer FROM kept") == "yes"


def test_half_made_data_is_made_again(data: Path) -> None:
    kept = data / "postgres" / "kept"
    cluster(data).rename(kept)
    partial = data / "postgres" / "data.partial"
    (partial / "base").mkdir(parents=True)
    try:
        with server(data) as postgres:
            assert answer(postgres.superuser_url, "SELECT 1") == 1
        assert not partial.exists()
    finally:
        shutil.rmtree(cluster(data))
        kept.rename(cluster(data))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_data_is_named(data: Path) -> None:
    (data / "postgres").chmod(0)
    try:
        with pytest.raises(CommandFailed, match="Correct the permissions"), server(data):
            pass
    finally:
        (data / "postgres").chmod(0o711)


def test_slow_start_is_waited_for(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server that isn't ready after a while is asked about, not given up."""
    monkeypatch.setattr(supervisor, "TELL_AFTER", 0.5)
    with Supervisor(data) as watcher:
        postgres = EmbeddedPostgres(data, *_parts(data))
        postgres.prepare(CHECKOUT)
        service = postgres.service()
        ready, begun = service.ready, time.monotonic()
        service.ready = lambda pid: ready(pid) and time.monotonic() - begun > 2
        watcher.start(service)
    assert "still waiting for postgres: " in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() != 0, reason="how root gets around being root")
def test_root_runs_it_as_someone_else(data: Path, tmp_path: Path) -> None:
    binaries = EmbeddedPostgres(tmp_path, *_parts(data))._install
    dropped = RunAs(user=run_as._unused_ids())
    with pytest.raises(KeyError):
        pwd.getpwuid(dropped.owner[0])
    open_folder = data / "elsewhere"
    open_folder.mkdir(mode=0o711)
    if run_as._obstacle(dropped.named(), open_folder, binaries) is None:
        assert run_as.choose(open_folder / "data", binaries, Path("/")) == dropped
        with server(open_folder):
            assert (open_folder / "postgres" / "data").stat().st_uid == dropped.owner[0]

    closed_folder = tmp_path / "closed"
    closed_folder.mkdir(mode=0o700)
    inside = RunAs(inside=run_as._ordinary_ids())
    if sys.platform != "linux" or run_as._obstacle(inside, closed_folder, binaries) is not None:
        with pytest.raises(CommandFailed, match="as an ordinary user"):
            run_as.choose(closed_folder / "data", binaries, Path("/"))
        return
    assert run_as.choose(closed_folder / "data", binaries, Path("/")) == inside
    for _ in range(2):
        with server(closed_folder) as postgres:
            assert answer(postgres.superuser_url, "SELECT 1") == 1
            assert (closed_folder / "postgres" / "data").stat().st_uid == 0
    assert stat.S_IMODE(closed_folder.stat().st_mode) == 0o700


def _parts(data: Path) -> tuple[Ports, credentials.Credentials]:
    return Ports(data / "ports.json"), credentials.load(data / "secrets.json")[0]
