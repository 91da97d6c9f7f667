"""`./abbot app`: register apps and make or revoke their keys.

./abbot app create NAME   register an app; its first key is shown this once. With --sandbox it is
                          one for tests, which meets no real player
./abbot app key APP       one more key for the app with this id, to change keys without a gap
./abbot app revoke ID     revoke a key, or an app with all its keys and tokens; its players stay
./abbot app list          apps and their keys in force
"""

from __future__ import annotations

import argparse
import re

from api import names
from api.auth import new_key, token_hash
from api.command import database
from api.command.console import CommandFailed, complain, say
from eventstore.apps import Apps

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def main(argv: list[str]) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="./abbot app", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    actions = parser.add_subparsers(dest="action", required=True)
    create = actions.add_parser("create")
    create.add_argument("name", metavar="NAME", help="its name, for people")
    create.add_argument("--sandbox", action="store_true", help="all its players are for tests")
    actions.add_parser("key").add_argument("id", metavar="APP", help="an app's id")
    actions.add_parser("revoke").add_argument("id", metavar="ID", help="an app's or a key's id")
    actions.add_parser("list")
    arguments = parser.parse_args(argv)
    try:
        _run(arguments)
    except CommandFailed as error:
        complain(str(error))
        return 1
    return 0


def _run(arguments: argparse.Namespace) -> None:
    with database.connected("abbot-app") as (_, pool):
        apps = Apps(pool)
        if arguments.action == "create":
            _create(apps, arguments.name, arguments.sandbox)
        elif arguments.action == "key":
            key = new_key()
            key_id = apps.add_key(_id(arguments.id), token_hash(key))
            if key_id is None:
                raise CommandFailed("there is no app with this id.")
            say(f"key {key_id}, shown this once:\n{key}")
        elif arguments.action == "revoke":
            if not apps.revoke(_id(arguments.id)):
                raise CommandFailed("there is no app and no key with this id.")
            say("revoked.")
        else:
            for app_id, name, key_id, created_at, sandbox in apps.list():
                tests = "  (sandbox)" if sandbox else ""
                say(f"{app_id}  {name}{tests}  key {key_id} of {created_at}")


def _create(apps: Apps, given: str, sandbox: bool) -> None:
    try:
        name = names.normalised(given)
    except ValueError as error:
        raise CommandFailed(f"the name cannot be used: {error}") from None
    key = new_key()
    app = apps.create(name, token_hash(key), sandbox=sandbox)
    say(f"app {app.app_id} ({name}), key {app.key_id}, shown this once:\n{key}")


def _id(text: str) -> str:
    if not _ID.fullmatch(text.lower()):
        raise CommandFailed("name an id; `./abbot app list` shows them.")
    return text.lower()
