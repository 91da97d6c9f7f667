"""Settings that are none: a name that nothing reads is mistyped, and would be in vain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from .settings import ROOT

LIST = ROOT / ".env.example"
"""The list of all settings; each stands there as `NAME=value`, commented out."""

_LISTED = re.compile(r"^#?(ABBOT_[A-Z_]+)=", re.MULTILINE)

_NO_SETTINGS = re.compile(
    r"ABBOT_(URL|TOKEN|SUPERVISED|LONG|GAMES|FUZZ_EXAMPLES|NODE_MODULES|(TEST|BENCH|WRITE)_\w+)"
)
"""What clients are told by (clients/), what the supervisor marks its processes with, and what tests
and measurements are told."""

_ALIKE = 0.9
"""How much another name must be like a setting's to be taken for it, from 0 to 1."""


def settings() -> frozenset[str]:
    """The names of all settings; none if the list is not there."""
    try:
        return frozenset(_LISTED.findall(LIST.read_text(encoding="utf-8")))
    except OSError:
        return frozenset()


def warnings(environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """A sentence for each variable that looks like a setting and is none. Values are not told."""
    known = settings()
    if not known:
        return
    for name in sorted(environ.keys() - known):
        upper = name.upper()
        ours = upper.startswith("ABBOT_")
        if ours and _NO_SETTINGS.fullmatch(name):
            continue
        near = get_close_matches(upper, sorted(known), n=1, cutoff=0.6 if ours else _ALIKE)
        if near:
            yield f"{name} is no setting and does nothing. Is {near[0]} meant?"
        elif ours:
            yield f"{name} is no setting and does nothing; .env.example lists all settings."
