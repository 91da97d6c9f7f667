"""Figures as tables for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

Row = Sequence[str]

LENGTHS = {
    "moves_per_round": "moves a round",
    "turns_per_round": "turns a round",
    "rounds_per_game": "rounds a game",
    "moves_per_game": "moves a game",
}
ENDS = {
    "emptied": "a hand was emptied",
    "limit": "turn limit, fewest cards won",
    "void-limit": "turn limit, void by a tie",
    "void-repetition": "void by repetition",
    "rounds": "rounds won",
    "void-rounds": "void rounds, highest score won",
    "drawn-void-rounds": "void rounds, drawn",
}


def table(rows: Sequence[Row]) -> list[str]:
    """Lines of aligned columns: the first to the left, numbers to the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def chosen(options: dict[str, Any]) -> str:
    """The options that were set, as `--options` takes them."""
    return ", ".join(f"{name}={json.dumps(value)}" for name, value in options.items())


def report(shown: dict[str, Any]) -> str:
    """Everything in `shown`, the figures and the speed, as text."""
    speed = shown["speed"]
    options = chosen(shown["options"])
    lines = [
        f"{shown['ruleset']}, {shown['seats']} seats: {', '.join(shown['bots'])}",
        f"{shown['games']:,} games, {shown['rounds']:,} rounds, {shown['moves']:,} moves; "
        f"seed {shown['seed']}{'; ' if options else ''}{options}",
        "",
        *table(_lengths(shown["lengths"])),
        "",
        *table(_won(shown["won"])),
        "",
        *table(_ended("rounds", shown["ended"]["rounds"], shown["rounds"])),
        "",
        *table(_ended("games", shown["ended"]["games"], shown["games"])),
        "",
        f"{speed['moves_per_second']:,} moves a second, the bots' thinking included "
        f"({speed['seconds']} s, {speed['jobs']} process{'' if speed['jobs'] == 1 else 'es'})",
    ]
    return "\n".join(lines)


def _lengths(lengths: dict[str, dict[str, float]]) -> list[Row]:
    names = ("mean", "least", "p5", "median", "p95", "most")
    rows: list[Row] = [("lengths", *names)]
    for name, heading in LENGTHS.items():
        rows.append((heading, *(f"{lengths[name][each]:g}" for each in names)))
    return rows


def _won(won: dict[str, Any]) -> list[Row]:
    rows: list[Row] = [("won", "rounds", "rate", "95%", "games", "rate", "95%")]
    for heading, name in (("bot", "by_bot"), ("seat", "by_seat")):
        for key, rates in won[name].items():
            rows.append((f"{heading} {key}", *_cells(rates["rounds"]), *_cells(rates["games"])))
    for place, rate in won["by_place"].items():
        rows.append((f"place {place} of the round", *_cells(rate), "", "", ""))
    return rows


def _cells(rate: dict[str, Any]) -> Row:
    return (
        f"{rate['won']:,} of {rate['played']:,}",
        f"{rate['rate']:.1%}",
        f"{rate['low']:.1%} to {rate['high']:.1%}",
    )


def _ended(what: str, ends: dict[str, int], total: int) -> list[Row]:
    rows: list[Row] = [(f"how {what} ended", "", "")]
    return rows + [
        (ENDS.get(name, name), f"{count:,}", f"{count / total:.1%}") for name, count in ends.items()
    ]
