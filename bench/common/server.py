"""A PostgreSQL of its own for a measurement, in a folder that goes away with it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from api.command import embedded_postgres, servers
from api.command.supervisor import Supervisor
from eventstore.settings import data_dir
from migrations.run import upgrade


@dataclass(frozen=True, slots=True)
class Server:
    """A running server with a migrated database."""

    owner_url: str
    app_url: str
    admin_url: str
    folder: Path

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as superuser."""
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def set(self, **settings: str) -> None:
        """Change settings of the whole server, for what connects from now on."""
        with psycopg.connect(self.admin_url, autocommit=True) as connection:
            for name, value in settings.items():
                connection.execute(
                    sql.SQL("ALTER SYSTEM SET {} = {}").format(
                        sql.Identifier(name), sql.Literal(value)
                    )
                )
            connection.execute("SELECT pg_reload_conf()")


@contextlib.contextmanager
def server(connections: int = 100) -> Iterator[Server]:
    """An embedded server with its defaults, durable as in production."""
    folder = data_dir() / "bench" / "database"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        with Supervisor(folder) as supervisor:
            postgres = servers.Servers(folder, supervisor).start_postgres(connections=connections)
            upgrade(postgres.owner_url, embedded_postgres.APPLICATION, postgres.application_url)
            yield Server(
                postgres.owner_url,
                postgres.application_url,
                make_conninfo(postgres.superuser_url, dbname=embedded_postgres.DATABASE),
                folder,
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
