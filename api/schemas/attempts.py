"""Refused moves, and looks at hidden cards."""

from __future__ import annotations

from marshmallow import fields

from .fields import Answered, integer, many, page_cursor, page_limit, text, time, uuid
from .games import GameQuery


class MoveAttempt(Answered):
    """A move that was refused."""

    attempt_id = uuid("Names it in a dispute.", required=True)
    seat = integer("Whose it was.", required=True)
    player_id = uuid("The player.", required=True)
    at = time("When it was received, by the clock of the record.", required=True)
    version = integer("The game's version that it was judged on.", required=True)
    due_at = time(
        "The deadline of the turn that it came too late for, else of the turn that ran then."
    )
    move = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"description": "The move, as it was sent."},
    )
    code = text("Why it was refused, for programs.", required=True)
    rule = text("The id of the rule that decided.")
    detail = text("Why it was refused, for people.", required=True)


class MoveAttemptList(Answered):
    """A page of refused moves."""

    items = many(MoveAttempt, "Newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")


class AuditorLook(Answered):
    """A look that an auditor took at hidden cards while the game ran."""

    look_id = uuid("The look.", required=True)
    at = time("When.", required=True)
    player_id = uuid("The auditor.", required=True)
    operation = text("The operation that showed them.", required=True)
    version = integer("The game's version then.", required=True)


class AuditorLookList(Answered):
    """A page of looks."""

    items = many(AuditorLook, "Newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")


class PageOfGameQuery(GameQuery):
    """Which page of a game's list."""

    cursor = page_cursor()
    limit = page_limit()
