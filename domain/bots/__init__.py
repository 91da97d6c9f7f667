"""Computer players. A bot sees only what its own seat sees: its view and its listed moves."""

from __future__ import annotations

import random
from typing import Any

from . import greedy, rand

BOTS = {"random": rand.choose, "greedy": greedy.choose}
"""Each kind of computer player, and how it chooses a postable move."""


def choose(
    name: str, view: dict[str, Any], listed: list[dict[str, Any]], rng: random.Random
) -> dict[str, Any]:
    """The move that the bot `name` makes from its seat's `view` and its `listed` legal moves,
    with the call that is due. KeyError for a bot that does not exist."""
    return BOTS[name](view, listed, rng)
