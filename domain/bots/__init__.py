"""Computer players. A bot sees only what its own seat sees: its view and its listed moves."""

from __future__ import annotations

import random
from typing import Protocol

from . import greedy, rand, wise
from .choices import Entry, Late, Move, View


class Bot(Protocol):
    """Chooses a postable move, with the call that is due."""

    def __call__(
        self, view: View, listed: list[Entry], rng: random.Random, late: Late | None = None
    ) -> Move:
        """See `choose`."""


BOTS: dict[str, Bot] = {"random": rand.choose, "greedy": greedy.choose, "wise": wise.choose}
"""Each kind of computer player, the weakest first."""


def choose(
    name: str,
    view: View,
    listed: list[Entry],
    rng: random.Random,
    late: Late | None = None,
) -> Move:
    """The move that the bot `name` makes from its seat's `view` and its `listed` legal moves,
    with the call that is due. KeyError for a bot that does not exist.

    A bot that searches asks `late`, if it is given, and stops thinking once that says so. Without
    it the same dice lead to the same move.
    """
    return BOTS[name](view, listed, rng, late)
