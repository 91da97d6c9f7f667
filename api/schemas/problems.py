"""The body of every error."""

from __future__ import annotations

from marshmallow import fields

from ..problems import KINDS
from .fields import Answered, integer, many, open_text, text, uuid
from .moves import LegalMove


class FieldFault(Answered):
    """One value that is not valid."""

    field = text("Where: a field's path with dots, or a query parameter.", required=True)
    message = text("What is wrong with it.", required=True)


class Problem(Answered):
    """An error (RFC 9457)."""

    type = text(
        "Identifies the kind of problem.",
        required=True,
        metadata={"format": "uri-reference", "examples": ["/problems/not-your-turn"]},
    )
    title = text("The kind of problem, for people; always the same for a `code`.", required=True)
    status = integer("The HTTP status.", required=True)
    detail = text("What happened this time, for people.", required=True)
    code = open_text("What happened, for programs.", tuple(KINDS), required=True)
    errors = many(FieldFault, "The values at fault, of `validation`.")
    rule = text("The id of the rule that decides.")
    wording = text("That rule's wording, in the version that the game pins.")
    facts = fields.Dict(
        keys=fields.String(), metadata={"description": "What the refusal rests on."}
    )
    legal_moves = many(LegalMove, "What would be legal now, of a refused move.")
    version = integer("The game's version that the refusal is about.")
    attempt_id = uuid("Under which a refused move is kept; it can be disputed by this id.")
