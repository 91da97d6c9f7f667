"""What the pages in docs/ show, to be run."""

from __future__ import annotations

import re
import shlex
from typing import Any

from api.command.environment import ROOT


def python_code(page: str, name: str) -> dict[str, Any]:
    """What the Python code in a page defines, of the block that defines `name`."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    (block,) = (each for each in blocks if f"def {name}(" in each)
    defined: dict[str, Any] = {}
    exec(block, defined)
    return defined


def section_of(page: str, section: str) -> str:
    """The text of a section of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return text.split(f"## {section}\n", 1)[1].split("\n## ", 1)[0]


def script(page: str, section: str) -> str:
    """All that a section of a page shows for a shell."""
    return "".join(re.findall(r"```sh\n(.*?)```", section_of(page, section), re.S))


def commands(page: str, section: str) -> list[list[str]]:
    """The words of each `./abbot` command that a section of a page shows as a line of its own."""
    lines = script(page, section).splitlines()
    words = [shlex.split(line) for line in lines]
    assert all(first == "./abbot" for first, *_ in words)
    return [rest for _, *rest in words]
