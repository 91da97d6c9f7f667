"""Golden playthroughs: games written down step by step, and compared line by line.

A script plays a game on a table through its scribe, which writes down for each step the command,
the events in full, the state, what each seat sees, its legal moves, and what was tried in vain.
The text is kept in a file, one for each script, in the folder of the ruleset's version.
`ABBOT_WRITE_GOLDEN=1` has the tests write the files anew; the differences are then read and
committed, or not.

A line that shows a rule or an option at work carries its id: `#[halleluja.match]`. A script names
the id and what the line must say, so that a tag cannot outlive what it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from domain.registry import RULESETS
from domain.ruleset import Ruleset

from .scribe import Scribe

HERE = Path(__file__).parent
COVERAGE = HERE / "COVERAGE.md"
OPTION = "option."
"""Before an option's name, where a tag names an option."""

_TAG = re.compile(r"  #\[([a-z0-9_.-]+)\]")
_SHOWN = 3
"""So many lines are named for each id."""

Script = Callable[[Scribe], None]


@dataclass(frozen=True, slots=True)
class Playthrough:
    """A script of one ruleset, and the file that holds what it writes."""

    rules: Ruleset
    name: str
    script: Script

    @property
    def path(self) -> Path:
        """Where its text is kept."""
        return folder(self.rules) / f"{self.name}.txt"

    def played(self) -> str:
        """Play it: its text as the rules make it now. The script's docstring heads it."""
        title, _, about = (self.script.__doc__ or "").partition("\n")
        scribe = Scribe(self.rules, title, " ".join(about.split()))
        self.script(scribe)
        return scribe.finish()


PLAYTHROUGHS: list[Playthrough] = []


def playthrough(name: str, *rulesets: str) -> Callable[[Script], Script]:
    """Register a script for each of `rulesets`, or for every one there is."""

    def register(script: Script) -> Script:
        for id_ in rulesets or tuple(RULESETS):
            PLAYTHROUGHS.append(Playthrough(RULESETS[id_], name, script))
        return script

    return register


def folder(rules: Ruleset) -> Path:
    """The folder of a ruleset's version."""
    return HERE / rules.name.replace("/", "-")


def tags(rules: Ruleset) -> dict[str, list[str]]:
    """For each id that a line of the ruleset's files carries: `file:line` of each such line."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder(rules).glob("*.txt")):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for id_ in _TAG.findall(line):
                found.setdefault(id_, []).append(f"{path.parent.name}/{path.name}:{number}")
    return found


def needed(rules: Ruleset) -> list[str]:
    """The ids that some line must carry: every rule, every option."""
    options = [OPTION + option.name for option in rules.options]
    return [rule.id for rule in rules.rules] + options


def coverage_page() -> str:
    """Which lines show which rule, as `COVERAGE.md` has it."""
    lines = [
        "# What the golden playthroughs cover",
        "",
        "Each rule, ruling and option with the lines that show it at work (the first few, and how",
        "many there are). Written with the playthroughs, by `ABBOT_WRITE_GOLDEN=1`.",
    ]
    for rules in RULESETS.values():
        found = tags(rules)
        lines += ["", f"## {rules.title} ({rules.name})", ""]
        lines += ["| id | lines | in all |", "|---|---|---|"]
        for id_ in needed(rules):
            places = found.get(id_, [])
            links = [_link(place) for place in places[:_SHOWN]]
            lines.append(f"| `{id_}` | {', '.join(links) or '**none**'} | {len(places)} |")
    return "\n".join(lines) + "\n"


def _link(place: str) -> str:
    path, _, number = place.partition(":")
    return f"[{place}]({path}#L{number})"
