"""The embedded servers of a data folder, started under a supervisor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import LiteralString

import psycopg

from api.command import credentials, embedded_postgres, embedded_valkey, processes
from api.command.console import CommandFailed, complain
from api.command.embedded_postgres import EmbeddedPostgres
from api.command.embedded_valkey import EmbeddedValkey
from api.command.locks import Busy, Lock
from api.command.ports import Ports
from api.command.supervisor import Supervisor
from eventstore.settings import ROOT, Settings, SettingsError

STOPS: dict[str, processes.Escalation] = {
    "valkey": embedded_valkey.STOP,
    "postgres": embedded_postgres.STOP,
}

_OWNS: LiteralString = """
SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('events')
"""


class Servers:
    """Starts the servers that have their files in `data`, which must be locked for us."""

    def __init__(self, data: Path, supervisor: Supervisor) -> None:
        self._data = data
        self._supervisor = supervisor
        self._ports = Ports(data / "ports.json")
        self._credentials, self._new_passwords = credentials.load(data / "secrets.json")

    def start_postgres(self, *, durable: bool = True, connections: int = 100) -> EmbeddedPostgres:
        """Start the database and have its roles; raises CommandFailed or Stopping."""
        postgres = EmbeddedPostgres(
            self._data, self._ports, self._credentials, durable=durable, connections=connections
        )
        postgres.prepare(ROOT, new_passwords=self._new_passwords)
        self._supervisor.start(postgres.service())
        postgres.set_up()
        return postgres

    def start_valkey(self) -> EmbeddedValkey:
        """Start the broker; raises CommandFailed or Stopping."""
        valkey = EmbeddedValkey(self._data, self._ports, self._credentials)
        self._supervisor.start(valkey.service())
        return valkey


def read_settings() -> Settings:
    """The settings, with a missing database allowed; raises CommandFailed."""
    try:
        return Settings.from_env(database_required=False)
    except SettingsError as error:
        raise CommandFailed(f"a setting is wrong: {error}") from None


def lock(data: Path) -> Lock:
    """Take the data folder for this process alone; raises CommandFailed if another has it."""
    taken = Lock(data / "up.lock")
    try:
        data.mkdir(parents=True, exist_ok=True)
        taken.acquire()
        _check_owner(data)
    except Busy as busy:
        who = f"process {busy.pid}" if busy.pid else "another process"
        raise CommandFailed(
            f"{who} already runs Abbot on the data in {data}. Stop it first, or name another "
            "folder with ABBOT_DATA (and another port with ABBOT_PORT)."
        ) from None
    except OSError as error:
        raise CommandFailed(
            f"the data folder {data} cannot be used: {error.strerror}. Make it writable or name "
            "another one with ABBOT_DATA."
        ) from None
    return taken


def _check_owner(data: Path) -> None:
    """Root may have called us before, and what it left would stop us one by one."""
    me = os.geteuid()
    if me == 0:
        return
    for folder in (data, data / "run", data / "logs"):
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.lstat().st_uid != me and path.name != "venv":
                raise CommandFailed(
                    f"{path} belongs to user {path.lstat().st_uid}, probably from a call with "
                    f"sudo. Make it yours, sudo chown -R {me} '{data}', or name another folder "
                    "with ABBOT_DATA."
                )


def warn_of_one_role(settings: Settings) -> None:
    """Say so where the application has the owner's rights on the tables."""
    try:
        with psycopg.connect(settings.database_url, connect_timeout=10) as connection:
            owns = connection.execute(_OWNS).fetchone()
    except psycopg.Error:
        return  # Whoever starts the application hears of it.
    if owns == (True,):
        complain(
            "the role of ABBOT_DATABASE_URL has the rights of the tables' owner, so the "
            "application may do anything to the record. Give it a role of its own, and name the "
            "owner's in ABBOT_OWNER_DATABASE_URL."
        )
