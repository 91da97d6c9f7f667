"""Checking a game's record: what it must say by the rules, from its own events alone.

`verify` needs no server and no secret but the one that a finished game publishes. Signatures are
not its business.
"""

from __future__ import annotations

from .checks import CHAIN, CHECKS, COMMITMENT, DEADLINES, LEGALITY, RESULT, SHUFFLE, Check
from .record import verify

__all__ = [
    "CHAIN",
    "CHECKS",
    "COMMITMENT",
    "DEADLINES",
    "LEGALITY",
    "RESULT",
    "SHUFFLE",
    "Check",
    "verify",
]
