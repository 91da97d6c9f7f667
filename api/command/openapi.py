"""`./abbot openapi`: write `openapi.yaml` from the code, or check it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import yaml

from api import documentation
from api.app import create_app
from api.compatibility import breaking_changes

PATH = Path(__file__).resolve().parents[2] / "openapi.yaml"


def text() -> str:
    """The document, as the file should have it. Needs no server and no settings."""
    return documentation.to_yaml(documentation.openapi(create_app()))


def main(argv: list[str]) -> int:
    """Write the file; with `--check` only tell whether it is fresh (status 1 if it is not), with
    `--against` whether it breaks clients of another document (1 if it does)."""
    parser = argparse.ArgumentParser(prog="./abbot openapi", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether it is fresh")
    parser.add_argument("--against", type=Path, help="only tell what breaks since this document")
    parser.add_argument("--output", type=Path, default=PATH, help="another file to write")
    arguments = parser.parse_args(argv)
    if arguments.against is not None:
        return _compare(arguments.against)
    fresh = text()
    if arguments.check:
        if arguments.output.exists() and arguments.output.read_text("utf-8") == fresh:
            return 0
        print(f"{arguments.output.name} is stale: run ./abbot openapi", file=sys.stderr)
        return 1
    arguments.output.write_text(fresh, "utf-8")
    return 0


def _compare(path: Path) -> int:
    older = yaml.safe_load(path.read_text("utf-8"))
    changes = breaking_changes(older, documentation.openapi(create_app()))
    for change in changes:
        print(change, file=sys.stderr)
    return 1 if changes else 0
