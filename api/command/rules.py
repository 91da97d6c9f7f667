"""`./abbot rules`: write `docs/rules.md` from the rules in the code, or check it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from domain.registry import RULESETS
from domain.rules import Option, Rule
from domain.table_rules import TABLE_RULES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rules.md"

_HEAD = """# Rules

Every rule, ruling and option has an id that refusals cite. A table pins the version of its
ruleset when it is opened and keeps it to the end. *Rulebook* is the printed sheet, in our own
words; an *interpretation* reads it where it can be read two ways; a *ruling* decides where it is
silent. The API serves the same texts at `/v1/rulesets/{ruleset}`. This page is written by
`./abbot rules`.
"""


def page() -> str:
    """The whole page, as Markdown."""
    lines = [_HEAD, "## Both games", "", *_rule_table(TABLE_RULES)]
    for rules in RULESETS.values():
        least, most = rules.seats
        own = [rule for rule in rules.rules if rule not in TABLE_RULES]
        lines += [
            "",
            f"## {rules.title} (`{rules.name}`, {least} to {most} seats, {len(rules.cards)} cards)",
            "",
            *_rule_table(own),
            "",
            *_option_table(rules.options),
        ]
    return "\n".join(lines) + "\n"


def _rule_table(rules: Sequence[Rule]) -> Iterator[str]:
    yield "| id | rule | source |"
    yield "|---|---|---|"
    for rule in rules:
        yield f"| `{rule.id}` | {rule.wording} | {rule.source} |"


def _option_table(options: Sequence[Option]) -> Iterator[str]:
    yield "| option | values | default | meaning |"
    yield "|---|---|---|---|"
    for option in options:
        values = (
            "true, false" if option.type == "boolean" else f"{option.minimum} to {option.maximum}"
        )
        default = str(option.default).lower()
        yield f"| `{option.name}` | {values} | {default} | {option.meaning} |"


def main(argv: Sequence[str]) -> int:
    """Write the page; with `--check` only tell whether it is fresh (status 1 if it is not)."""
    parser = argparse.ArgumentParser(prog="./abbot rules", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether it is fresh")
    parser.add_argument("--output", type=Path, default=PAGE, help="another file to write")
    arguments = parser.parse_args(argv)
    output: Path = arguments.output
    if arguments.check:
        if output.exists() and output.read_text("utf-8") == page():
            return 0
        print(f"{output.name} is stale: run ./abbot rules", file=sys.stderr)
        return 1
    output.write_text(page(), encoding="utf-8")
    print(f"wrote {output}")
    return 0
