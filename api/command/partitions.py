"""`./abbot partitions`: the months that the record is divided into.

    ./abbot partitions                          what there is
    ./abbot partitions make [--months N]        have the next N months' made (workers do, too)
    ./abbot partitions detach events_2026_01    take a month that is over out of the record
    ./abbot partitions attach events_2026_01    make it part of the record again

A detached month is a table of its own, to be archived with pg_dump; nothing is deleted. Needs the
role that owns the tables.
"""

from __future__ import annotations

import argparse

import psycopg

from api.command import database
from api.command.console import CommandFailed, complain, say
from api.command.supervisor import Stopping
from eventstore.partitions import MONTHS_AHEAD, PartitionError, Partitions


def main(argv: list[str]) -> int:
    """Run the command; its exit code."""
    options = _parser().parse_args(argv)
    try:
        with (
            database.reached() as settings,
            psycopg.connect(
                settings.owner_database_url, autocommit=True, connect_timeout=10
            ) as owner,
        ):
            _run(Partitions(owner), options)
    except Stopping:
        return 130
    except (CommandFailed, PartitionError) as error:
        complain(str(error))
        return 1
    except psycopg.errors.InsufficientPrivilege:
        complain("ABBOT_OWNER_DATABASE_URL must name the role that owns the tables")
        return 1
    except psycopg.Error as error:
        complain(f"the database cannot do that now: {error.sqlstate or 'it cannot be reached'}")
        return 1
    return 0


def _run(partitions: Partitions, options: argparse.Namespace) -> None:
    if options.action == "make":
        for made in partitions.make(options.months):
            say(f"{made.name}: {made.state}")
    elif options.action == "detach":
        partitions.detach(options.name)
        say(f"{options.name} is no longer part of the record; its events are in that table")
    elif options.action == "attach":
        partitions.attach(options.name)
        say(f"{options.name} is part of the record")
    else:
        for partition in partitions.all():
            state = "attached" if partition.attached else "archived"
            told = "" if partition.events is None else f"   about {partition.events:,} events"
            print(f"{partition.name:<16} {state:<9} {partition.size / 1e6:>12.1f} MB{told}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./abbot partitions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="what there is")
    make = actions.add_parser("make", help="have the next months' made")
    make.add_argument("--months", type=int, default=MONTHS_AHEAD, choices=range(25), metavar="N")
    for name, does in (("detach", "take a month out of"), ("attach", "put a month back into")):
        action = actions.add_parser(name, help=f"{does} the record")
        action.add_argument("name", metavar="PARTITION")
    return parser
