"""The arguments of a measurement, and what the help of each says alike."""

from __future__ import annotations

import argparse
from typing import Any

GOALS = """\
A goal is what a figure has to reach on a quiet machine with the defaults; a shorter run, or one
beside other work, may miss it, which is told (MISSED) and is no failure: the exit code is 0.
"""


class Arguments(argparse.ArgumentParser):
    """Shows the default of each option after its help, and at the end what goals are."""

    def __init__(self, name: str, description: str | None) -> None:
        super().__init__(
            prog=f"./abbot bench {name}",
            description=description,
            epilog=GOALS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )

    def add_argument(self, *names: Any, **given: Any) -> argparse.Action:
        default, said = given.get("default"), given.get("help")
        if default is not None and said != argparse.SUPPRESS and names[0] != "-h":
            values = default if isinstance(default, list | tuple) else [default]
            given["help"] = f"{said} ({' '.join(map(str, values))})"
        return super().add_argument(*names, **given)
