"""The rulesets: seats, cards, options and every rule with its id, wording and source."""

from __future__ import annotations

from typing import Any

from flask import Response

from domain.registry import RULESETS
from domain.ruleset import Ruleset

from . import languages, responses
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import not_found
from .schemas.rulesets import RulesetInfo, RulesetList

blueprint = Blueprint("rulesets", __name__, description="The games and their rules.")


def _shown(rules: Ruleset) -> dict[str, Any]:
    language = languages.preferred()
    return {
        "ruleset": rules.id,
        "ruleset_version": rules.name,
        "title": rules.title,
        "seats": {"min": rules.seats[0], "max": rules.seats[1]},
        "cards": list(rules.cards),
        "options": [
            {
                name: value
                for name in ("name", "type", "default", "minimum", "maximum")
                if (value := getattr(option, name)) is not None
            }
            | {"meaning": rules.meaning(option, language)}
            for option in rules.options
        ],
        "rules": [
            {"id": rule.id, "wording": rules.wording(rule.id, language), "source": rule.source}
            for rule in rules.rules
        ],
        "terms": [
            {"kind": term.kind, "id": term.id, "name": rules.term(term, language)}
            for term in rules.terms
        ],
    }


@blueprint.route("/rulesets", methods=["GET"])
@operation(
    "listRulesets",
    access=Access.OPTIONAL,
    answers={200: Answer("All rulesets.", RulesetList, ("ETag", "Content-Language"))},
    if_none_match=True,
)
def list_rulesets(call: Call) -> Response:
    """List the rulesets.

    Each with its seats, cards, options, and every rule and ruling as refusals cite it.
    """
    call.validate()
    shown = [_shown(rules) for rules in RULESETS.values()]
    return languages.speaking(responses.tagged({"items": shown}))


@blueprint.route("/rulesets/<name:ruleset>", methods=["GET"])
@operation(
    "getRuleset",
    access=Access.OPTIONAL,
    answers={200: Answer("The ruleset.", RulesetInfo, ("ETag", "Content-Language"))},
    problems=("not-found",),
    if_none_match=True,
)
def get_ruleset(call: Call, ruleset: str) -> Response:
    """Get a ruleset.

    The newest version of one game: its seats, cards, options and rules.
    """
    rules = RULESETS.get(ruleset)
    if rules is None:
        raise not_found("There is no such ruleset.")
    call.validate()
    return languages.speaking(responses.tagged(_shown(rules)))
