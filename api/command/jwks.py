"""Files of keys that somebody trusts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from api.command.console import CommandFailed
from eventstore.jws import BadSignature, kids

LARGEST = 1 << 20
"""Bytes of such a file at most."""


def read_jwks(path: Path) -> dict[str, Any]:
    """The JWKS (RFC 7517) in a file; CommandFailed where there is none, or one of its Ed25519 keys
    is no key."""
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(LARGEST))
    except OSError as error:
        raise CommandFailed(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise CommandFailed(f"{path} is no JSON") from None
    if not isinstance(value, dict) or not isinstance(value.get("keys"), list):
        raise CommandFailed(f"{path} is no JWKS: an object with a list `keys`")
    try:
        kids(value)
    except BadSignature as bad:
        raise CommandFailed(f"{path} is no JWKS; of one of its keys: {bad}") from None
    return value
