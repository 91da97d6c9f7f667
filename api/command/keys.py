"""`./abbot keys`: the keys that sign receipts and exports.

./abbot keys            list them
./abbot keys rotate     sign with a new key from now on; the old ones stay in the JWKS
"""

from __future__ import annotations

import argparse

from api.command.console import CommandFailed, complain, say
from api.command.servers import read_settings
from eventstore.errors import Unavailable
from eventstore.pool import open_pool
from eventstore.settings import SettingsError
from eventstore.signing import Signer, rotate


def main(argv: list[str]) -> int:
    """Run the command; 0 when done, 1 when it cannot be done."""
    parser = argparse.ArgumentParser(
        prog="./abbot keys",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("action", nargs="?", choices=("list", "rotate"), default="list")
    action = parser.parse_args(argv).action
    try:
        settings = read_settings()
        if not settings.database_url:
            raise CommandFailed("no database: start `./abbot up`, or set ABBOT_DATABASE_URL.")
        with open_pool(settings.database_url, 1, application="abbot-keys") as pool:
            if action == "rotate":
                say(f"the key {rotate(pool, settings.signing_keys)} signs from now on")
            else:
                _list(Signer(pool, settings.signing_keys))
    except (SettingsError, CommandFailed) as error:
        complain(str(error))
        return 1
    except Unavailable:
        complain("the database cannot be reached")
        return 1
    return 0


def _list(signer: Signer) -> None:
    for key in signer.listed():
        until = f"retired {key.retired_at}" if key.retired_at else "in use"
        print(f"{key.kid}  made {key.created_at}  {until}")
