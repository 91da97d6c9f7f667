"""Disputes and audits."""

from __future__ import annotations

import re
from typing import Any

import marshmallow
from marshmallow import fields, validate

from domain.disputes import CLAIMS, OUTCOMES
from domain.wording import Sentence

from .attempts import MoveAttempt
from .events import AnyEvent
from .fields import (
    Answered,
    Request,
    boolean,
    hash_,
    integer,
    many,
    nested,
    one_of,
    open_text,
    text,
    texts,
    time,
    uuid,
    words,
)
from .games import ChainHead
from .moves import LegalMove

MOST_CHARACTERS = 2000
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_WORDS = validate.Length(1, MOST_CHARACTERS)


class NewDispute(Request):
    """What is disputed: an event, by its `version`, or a refused move, by its `attempt_id`."""

    version = integer("The event that is disputed.", validate=validate.Range(1, 2**31 - 1))
    attempt_id = text(
        "The refused move of one's own that is disputed.",
        validate=validate.Regexp(_ID, error=Sentence("Must be an id as listed.")),
        metadata={"format": "uuid"},
    )
    statement = words("What is wrong, for people.", required=True, validate=_WORDS)
    claim = one_of(
        "What is claimed. If left out, of a late move `time`, of any other attempt `legality`; of "
        "an event `record` where there is a `receipt`, else what its type suggests.",
        CLAIMS,
    )
    receipt = text(
        "The receipt of the event, for the claim that it was changed since.",
        validate=validate.Length(1, 8192),
    )

    @marshmallow.validates_schema
    def _one_thing(self, data: dict[str, Any], **_: Any) -> None:
        if ("version" in data) == ("attempt_id" in data):
            raise marshmallow.ValidationError(
                Sentence("Name either a version or an attempt_id."), "version"
            )
        if "receipt" in data and "attempt_id" in data:
            raise marshmallow.ValidationError(Sentence("Goes with a version only."), "receipt")


class NewResolution(Request):
    """What an auditor says to a dispute."""

    resolution = words("For people.", required=True, validate=_WORDS)


class RecordCheck(Answered):
    """One check of a record."""

    check = open_text(
        "What was checked.",
        ("chain", "commitment", "shuffle", "legality", "deadlines", "result", "disputes"),
        required=True,
    )
    ok = boolean("Whether it holds; absent where it could not be checked.")
    version = integer("The first event that is wrong.")
    detail = text("What is wrong, what was looked at, or why it could not be.")


class AuditReport(Answered):
    """The checks of a record, made just now."""

    ok = boolean("Whether no check fails.", required=True)
    checks = many(RecordCheck, "In the order in which they are made.", required=True)


class MoveExplanation(Answered):
    """What the referee says of the move again."""

    legal = boolean("Whether it is legal in the position.", required=True)
    code = text("The code of the refusal.")
    detail = text("Why, for people.", required=True)
    facts = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "What it rests on."}
    )


class ClockEvidence(Answered):
    """Times, by the clock of the record."""

    received_at = time("When the refused move was received.")
    recorded_at = time("When the event was recorded.")
    due_at = time("The deadline.")


class ShuffleEvidence(Answered):
    """What every shuffle follows from."""

    commitment = hash_("What was published before any seat gave its seed.", required=True)
    seeds = texts("The seats' own seeds, in seat order.", required=True)
    secret = text("The secret, hex; empty if it was not published.", required=True)


class DisputeEvidence(Answered):
    """What a finding rests on; no more than the seat that disputes may see."""

    head = nested(ChainHead, required=True)
    ruleset_version = text("The rules that it was judged by.", required=True)
    checks = many(RecordCheck, "The checks of the record.", required=True)
    position = fields.Dict(
        keys=fields.String(),
        metadata={"description": "The game that it is about, as that seat saw it then."},
    )
    legal_moves = many(LegalMove, "What that seat might have done there.")
    event = AnyEvent(metadata={"description": "The disputed event."})
    attempt = nested(MoveAttempt)
    explanation = nested(MoveExplanation)
    clock = nested(ClockEvidence)
    shuffle = nested(ShuffleEvidence)
    receipt = fields.Dict(
        keys=fields.String(),
        metadata={"description": "What the receipt says, or the `fault` that it has."},
    )


class DisputeFinding(Answered):
    """What the record says to a claim. It can be computed again from the record at any time."""

    outcome = open_text(
        "`upheld`: the disputant is right. `pending`: the end of the game will tell.",
        OUTCOMES,
        required=True,
    )
    claim = open_text("What was judged.", CLAIMS, required=True)
    rule = text("The id of the deciding rule.")
    wording = text("Its wording, in the version that the game pins.")
    reason = text("Why, for people.", required=True)
    evidence = nested(DisputeEvidence, required=True)


class DisputeResolution(Answered):
    """What an auditor says to a dispute."""

    at = time("When.", required=True)
    player_id = uuid("The auditor.", required=True)
    resolution = text("For people.", required=True)


class GameDispute(Answered):
    """A dispute and its finding."""

    dispute_id = uuid("The dispute.", required=True)
    at = time("When it was filed.", required=True)
    player_id = uuid("Who disputes.", required=True)
    seat = integer("That player's seat.", required=True)
    version = integer("The event that is disputed.")
    attempt_id = uuid("The refused move that is disputed.")
    claim = open_text("What is claimed.", CLAIMS, required=True)
    statement = text("What the player says.", required=True)
    finding = nested(DisputeFinding, required=True)
    settled_at = time("When the end of the game settled what had been pending.")
    resolutions = many(DisputeResolution, "What auditors said, in order.", required=True)


class GameDisputeList(Answered):
    """A page of disputes."""

    items = many(GameDispute, "Newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")
