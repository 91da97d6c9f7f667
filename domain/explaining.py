"""explain: whether a move is legal in a position, and which rule says so."""

from __future__ import annotations

from typing import Any, NamedTuple

from .commands import Context, MakeMove
from .play import make_move
from .refusals import Refused
from .state import Game
from .wording import ENGLISH, Sentence


class Explanation(NamedTuple):
    """What the referee says of a move, made or not.

    `rule` is the id of the deciding rule and `wording` its text; `rules` are all that make a legal
    move legal; `code` is the problem code of one that is not; `detail` is a sentence for the
    player, and `facts` is what it rests on.
    """

    legal: bool
    code: str | None
    rule: str | None
    wording: str | None
    detail: Sentence
    facts: dict[str, Any]
    rules: list[str]


def wording(game: Game, rule: str | None, language: str = ENGLISH) -> str | None:
    """The wording of the rule `rule` in the version that the game pins, or None."""
    return None if rule is None else game.rules.wording(rule, language)


def explain(game: Game, command: MakeMove) -> Explanation:
    """What would be said of `command` in this position; nothing changes, nothing is drawn.

    `Refused` only for what is no move at all, or by someone who holds no seat.
    """
    seat = game.seat_of(command.player_id)
    try:
        # Which cards a move would draw plays no part in whether it is legal.
        make_move(game, command, Context(secret=bytes(32)))
    except Refused as refusal:
        if refusal.rule is None:
            raise
        rule = refusal.rule
        said = wording(game, rule)
        return Explanation(False, refusal.code, rule, said, refusal.detail, refusal.facts, [rule])
    assert seat is not None
    reason = game.rules.reason(game, seat, command.move)
    rule = reason.rules[0]
    said = wording(game, rule)
    return Explanation(True, None, rule, said, reason.detail, reason.facts, reason.rules)
