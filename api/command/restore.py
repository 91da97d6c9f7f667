"""`./abbot restore DIR`: put a backup of `./abbot backup` into an empty database.

The database is that of ABBOT_OWNER_DATABASE_URL and ABBOT_DATABASE_URL, or the embedded one, which
is made if there is none yet. One that holds anything is left alone. All of the backup gets in, or
nothing; then the tables are brought up to date, and an audit of everything follows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from api.command import audit, database, migrate, postgres_tools
from api.command.backup import DUMP, MANIFEST, digest
from api.command.console import CommandFailed, complain, say
from api.command.supervisor import Stopping
from eventstore import backups, sealing
from eventstore.errors import Unavailable
from eventstore.settings import Settings, SettingsError
from eventstore.signing import KeyFolder


def main(argv: list[str]) -> int:
    """Run the command: 0 when the backup is restored and all in it is right."""
    parser = argparse.ArgumentParser(
        prog="./abbot restore",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("folder", type=Path, metavar="DIR", help="where the backup is")
    parser.add_argument("--no-audit", action="store_true", help="leave the audit out")
    options = parser.parse_args(argv)
    try:
        manifest = read(options.folder)
        with database.reached(make=True) as settings:
            restore(settings, options.folder, manifest)
            code = 0 if options.no_audit else audit.of(settings)
            for missing in _missing_keys(settings):
                say(missing)
            return code
    except Stopping:
        return 130
    except (CommandFailed, SettingsError) as error:
        complain(str(error))
    except (Unavailable, psycopg.OperationalError):
        complain(database.UNREACHABLE)
    return 1


def read(folder: Path) -> dict[str, Any]:
    """What was written beside the dump; CommandFailed unless the dump is the one it tells of."""
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
        expected, made_by = str(manifest["sha256"]), int(manifest["pg_dump"])
        backups.Content(**manifest["content"])
        found = digest(folder / DUMP)
    except OSError as error:
        raise CommandFailed(f"{error.filename} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise CommandFailed(f"{folder / MANIFEST} is not that of a backup") from None
    if found != expected:
        raise CommandFailed(f"{folder / DUMP} is not what the backup wrote: it is damaged")
    return {**manifest, "pg_dump": made_by}


def restore(settings: Settings, folder: Path, manifest: dict[str, Any]) -> None:
    """Restore into the database of `settings`. Raises CommandFailed, and then nothing is in it."""
    url = settings.owner_database_url
    if not backups.is_empty(url):
        raise CommandFailed(
            "the database is not empty, and is left alone. Restore into a new one: name another "
            "folder with ABBOT_DATA, or an empty database with ABBOT_OWNER_DATABASE_URL and "
            "ABBOT_DATABASE_URL. (After a restore that was broken off: `./abbot migrate`, then "
            "`./abbot audit --all`.)"
        )
    if not backups.may_create(url):
        raise CommandFailed(database.OWNERS)
    tool = postgres_tools.for_restore(backups.server_version(url), manifest["pg_dump"])
    say("restoring")
    postgres_tools.restore(tool, url, folder / DUMP)
    restored = backups.content(url)
    expected = backups.Content(**manifest["content"])
    if restored != expected:
        raise CommandFailed(f"{restored} is in the database now, and the backup held {expected}")
    migrate.upgrade(settings.owner_database_url, settings.database_url)
    backups.analyze(url)
    say(
        f"{restored.games:,} games with {restored.events:,} events are back; the feed goes on "
        f"after position {restored.position:,}"
    )


def _missing_keys(settings: Settings) -> Iterator[str]:
    """What is to be done about keys that were kept beside the backup and are not there yet."""
    folder = settings.signing_keys
    sealed_with = backups.webhook_keys(settings.owner_database_url)
    there = (folder / sealing.FILE).exists()
    if sealed_with and not (there and sealing.Sealer(folder).key_id in sealed_with):
        yield (
            f"the {sealing.FILE} that webhooks' secrets are sealed with is not in {folder}: copy "
            "the kept one there before `up`, or their owners have to make new secrets"
        )
    if not KeyFolder(folder).can_sign():
        yield (
            f"no signing keys in {folder}: copy the kept ones there before `up`, or a new key "
            "signs that nobody has yet"
        )
