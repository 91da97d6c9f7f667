"""The rulesets as data."""

from __future__ import annotations

from marshmallow import fields

from .fields import Answered, integer, many, nested, open_text, text, texts


class SeatRange(Answered):
    """How many seats a game may have."""

    min = integer("The least.", required=True)
    max = integer("The most.", required=True)


class OptionInfo(Answered):
    """A setting of the table."""

    name = text("Its name in a game's `options`.", required=True)
    type = open_text("Its type.", ("boolean", "integer"), required=True)
    default = fields.Raw(
        required=True,
        metadata={
            "description": "Its value unless the host sets another.",
            "oneOf": [{"type": "boolean"}, {"type": "integer"}],
        },
    )
    minimum = integer("The least value of an integer.")
    maximum = integer("The greatest value of an integer.")
    meaning = text("What it does.", required=True)


class RuleInfo(Answered):
    """A rule or ruling, as refusals cite it."""

    id = text("Its id.", required=True)
    wording = text("What it says.", required=True)
    source = open_text(
        "Where it comes from: printed, read where the print can be read two ways, or decided where "
        "it is silent.",
        ("rulebook", "interpretation", "ruling"),
        required=True,
    )


class TermInfo(Answered):
    """What a part of a card's name stands for, as people call it."""

    kind = open_text("What it is.", ("figure", "symbol", "banner"), required=True)
    id = text("As it is written in a card's name.", required=True, metadata={"examples": ["E"]})
    name = text("What people call it.", required=True)


class RulesetInfo(Answered):
    """A game and its rules."""

    ruleset = text(
        "Its id, as tables name it.", required=True, metadata={"examples": ["halleluja"]}
    )
    ruleset_version = text(
        "The version that new tables pin.", required=True, metadata={"examples": ["halleluja/1"]}
    )
    title = text("Its name, for people.", required=True)
    seats = nested(SeatRange, required=True)
    cards = texts("Every card or unit, in the unshuffled order.", required=True)
    options = many(OptionInfo, "The settings that a host may choose.", required=True)
    rules = many(RuleInfo, "Every rule and ruling.", required=True)
    terms = many(TermInfo, "What the parts of the cards' names stand for.", required=True)


class RulesetList(Answered):
    """All rulesets."""

    items = many(RulesetInfo, "The newest version of each game.", required=True)
