"""What is said of a record."""

from __future__ import annotations

from dataclasses import dataclass

CHAIN, COMMITMENT, SHUFFLE, LEGALITY, DEADLINES, RESULT = CHECKS = (
    "chain",
    "commitment",
    "shuffle",
    "legality",
    "deadlines",
    "result",
)
"""The names of the checks, in the order in which they are given."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a record.

    `ok` is None where it could not be made, as what it needs is hidden or missing. `version` is
    the first event that is wrong, `detail` says what is wrong with it, or what was looked at.
    """

    check: str
    ok: bool | None
    detail: str = ""
    version: int | None = None
