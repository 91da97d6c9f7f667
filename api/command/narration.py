"""One readable line for each event of a match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Data = Mapping[str, Any]
Teller = Callable[[str, Data, Callable[[int], str]], str]

_DRAW_REASONS = {
    "no-match": "as nothing fits",
    "annoyed": "for the annoyed monk",
    "forgotten-call": "for a call that was due",
    "worldly-call": "for a worldly word",
}

_SAYINGS: dict[str, Teller] = {
    "game.created": lambda who, d, _: (
        f"A table for {d['ruleset']} is opened; the shuffles are bound to {d['commitment'][:12]}…"
    ),
    "seat.taken": lambda who, d, _: f"{who} takes seat {d['seat']}",
    "seat.seeded": lambda who, d, _: f"{who} adds a seed of their own to the shuffles",
    "seat.ready": lambda who, d, _: f"{who} is ready",
    "seat.left": lambda who, d, _: f"{who} leaves the table",
    "table.changed": lambda who, d, _: "The host changes the table",
    "game.started": lambda who, d, _: f"The match begins with {len(d['seats'])} seats",
    "round.dealt": lambda who, d, name: (
        f"Round {d['round']} is dealt"
        + (f", {d['turned_up']} is turned up" if "turned_up" in d else "")
        + f"; {name(d['first'])} begins"
    ),
    "round.won": lambda who, d, _: (
        f"{who} wins round {d['round']}" + (" at the turn limit" if d["reason"] == "limit" else "")
    ),
    "round.void": lambda who, d, _: f"Round {d['round']} is void ({d['reason']})",
    "turn.expired": lambda who, d, _: f"{who}'s time has run out",
    "turn.extended": lambda who, d, _: f"{who} gets {d['seconds']} s back ({d['reason']})",
    "seat.away": lambda who, d, _: f"{who} is away; the Abbot plays on for that seat",
    "seat.back": lambda who, d, _: f"{who} is back",
    "seat.resigned": lambda who, d, _: f"{who} resigns",
    "card.played": lambda who, d, _: (
        f"{who} plays {d['card']}"
        + (f", wishes for {d['wish']}" if "wish" in d else "")
        + (f" and calls “{d['call']}!”" if "call" in d else "")
    ),
    "cards.drawn": lambda who, d, _: (
        f"{who} draws {d['count']} " + _DRAW_REASONS.get(d["reason"], f"({d['reason']})")
    ),
    "card.kept": lambda who, d, _: f"{who} keeps the drawn card",
    "turn.skipped": lambda who, d, _: f"{who} is skipped",
    "turn.passed": lambda who, d, _: f"{who} can neither play nor draw",
    "word.exclaimed": lambda who, d, _: f"{who} lets slip “{d['word']}!”",
    "pile.reshuffled": lambda who, d, _: f"The draw pile is shuffled: {d['count']} cards",
    "battalion.led": lambda who, d, _: f"{who} leads {_units(d)}",
    "battalion.beaten": lambda who, d, _: (
        f"{who} beats it with {_units(d)}"
        + (f" and captures {d['captured']}" if "captured" in d else "")
    ),
    "arena.taken": lambda who, d, _: f"{who} cannot beat it and takes {d['captured']}",
    "game.won": lambda who, d, _: f"{who} wins the match ({d['reason']})",
    "game.drawn": lambda who, d, _: f"The match is drawn ({d['reason']})",
    "game.abandoned": lambda who, d, _: f"The match is abandoned ({d['reason']})",
    "game.cancelled": lambda who, d, _: f"The table is closed ({d['reason']})",
}


def _units(data: Data) -> str:
    return " + ".join(data["units"])


def line(event: Mapping[str, Any], name: Callable[[int], str]) -> str:
    """The event in one line; `name` gives what to call a seat. Unknown types are named as such."""
    data = event["data"]
    seat = data.get("seat", event["by"].get("seat"))
    who = "Nobody" if seat is None else name(seat)
    say = _SAYINGS.get(event["type"])
    text = event["type"] if say is None else say(who, data, name)
    moved = event["type"] not in {"turn.expired", "turn.extended", "seat.away"}
    if event["by"]["kind"] == "clock" and moved and "seat" in data:
        text += " (played by the Abbot)"
    return f"{event['version']:>5}  {text}"
