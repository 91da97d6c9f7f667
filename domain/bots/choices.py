"""From a listed legal move to one that can be posted."""

from __future__ import annotations

from typing import Any

Move = dict[str, Any]


def complete(entry: dict[str, Any], *, wish: str | None = None, take: str | None = None) -> Move:
    """The listed move with its choice made and the due call spoken, without round and turn."""
    move = {name: value for name, value in entry["move"].items() if name not in ("round", "turn")}
    if wish is not None:
        move["wish"] = wish
    if take is not None:
        move["take"] = take
    if "call_due" in entry:
        move["call"] = entry["call_due"]
    return move
