"""How the referee says no."""

from __future__ import annotations

from typing import Any

FORBIDDEN = "forbidden"
VALIDATION = "validation"
ILLEGAL_MOVE = "illegal-move"
STALE_TURN = "stale-turn"
NOT_YOUR_TURN = "not-your-turn"
TURN_EXPIRED = "turn-expired"
GAME_NOT_ACTIVE = "game-not-active"
GAME_NOT_OVER = "game-not-over"
NOT_IN_LOBBY = "not-in-lobby"
NOT_READY = "not-ready"
NOT_ENOUGH_SEATS = "not-enough-seats"
TABLE_FULL = "table-full"
ALREADY_SEATED = "already-seated"
NOT_FOUND = "not-found"


class Refused(Exception):
    """A command that the referee turns down; nothing has changed.

    `code` is the public problem code, `rule` the id of the rule that decides (of every refused
    move), `detail` a sentence for the player, `facts` what it rests on, and `errors` the fields at
    fault for `validation`. `attempt_id` is set by who keeps the refusal.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        rule: str | None = None,
        facts: dict[str, Any] | None = None,
        errors: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.rule = rule
        self.facts = facts or {}
        self.errors = errors or []
        self.attempt_id: str | None = None


def illegal(rule: str, detail: str, **facts: Any) -> Refused:
    """The refusal of a move that the rule `rule` does not allow."""
    return Refused(ILLEGAL_MOVE, detail, rule=rule, facts=facts)


def invalid(field: str, message: str) -> Refused:
    """The refusal of a value that no game could accept."""
    return Refused(VALIDATION, message, errors=[{"field": field, "message": message}])
