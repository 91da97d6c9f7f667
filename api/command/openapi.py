"""`./abbot openapi`: write `openapi.yaml` from the code, or check that it is fresh."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from api import documentation
from api.app import create_app

PATH = Path(__file__).resolve().parents[2] / "openapi.yaml"


def text() -> str:
    """The document, as the file should have it. Needs no server and no settings."""
    return documentation.to_yaml(documentation.openapi(create_app()))


def main(argv: list[str]) -> int:
    """Write the file; with `--check` only tell whether it is fresh (status 1 if it is not)."""
    parser = argparse.ArgumentParser(prog="abbot openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether it is fresh")
    parser.add_argument("--output", type=Path, default=PATH, help="another file to write")
    arguments = parser.parse_args(argv)
    fresh = text()
    if arguments.check:
        if arguments.output.exists() and arguments.output.read_text("utf-8") == fresh:
            return 0
        print(f"{arguments.output.name} is stale: run ./abbot openapi", file=sys.stderr)
        return 1
    arguments.output.write_text(fresh, "utf-8")
    return 0
