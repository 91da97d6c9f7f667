"""`./abbot keys`: the keys that sign receipts and exports.

./abbot keys            list them
./abbot keys rotate     sign with a new key from now on; the old ones stay in the JWKS
"""

from __future__ import annotations

import argparse

from api.command import database
from api.command.console import CommandFailed, complain, say
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
        with database.connected("abbot-keys") as (settings, pool):
            if action == "rotate":
                say(f"the key {rotate(pool, settings.signing_keys)} signs from now on")
            else:
                _list(Signer(pool, settings.signing_keys))
    except (SettingsError, CommandFailed) as error:
        complain(str(error))
        return 1
    return 0


def _list(signer: Signer) -> None:
    for key in signer.listed():
        until = f"retired {key.retired_at}" if key.retired_at else "in use"
        print(f"{key.kid}  made {key.created_at}  {until}")
