"""What a call raises when the answer is a refusal."""

from __future__ import annotations

from .generated.models import Problem

LATE = ("game-not-active", "not-your-turn", "stale-turn", "turn-expired")
"""Codes of moves that came after things had moved on."""


class AbbotError(Exception):
    """An answer of 400 or more. `code` is what to branch on; `problem` is all that was said, None
    if it was no problem that the document knows, as a proxy's own page."""

    def __init__(self, status: int, problem: Problem | None) -> None:
        self.status = status
        self.problem = problem
        self.code = problem.code if problem is not None else ""
        super().__init__(f"{status} {self.code}: {problem.detail if problem else 'no problem'}")


class TooLate(AbbotError):
    """A move for a turn or a game that is over: nothing is wrong, look at the game again."""


def error_of(status: int, problem: Problem | None) -> AbbotError:
    """The exception for an answer."""
    late = problem is not None and problem.code in LATE
    return (TooLate if late else AbbotError)(status, problem)
