"""From listed legal moves to ones that can be posted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Move = dict[str, Any]
View = dict[str, Any]
Entry = dict[str, Any]
Late = Callable[[], bool]
"""Whether it is time to stop thinking."""


def complete(entry: Entry, *, wish: str | None = None, take: str | None = None) -> Move:
    """The listed move with its choice made and the due call spoken, without round and turn."""
    move = {name: value for name, value in entry["move"].items() if name not in ("round", "turn")}
    if wish is not None:
        move["wish"] = wish
    if take is not None:
        move["take"] = take
    if "call_due" in entry:
        move["call"] = entry["call_due"]
    return move


def every(listed: list[Entry]) -> list[Move]:
    """The listed moves with each choice that they leave. A wish is always made, as the printed
    symbol can be wished for too."""
    return [
        complete(entry, wish=wish, take=take)
        for entry in listed
        for wish in entry.get("wish_from", (None,))
        for take in entry.get("take_from", (None,))
    ]
