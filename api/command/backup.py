"""`./abbot backup DIR`: everything that is in the database, in a folder of its own.

Games may go on meanwhile: the dump, made by pg_dump, is of one instant. DIR must not exist yet, or
be empty; only its owner can read what is in it, as that holds the running games' secrets. The
signing keys and the key of webhooks are not in it: keep their folder as well. Takes the role that
owns the tables. An audit of everything follows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
from pathlib import Path
from typing import Any

import psycopg

from api.command import audit, database, postgres_tools
from api.command.console import CommandFailed, complain, say
from api.command.supervisor import Stopping
from eventstore import backups, sealing
from eventstore.errors import Unavailable
from eventstore.settings import Settings, SettingsError
from migrations import run

DUMP = "abbot.dump"
MANIFEST = "manifest.json"


def main(argv: list[str]) -> int:
    """Run the command: 0 when the backup is there and what it is of is right."""
    parser = argparse.ArgumentParser(
        prog="./abbot backup",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where to put it")
    parser.add_argument("--no-audit", action="store_true", help="leave the audit out")
    options = parser.parse_args(argv)
    try:
        with database.reached(owner=True) as settings:
            manifest = backup(settings, options.folder)
            say(
                f"{manifest['content']['games']:,} games with {manifest['content']['events']:,} "
                f"events are in {options.folder / DUMP} ({manifest['bytes']:,} bytes)"
            )
            say(
                "not in it are the signing keys and the key of webhooks "
                f"({sealing.FILE}): keep {settings.signing_keys} as well, elsewhere"
            )
            for partition in backups.elsewhere(settings.owner_database_url):
                say(f"{partition} is not in it, as it is in its archive: keep that file as well")
            return 0 if options.no_audit else audit.of(settings)
    except Stopping:
        return 130
    except (CommandFailed, SettingsError) as error:
        complain(str(error))
    except (Unavailable, psycopg.OperationalError):
        complain(database.UNREACHABLE)
    return 1


def backup(settings: Settings, folder: Path) -> dict[str, Any]:
    """Dump the database into `folder`; what is written beside the dump. Raises CommandFailed."""
    url = settings.owner_database_url
    dump = _make(folder) / DUMP
    partial = dump.with_suffix(".partial")
    tool = postgres_tools.for_dump(backups.server_version(url))
    try:
        with backups.snapshot(url) as (snapshot, content):
            say(f"dumping {content.games:,} games with {content.events:,} events")
            postgres_tools.dump(tool, url, partial, f"--snapshot={snapshot}")
        partial.replace(dump)
    finally:
        partial.unlink(missing_ok=True)
    manifest = {
        "revision": run.current(url),
        "pg_dump": tool.major,
        "bytes": dump.stat().st_size,
        "sha256": digest(dump),
        "content": content._asdict(),
    }
    descriptor = os.open(folder / MANIFEST, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        json.dump(manifest, file, indent=2)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    return manifest


def digest(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _make(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise CommandFailed(f"{folder} is not empty; a backup gets a folder of its own")
        folder.chmod(0o700)
    except OSError as error:
        raise CommandFailed(f"{folder} cannot be used: {error.strerror}") from None
    return folder
