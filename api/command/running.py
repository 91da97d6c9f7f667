"""What other commands can know of a running `abbot up`: a file that it writes for them."""

from __future__ import annotations

import json
import os
from pathlib import Path

from api.command.locks import Lock

STATE = "run/up.json"


def write(data: Path, environment: dict[str, str]) -> None:
    """Note the settings that reach what `up` has started; only our user can read them."""
    path = data / STATE
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        json.dump(environment, file)
    partial.replace(path)


def forget(data: Path) -> None:
    """Remove the note again."""
    (data / STATE).unlink(missing_ok=True)


def read(data: Path) -> dict[str, str]:
    """The settings of the `up` that runs on `data`; {} if none runs."""
    if Lock(data / "up.lock").holder() is None:
        return {}
    try:
        noted = json.loads((data / STATE).read_text())
        return {str(name): str(value) for name, value in noted.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def apply(data: Path) -> None:
    """Let this process use the running servers, where its own settings name none."""
    for name, value in read(data).items():
        if not os.environ.get(name, "").strip():
            os.environ[name] = value
