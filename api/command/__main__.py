"""Entry of `./abbot`: picks the subcommand, makes the environment, runs the command in it.

The launcher runs this file twice: first with the system's Python, which makes the environment
(standard library only), then, in its place, with the environment's own, which tells of settings
that are none and imports the subcommand's module and no other.
"""

from __future__ import annotations

import importlib
import os
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from api.command import environment  # noqa: E402  (the path has to be set first)


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: `module` has ``main(argv) -> exit code``."""

    module: str
    summary: str
    with_tests: bool = False
    """Whether its environment holds what only the tests need."""
    uses_running: bool = False
    """Whether it works on the servers of a running `abbot up` where no URL is set."""

    def tests_wanted(self, arguments: list[str]) -> bool:
        """Whether it needs what only the tests need, for these arguments: help does not."""
        return self.with_tests and not {"-h", "--help"} & set(arguments)


COMMANDS = {
    "up": Command("api.command.up", "start everything and keep it running until Ctrl-C"),
    "test": Command("api.command.test", "run the whole test suite (--long: all of it)", True),
    "migrate": Command("api.command.migrate", "bring the database's tables up to date"),
    "partitions": Command("api.command.partitions", "the record's months: make, archive, put back"),
    "demo": Command(
        "api.command.demo",
        "play a match of each game against the running server",
        uses_running=True,
    ),
    "verify": Command("api.command.verify", "check an exported record, offline"),
    "keys": Command(
        "api.command.keys", "list or rotate the keys that sign receipts", uses_running=True
    ),
    "grant": Command(
        "api.command.grant",
        "make a player an auditor or an admin, or no longer (--revoke)",
        uses_running=True,
    ),
    "app": Command(
        "api.command.app", "register apps, make and revoke their keys", uses_running=True
    ),
    "audit": Command("api.command.audit", "check the record of a game, or of all (--all)"),
    "rebuild": Command("api.command.rebuild", "make summaries or standings anew from the record"),
    "backup": Command("api.command.backup", "dump the database into a folder, then audit"),
    "restore": Command("api.command.restore", "put a backup into an empty database, then audit"),
    "simulate": Command("api.command.simulate", "play many games between bots and sum them up"),
    "bench": Command("api.command.bench", "measure: speed, strength of the bots"),
    "openapi": Command("api.command.openapi", "write openapi.yaml from the code"),
    "rules": Command("api.command.rules", "write docs/rules.md from the code"),
}


def main(argv: list[str]) -> int:
    """Run the subcommand that `argv` names; return the process's exit code."""
    name = argv[0] if argv else "help"
    if name in {"help", "-h", "--help"}:
        print(_help())
        return 0
    if name in {"version", "--version"}:
        print(f"abbot {_version()}")
        return 0
    command = COMMANDS.get(name)
    if command is None:
        print(f"abbot: there is no command {name!r}.\n\n{_help()}", file=sys.stderr)
        return 2
    try:
        environment.apply_dotenv()
        data = environment.data_dir()
        if not environment.inside(data):
            python = environment.ensure(data, with_tests=command.tests_wanted(argv[1:]))
            own = str(Path(__file__).resolve())
            os.execv(python, [str(python), "-X", "utf8", "-P", own, *argv])
    except environment.EnvironmentFailed as error:
        print(f"abbot: {error}", file=sys.stderr)
        return 1
    from eventstore import misspelled

    for sentence in misspelled.warnings():
        print(f"abbot: {sentence}", file=sys.stderr)
    if command.uses_running:
        from api.command import running

        running.apply(data)
    result: int = importlib.import_module(command.module).main(argv[1:])
    return result


def _version() -> str:
    with (ROOT / "pyproject.toml").open("rb") as file:
        version: str = tomllib.load(file)["project"]["version"]
    return version


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}  {command.summary}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "Abbot, referee and record keeper for Halleluja and Vallelujah.",
            "",
            "usage: ./abbot COMMAND [arguments]",
            "",
            *lines,
            "",
            "Settings are environment variables or lines in .env; .env.example lists them.",
        ]
    )


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        # Paths may hold what the terminal's encoding cannot show.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = main(sys.argv[1:])
        sys.stdout.flush()
        sys.exit(code)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # Who read our output has seen enough, as `head` does. Nothing may be written any more,
        # not even what the interpreter flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
