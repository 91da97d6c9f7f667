"""The few lines that commands print for people."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TextIO


class CommandFailed(Exception):
    """The command cannot go on; the text is for the person who called it."""


def say(text: str) -> None:
    """Print a line of progress. A closed terminal or pipe is no reason to stop."""
    _print(text, sys.stdout)


def complain(text: str) -> None:
    """Print what went wrong."""
    _print(text, sys.stderr)


def _print(text: str, stream: TextIO) -> None:
    with suppress(OSError, ValueError):
        print(f"abbot: {text}", file=stream, flush=True)
