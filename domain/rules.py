"""Rules as data: an id that refusals cite, our wording, and where the rule comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .wording import Sentence

Source = Literal["rulebook", "interpretation", "ruling"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `rulebook` is the printed sheet's, `interpretation` reads it where it can be read
    two ways, `ruling` decides where it is silent."""

    id: str
    wording: str
    source: Source


@dataclass(frozen=True, slots=True)
class Option:
    """A setting of the table that players are known to differ about."""

    name: str
    type: Literal["boolean", "integer"]
    default: bool | int
    meaning: str
    minimum: int | None = None
    maximum: int | None = None

    def fault(self, value: Any) -> Sentence | None:
        """Why `value` cannot be this option's, or None."""
        if self.type == "boolean":
            return None if isinstance(value, bool) else Sentence("must be true or false")
        if isinstance(value, bool) or not isinstance(value, int):
            return Sentence("must be an integer")
        if not (self.minimum or 0) <= value <= (self.maximum or 0):
            return Sentence("must be from {least} to {most}", least=self.minimum, most=self.maximum)
        return None


@dataclass(frozen=True, slots=True)
class Term:
    """What a part of a card's name stands for, for people: `kind` is `figure`, `symbol` or
    `banner`, `id` the part as it is written in the name."""

    kind: Literal["figure", "symbol", "banner"]
    id: str
    name: str


def table_options(rounds_to_win: int) -> tuple[Option, ...]:
    """The options that every ruleset has."""
    return (
        Option(
            "rounds_to_win",
            "integer",
            rounds_to_win,
            "How many rounds a seat must win to win the match.",
            1,
            9,
        ),
        Option(
            "away_after",
            "integer",
            2,
            "After how many expired turns in a row a seat counts as away.",
            1,
            100,
        ),
        Option(
            "pause_seconds",
            "integer",
            5,
            "Seconds added to a round's first turn, so that everyone sees the deal.",
            0,
            60,
        ),
    )
