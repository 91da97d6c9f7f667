"""Passwords of the embedded servers: made once, kept in a file that only its owner can read."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from api.command.console import CommandFailed


@dataclass(frozen=True, slots=True, repr=False)
class Credentials:
    """One password for each role; never printed."""

    superuser: str
    owner: str
    application: str
    broker: str


def load(path: Path) -> tuple[Credentials, bool]:
    """The credentials in `path`, and whether they were made just now."""
    try:
        noted = json.loads(path.read_text())
        return Credentials(**noted), False
    except FileNotFoundError:
        pass
    except (OSError, ValueError, TypeError) as error:
        raise CommandFailed(
            f"the passwords in {path} cannot be read ({type(error).__name__}). Remove the file "
            "to have new ones made; the data stays."
        ) from None
    made = Credentials(*(secrets.token_urlsafe(24) for _ in range(4)))
    partial = path.with_name(f"{path.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w") as file:
        json.dump(asdict(made), file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    return made, True
