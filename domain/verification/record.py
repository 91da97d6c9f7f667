"""All checks of a record, one after another."""

from __future__ import annotations

from collections.abc import Sequence

from ..events import Recorded
from .chain import check_chain
from .checks import CHAIN, CHECKS, Check


def verify(events: Sequence[Recorded]) -> list[Check]:
    """Every check of a game's record, from its first event on, in the order of `CHECKS`."""
    if not events:
        return [Check(CHAIN, False, "there are no events"), *_unmade("there are no events")]
    return [check_chain(events, frozenset()), *_unmade("not looked at")]


def _unmade(why: str) -> list[Check]:
    return [Check(name, None, why) for name in CHECKS[1:]]
