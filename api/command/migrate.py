"""`abbot migrate`: bring the database's tables up to date.

Works on ABBOT_OWNER_DATABASE_URL (or ABBOT_DATABASE_URL) where that is set, else on the embedded
database: the one of a running `abbot up`, or started for the occasion.
"""

from __future__ import annotations

import argparse
import os

import psycopg
from psycopg.conninfo import conninfo_to_dict

from api.command import running, servers
from api.command.console import CommandFailed, complain, say
from api.command.supervisor import Stopping, Supervisor
from migrations import run


def main(argv: list[str]) -> int:
    """Run the command; return its exit code."""
    argparse.ArgumentParser(prog="abbot migrate", description=__doc__).parse_args(argv)
    try:
        settings = servers.read_settings()
        if not settings.database_url:
            running.apply(settings.data_dir)
            settings = servers.read_settings()
        if settings.database_url:
            servers.warn_of_one_role(settings)
            _upgrade(settings.owner_database_url, settings.database_url)
            return 0
        lock = servers.lock(settings.data_dir)
        try:
            with Supervisor(settings.data_dir) as supervisor:
                supervisor.reap_earlier_run(servers.STOPS)
                postgres = servers.Servers(settings.data_dir, supervisor).start_postgres()
                _upgrade(postgres.owner_url, postgres.application_url)
        finally:
            lock.release()
    except Stopping:
        return 130
    except CommandFailed as error:
        complain(str(error))
        return 1
    return 0


def _upgrade(owner_url: str, application_url: str) -> None:
    role = conninfo_to_dict(application_url).get("user") or os.environ.get("PGUSER")
    if not role:
        raise CommandFailed("ABBOT_DATABASE_URL names no user, and the user gets the rights")
    try:
        run.upgrade(owner_url, str(role), application_url)
    except run.MigrationError as error:
        raise CommandFailed(str(error)) from None
    except psycopg.OperationalError as error:
        raise CommandFailed(f"the database cannot be reached: {error}") from None
    say("the database's tables are up to date")
