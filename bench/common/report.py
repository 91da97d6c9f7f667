"""How a measurement ends: its figures against their goals, on one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured value, the goal set for it in the same unit, and whether the goal holds."""

    value: float
    goal: float
    holds: bool


def at_most(value: float, goal: float) -> Figure:
    """A figure that must not be above its goal."""
    return Figure(value, goal, value <= goal)


def at_least(value: float, goal: float) -> Figure:
    """A figure that must not be below its goal."""
    return Figure(value, goal, value >= goal)


def finish(figures: Mapping[str, Figure]) -> int:
    """Print a table of the figures and, last, the line of JSON; 0, as measuring has worked."""
    width = max(map(len, figures), default=0)
    print()
    for name, figure in figures.items():
        verdict = "holds" if figure.holds else "MISSED"
        print(f"{name.ljust(width)}  {figure.value:>9g}  goal {figure.goal:>6g}  {verdict}")
    print(json.dumps({name: asdict(figure) for name, figure in figures.items()}))
    return 0
