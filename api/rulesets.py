"""The rulesets: seats, cards, options and every rule with its id, wording and source."""

from __future__ import annotations

from typing import Any

from flask import Response

from domain.registry import RULESETS
from domain.ruleset import Ruleset

from . import responses
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import not_found
from .schemas.rulesets import RulesetInfo, RulesetList

blueprint = Blueprint("rulesets", __name__, description="The games and their rules.")


def _shown(rules: Ruleset) -> dict[str, Any]:
    return {
        "ruleset": rules.id,
        "ruleset_version": rules.name,
        "title": rules.title,
        "seats": {"min": rules.seats[0], "max": rules.seats[1]},
        "cards": list(rules.cards),
        "options": [
            {
                name: value
                for name in ("name", "type", "default", "minimum", "maximum", "meaning")
                if (value := getattr(option, name)) is not None
            }
            for option in rules.options
        ],
        "rules": [
            {"id": rule.id, "wording": rule.wording, "source": rule.source} for rule in rules.rules
        ],
    }


@blueprint.route("/rulesets", methods=["GET"])
@operation(
    "listRulesets",
    access=Access.OPTIONAL,
    answers={200: Answer("All rulesets.", RulesetList, ("ETag",))},
    if_none_match=True,
)
def list_rulesets(call: Call) -> Response:
    """List the rulesets.

    Each with its seats, cards, options, and every rule and ruling as refusals cite it.
    """
    call.validate()
    return responses.tagged({"items": [_shown(rules) for rules in RULESETS.values()]})


@blueprint.route("/rulesets/<name:ruleset>", methods=["GET"])
@operation(
    "getRuleset",
    access=Access.OPTIONAL,
    answers={200: Answer("The ruleset.", RulesetInfo, ("ETag",))},
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
    return responses.tagged(_shown(rules))
