"""The golden playthroughs say what the rules do now, and show every rule at work."""

from __future__ import annotations

import difflib
import os

import pytest

from domain.registry import RULESETS

from . import halleluja_scripts, random_scripts, table_scripts, vallelujah_scripts
from .playthrough import COVERAGE, PLAYTHROUGHS, Playthrough, coverage_page, folder, needed, tags

WRITE = os.environ.get("ABBOT_WRITE_GOLDEN") == "1"
SHOWN = 60
"""Lines of a difference that are shown."""

SCRIPTS = (table_scripts, halleluja_scripts, vallelujah_scripts, random_scripts)
"""The modules whose import registers the playthroughs."""


def difference(kept: str, played: str, name: str) -> str:
    lines = list(
        difflib.unified_diff(
            kept.splitlines(), played.splitlines(), f"{name}, kept", f"{name}, played now",
            lineterm="", n=2,
        )
    )  # fmt: skip
    return "\n".join(lines[:SHOWN])


def named(each: Playthrough) -> str:
    return f"{each.path.parent.name}-{each.name}"


@pytest.mark.parametrize("each", PLAYTHROUGHS, ids=named)
def test_playthrough(each):
    played = each.played()
    if WRITE:
        each.path.parent.mkdir(exist_ok=True)
        each.path.write_text(played, encoding="utf-8")
    assert each.path.exists(), "no such file yet: ABBOT_WRITE_GOLDEN=1 writes it"
    kept = each.path.read_text(encoding="utf-8")
    assert kept == played, "\n" + difference(kept, played, each.name)


@pytest.mark.parametrize("rules", RULESETS.values(), ids=lambda rules: rules.name)
def test_every_file_has_its_script(rules):
    written = {each.path for each in PLAYTHROUGHS if each.rules is rules}
    assert set(folder(rules).glob("*")) == written


@pytest.mark.parametrize("rules", RULESETS.values(), ids=lambda rules: rules.name)
def test_every_rule_and_option_is_shown(rules):
    found = tags(rules)
    missing = [id_ for id_ in needed(rules) if id_ not in found]
    assert not missing, f"no line of a playthrough shows {', '.join(missing)}"
    assert set(found) <= set(needed(rules))


def test_the_page_of_coverage_is_fresh():
    if WRITE:
        COVERAGE.write_text(coverage_page(), encoding="utf-8")
    assert COVERAGE.read_text(encoding="utf-8") == coverage_page()
