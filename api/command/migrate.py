"""`abbot migrate`: bring the database's tables up to date.

Works as the role of ABBOT_OWNER_DATABASE_URL, or of ABBOT_DATABASE_URL where only that is set, and
without them on the embedded database: the one of a running `abbot up`, or started for the occasion.
"""

from __future__ import annotations

import argparse
import os

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.exc import ProgrammingError

from api.command import database, servers
from api.command.console import CommandFailed, complain, say
from api.command.supervisor import Stopping
from migrations import run


def main(argv: list[str]) -> int:
    """Run the command; return its exit code."""
    argparse.ArgumentParser(prog="./abbot migrate", description=__doc__).parse_args(argv)
    try:
        with database.reached(make=True) as settings:
            upgrade(settings.owner_database_url, settings.database_url)
            servers.warn_of_one_role(settings)
    except Stopping:
        return 130
    except CommandFailed as error:
        complain(str(error))
        return 1
    return 0


def upgrade(owner_url: str, application_url: str) -> None:
    """Bring the tables up to date and give the application its rights; raises CommandFailed."""
    role = conninfo_to_dict(application_url).get("user") or os.environ.get("PGUSER")
    if not role:
        raise CommandFailed("ABBOT_DATABASE_URL names no user, and the user gets the rights")
    try:
        run.upgrade(owner_url, str(role), application_url)
    except run.MigrationError as error:
        raise CommandFailed(str(error)) from None
    except psycopg.OperationalError as error:
        raise CommandFailed(f"{database.UNREACHABLE}: {error}") from None
    except (psycopg.errors.InsufficientPrivilege, ProgrammingError) as error:
        if not isinstance(getattr(error, "orig", error), psycopg.errors.InsufficientPrivilege):
            raise
        raise CommandFailed(database.OWNERS) from None
    say("the database's tables are up to date")
