"""From matches to figures: lengths, who won how often, how it ended."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from domain.registry import get

from .matches import Match, Plan, Round

_Z = 1.959964
"""Of the normal distribution's middle 95%."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`won` of `played`, with the Wilson interval in which the true rate lies with 95%."""

    won: int
    played: int
    rate: float
    low: float
    high: float


def rate(won: int, played: int) -> Rate:
    """The rate of `won` of `played`, which are independent; 0 to 1 where nothing was played."""
    if not played:
        return Rate(0, 0, 0.0, 0.0, 1.0)
    share, square = won / played, _Z * _Z
    middle = (share + square / (2 * played)) / (1 + square / played)
    spread = math.sqrt(share * (1 - share) / played + square / (4 * played * played))
    spread *= _Z / (1 + square / played)
    low, high = max(0.0, middle - spread), min(1.0, middle + spread)
    return Rate(won, played, *(round(number, 4) for number in (share, low, high)))


def figures(plan: Plan, matches: Sequence[Match]) -> dict[str, Any]:
    """All that the matches show, as JSON; the same for the same plan and matches.

    Rates are of a seat: of the rounds or games that a seat with that bot, number or place in the
    round's order took part in, void rounds and drawn games included, how many it won.
    """
    rounds = [each for match in matches for each in match.rounds]
    places = Counter(_place(plan, each) for each in rounds)
    return {
        "ruleset": get(plan.ruleset).name,
        "seats": len(plan.kinds),
        "games": len(matches),
        "seed": plan.seed,
        "bots": list(plan.kinds),
        "options": plan.options,
        "rounds": len(rounds),
        "moves": sum(each.moves for each in rounds),
        "lengths": {
            "moves_per_round": length(each.moves for each in rounds),
            "turns_per_round": length(each.turns for each in rounds),
            "rounds_per_game": length(len(match.rounds) for match in matches),
            "moves_per_game": length(sum(each.moves for each in match.rounds) for match in matches),
        },
        "won": {
            "by_bot": {kind: _by_bot(matches, kind) for kind in dict.fromkeys(plan.kinds)},
            "by_seat": {
                str(seat): _rates(
                    [each.winner == seat for each in rounds],
                    [match.winner == seat for match in matches],
                )
                for seat in range(len(plan.kinds))
            },
            "by_place": {
                str(place): asdict(rate(places[place], len(rounds)))
                for place in range(1, len(plan.kinds) + 1)
            },
        },
        "ended": {
            "rounds": dict(Counter(each.ended for each in rounds).most_common()),
            "games": dict(Counter(_end_of_match(match) for match in matches).most_common()),
        },
        "moves_in_rounds": sorted(Counter(each.moves for each in rounds).items()),
    }


def length(values: Iterable[int]) -> dict[str, float]:
    """Mean, median, the middle 90% and the extremes."""
    ordered = sorted(values)
    last = len(ordered) - 1
    return {
        "mean": round(statistics.fmean(ordered), 2),
        "least": ordered[0],
        "p5": ordered[round(last * 0.05)],
        "median": statistics.median(ordered),
        "p95": ordered[round(last * 0.95)],
        "most": ordered[-1],
    }


def _by_bot(matches: Sequence[Match], kind: str) -> dict[str, Any]:
    rounds, games = [], []
    for match in matches:
        for seat, sitting in enumerate(match.kinds):
            if sitting == kind:
                rounds += [each.winner == seat for each in match.rounds]
                games.append(match.winner == seat)
    return _rates(rounds, games)


def _rates(rounds: list[bool], games: list[bool]) -> dict[str, Any]:
    return {
        "rounds": asdict(rate(sum(rounds), len(rounds))),
        "games": asdict(rate(sum(games), len(games))),
    }


def _place(plan: Plan, played: Round) -> int | None:
    """The winner's place in the round's order, 1 for who began."""
    if played.winner is None:
        return None
    return (played.winner - played.first) % len(plan.kinds) + 1


def _end_of_match(match: Match) -> str:
    return f"drawn-{match.ended}" if match.winner is None else match.ended
