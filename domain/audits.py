"""What of a record's checks may be told while its game runs, and to whom."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .verification import COMMITMENT, SHUFFLE, Check

NEEDS_THE_END = (COMMITMENT, SHUFFLE)
"""Checks that players can make themselves only once the secret is published."""


def told(checks: Iterable[Check], *, everything: bool) -> list[dict[str, Any]]:
    """`checks` as they are shown: all of them with `everything`, as to an auditor or once the game
    is over; else nothing that needs the secret, and of what fails where, but not how, as that could
    name a card."""
    return [_told(check, everything) for check in checks]


def _told(check: Check, everything: bool) -> dict[str, Any]:
    if not everything and check.check in NEEDS_THE_END:
        return {"check": check.check, "detail": "it can be checked once the game is over"}
    shown: dict[str, Any] = {"check": check.check}
    if check.ok is not None:
        shown["ok"] = check.ok
    if check.version is not None:
        shown["version"] = check.version
    if check.detail and (everything or check.ok is not False):
        shown["detail"] = check.detail
    return shown
