"""`./abbot partitions`: the months that the record is divided into.

    ./abbot partitions                             what there is
    ./abbot partitions make [--months N]           have the next N months' made (workers do, too)
    ./abbot partitions detach events_2026_01       take a month that is over out of the record
    ./abbot partitions archive events_2026_01 FILE write a detached month into a file
    ./abbot partitions drop events_2026_01 FILE    drop its table, if the file holds just the same
    ./abbot partitions restore FILE                bring the table back
    ./abbot partitions attach events_2026_01       make it part of the record again

A detached month is a table of its own, and stays so in its archive. Takes the
role that owns the tables.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import psycopg

from api.command import archives, database
from api.command.console import CommandFailed, complain, say
from api.command.supervisor import Stopping
from eventstore.partitions import MONTHS_AHEAD, Partition, PartitionError, Partitions

ALTERING = ("detach", "archive", "drop", "restore", "attach")
"""What only the role that owns the tables can do."""


def main(argv: list[str]) -> int:
    """Run the command; its exit code."""
    options = _parser().parse_args(argv)
    try:
        with (
            database.reached(owner=options.action in ALTERING) as settings,
            psycopg.connect(
                settings.owner_database_url, autocommit=True, connect_timeout=10
            ) as owner,
        ):
            _run(Partitions(owner), settings.owner_database_url, options)
    except Stopping:
        return 130
    except (CommandFailed, PartitionError) as error:
        complain(str(error))
        return 1
    except psycopg.Error as error:
        complain(f"the database cannot do that now: {error.sqlstate or 'it cannot be reached'}")
        return 1
    return 0


def _run(partitions: Partitions, url: str, options: argparse.Namespace) -> None:
    if options.action == "make":
        for made in partitions.make(options.months):
            say(f"{made.name}: {made.state}")
    elif options.action == "detach":
        partitions.detach(options.name)
        say(f"{options.name} is no longer part of the record; its events are in that table")
    elif options.action == "archive":
        archive = archives.write(partitions, url, options.name, options.file)
        say(f"{archive.contents.events:,} events of {options.name} are in {options.file}")
    elif options.action == "drop":
        archive = archives.read(options.file)
        if archive.name != options.name:
            raise CommandFailed(f"{options.file} is the archive of {archive.name}")
        partitions.drop(options.name, archive.contents)
        say(f"{options.name} is not here any more: keep {options.file}, which has its events")
    elif options.action == "restore":
        archive = archives.restore(partitions, url, options.file)
        say(f"{archive.contents.events:,} events are in {archive.name} again: attach it, and audit")
    elif options.action == "attach":
        partitions.attach(options.name)
        say(f"{options.name} is part of the record")
    else:
        for partition in partitions.all():
            print(_line(partition))


def _line(partition: Partition) -> str:
    if partition.size is None:
        return f"{partition.name:<16} not here: it is in its archive"
    state = "attached" if partition.attached else "detached"
    mega = partition.size >= 1_000_000
    size = f"{partition.size / 1e6:,.1f} MB" if mega else f"{partition.size / 1e3:,.0f} kB"
    told = "" if partition.events is None else f"   about {partition.events:,} events"
    return f"{partition.name:<16} {state:<9} {size:>15}{told}"


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
    for name, does in (
        ("detach", "take a month out of the record"),
        ("attach", "put a month back into the record"),
        ("archive", "write a detached month into a file"),
        ("drop", "drop the table of a detached month that an archive holds"),
    ):
        action = actions.add_parser(name, help=does)
        action.add_argument("name", metavar="PARTITION")
        if name in ("archive", "drop"):
            action.add_argument("file", type=Path, metavar="FILE", help="its archive")
    restore = actions.add_parser("restore", help="bring a month's table back from its archive")
    restore.add_argument("file", type=Path, metavar="FILE", help="its archive")
    return parser
