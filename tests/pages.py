"""What the pages in docs/ show, to be run."""

from __future__ import annotations

import re
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
