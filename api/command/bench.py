"""`./abbot bench NAME`: run a measurement of the folder `bench`.

It prints tables for people and, as the last line, one JSON object `{figure: {value, goal, holds}}`.
Arguments after the name are the measurement's own; `./abbot bench NAME --help` lists them.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from api.command.console import complain

FOLDER = Path(__file__).resolve().parents[2] / "bench"


def names() -> list[str]:
    """The measurements that there are."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


def main(argv: list[str]) -> int:
    """Run the measurement that `argv` names; its exit code, or 2 if there is none of that name."""
    parser = argparse.ArgumentParser(
        prog="./abbot bench",
        usage="%(prog)s [-h] NAME ...",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("name", metavar="NAME", help=f"one of {', '.join(names())}")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    rest.required = False  # else some releases of Python ask for it where NAME is missing
    arguments = parser.parse_args(argv)
    if arguments.name not in names():
        complain(f"there is no measurement {arguments.name!r}; there are {', '.join(names())}")
        return 2
    result: int = importlib.import_module(f"bench.{arguments.name}").main(arguments.arguments)
    return result
