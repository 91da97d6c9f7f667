"""`./abbot grant WHO SCOPE`: give a player's tokens a scope that nobody can give to themselves.

WHO is a player's id (then all tokens that may play get it) or a token's. `--revoke` takes it again,
from a player from all tokens. An auditor sees everything in games that they have no part in; an
admin can make auditors. What was granted is recorded.
"""

from __future__ import annotations

import argparse
import re

from api.auth import ADMIN, AUDIT
from api.command import database
from api.command.console import CommandFailed, complain, say
from eventstore.errors import AppsPlayer
from eventstore.players import Players

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def main(argv: list[str]) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="./abbot grant", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("who", metavar="WHO", help="a player's or a token's id")
    parser.add_argument("scope", metavar="SCOPE", choices=(AUDIT, ADMIN), help="audit or admin")
    parser.add_argument("--revoke", action="store_true", help="take the scope again")
    arguments = parser.parse_args(argv)
    try:
        _grant(arguments.who.lower(), arguments.scope, granted=not arguments.revoke)
    except CommandFailed as error:
        complain(str(error))
        return 1
    return 0


def _grant(who: str, scope: str, *, granted: bool) -> None:
    if not _ID.fullmatch(who):
        raise CommandFailed("name a player's or a token's id; `GET /v1/me` shows both.")
    with database.connected("abbot-grant") as (_, pool):
        try:
            changed = Players(pool).change_scope(who, scope, granted=granted)
        except AppsPlayer:
            raise CommandFailed("this is a player of an app, which would have it too.") from None
    if changed is None:
        raise CommandFailed("there is no player and no token with this id.")
    done = "granted to" if granted else "revoked from"
    if not changed:
        say(
            f"nothing to change: {scope} {'is already ' + done if granted else 'is not held by'} "
            f"{who}."
        )
    for token_id in changed:
        say(f"{scope} {done} the token {token_id}.")
