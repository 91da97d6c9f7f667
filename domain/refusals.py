"""How the referee says no."""

from __future__ import annotations

from typing import Any

from .wording import sentence

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
    move), `detail` a sentence for the player made of `template` and `facts`, `facts` what it rests
    on, and `errors` the fields at fault for `validation`. `attempt_id` is set by who keeps the
    refusal.
    """

    def __init__(
        self,
        code: str,
        template: str,
        *,
        rule: str | None = None,
        facts: dict[str, Any] | None = None,
        errors: list[dict[str, str]] | None = None,
    ) -> None:
        self.facts = facts or {}
        self.detail = sentence(template, **self.facts)
        super().__init__(self.detail)
        self.code = code
        self.rule = rule
        self.errors = errors or []
        self.attempt_id: str | None = None


def illegal(rule: str, template: str, /, **facts: Any) -> Refused:
    """The refusal of a move that the rule `rule` does not allow."""
    return Refused(ILLEGAL_MOVE, template, rule=rule, facts=facts)


def invalid(field: str, template: str, /, **facts: Any) -> Refused:
    """The refusal of a value that no game could accept."""
    error = fault(field, template, **facts)
    return Refused(VALIDATION, error["message"], errors=[error])


def fault(field: str, template: str, /, **facts: Any) -> dict[str, str]:
    """What is wrong with the value of `field`."""
    return {"field": field, "message": sentence(template, **facts)}
