"""All rulesets, each version of each game."""

from __future__ import annotations

from .halleluja.ruleset import Halleluja
from .ruleset import Ruleset
from .vallelujah.ruleset import Vallelujah

_VERSIONS: dict[str, Ruleset] = {rules.name: rules for rules in (Halleluja(), Vallelujah())}

RULESETS: dict[str, Ruleset] = {rules.id: rules for rules in _VERSIONS.values()}
"""The newest version of each game, by its id: what a new table plays."""


def get(name: str) -> Ruleset:
    """The ruleset `name`: a pinned version (`halleluja/1`) or an id's newest; KeyError if none."""
    return _VERSIONS[name] if name in _VERSIONS else RULESETS[name]
