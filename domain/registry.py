"""All rulesets, each version of each game.

A game is judged to its end, and in every dispute about it, by the version that its first event
pins. Whoever adds a version leaves the earlier ones here.
"""

from __future__ import annotations

from .halleluja.ruleset import Halleluja
from .ruleset import Ruleset
from .vallelujah.ruleset import Vallelujah

_VERSIONS: dict[str, Ruleset] = {}

RULESETS: dict[str, Ruleset] = {}
"""The newest version of each game, by its id: what a new table plays."""


def register(rules: Ruleset) -> None:
    """Make a version known; ValueError if it is known already. New tables play the newest."""
    if rules.name in _VERSIONS:
        raise ValueError(f"{rules.name} is known already: a changed rule is a new version")
    _VERSIONS[rules.name] = rules
    newest = RULESETS.get(rules.id)
    if newest is None or newest.version < rules.version:
        RULESETS[rules.id] = rules


def pinned(name: str) -> Ruleset:
    """The version that a record pins (`halleluja/1`); KeyError if none."""
    return _VERSIONS[name]


def get(name: str) -> Ruleset:
    """The ruleset `name`: a pinned version (`halleluja/1`) or an id's newest; KeyError if none."""
    return _VERSIONS[name] if name in _VERSIONS else RULESETS[name]


for _rules in (Halleluja(), Vallelujah()):
    register(_rules)
