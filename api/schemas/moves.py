"""Moves: one flat object for both games."""

from __future__ import annotations

from marshmallow import fields, validate

from .fields import Answered, QueryBoolean, Request, boolean, integer, one_of, text, texts

TYPES = ("play", "draw", "keep", "exclaim", "lead", "beat", "take")
WORDS = ("amen", "halleluja", "mau", "mau-mau")
WORLDLY_WORDS = WORDS[2:]
SYMBOLS = ("apple", "clover", "rose", "strawberry")


class Move(Request):
    """A move: `type` and what that type needs.

    Halleluja: `play` (`card`, `wish`, `call`), `draw`, `keep`, `exclaim` (`word`). Vallelujah:
    `lead` (`units`), `beat` (`units`, `take`), `take` (`take`).
    """

    type = one_of("What to do.", TYPES, required=True, metadata={"examples": ["play"]})
    card = text("`play`: the card, as `E-rose`.", metadata={"examples": ["E-rose"]})
    wish = one_of("`play` of a G: the symbol that is wished for.", SYMBOLS)
    call = one_of("`play`: the word that is called with it.", WORDS)
    word = one_of("`exclaim`: the word that slips out.", WORLDLY_WORDS)
    units = texts(
        "`lead`, `beat`: the units of the battalion.",
        item={"examples": ["crimson-9"]},
        validate=validate.Length(max=54),
    )
    take = text(
        "`beat`, `take`: the unit to capture. May be left out where there is but one.",
        metadata={"examples": ["crimson-9"]},
    )
    round = integer(
        "The round that the move is meant for; in any other it is refused.",
        validate=validate.Range(1, 1_000_000),
    )
    turn = integer(
        "The number of the turn that the move is meant for; in any other it is refused.",
        validate=validate.Range(1, 1_000_000),
    )


class LegalMove(Answered):
    """A legal move, with the choices that are left to the player."""

    move = fields.Nested(
        Move,
        required=True,
        metadata={"description": "Can be posted as it is, once `take` is chosen."},
    )
    rules = texts("The ids of the rules that make it legal.", required=True)
    wish_from = texts("The symbols that `wish` may name; it may be left out.")
    take_from = texts("The units of which `take` must name one.")
    call_due = text("The word that `call` should say.")


class LegalMoves(Answered):
    """What the caller may do now."""

    version = integer("The game's version that the list is of.", required=True)
    legal_moves = fields.List(
        fields.Nested(LegalMove),
        required=True,
        metadata={"description": "Empty when it is not the caller's turn."},
    )


class DryRun(Answered):
    """A move that would be legal now."""

    legal = boolean("True; a move that is not legal is refused as it would be.", required=True)
    rules = texts("The ids of the rules that make it legal.", required=True)
    rule = text("The id of the deciding one.", required=True)
    wording = text("Its wording.", required=True)
    detail = text("Why it is legal, for people.", required=True)
    facts = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "What that rests on."}
    )


class MoveQuery(Request):
    """How a move is meant."""

    dry_run = QueryBoolean(
        load_default=False,
        metadata={"description": "Only judge the move; nothing is recorded."},
    )
