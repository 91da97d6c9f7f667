"""Commands, events and views as short lines of text, with nothing left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from domain.commands import BotMove, ExpireTurn, MakeMove
from domain.events import CATALOGUE, Recorded
from domain.refusals import Refused

NAMES = ("Ava", "Ben", "Cora", "Dora", "Emil", "Finn", "Gus", "Hugo", "Ida", "Jon")
LABEL = 9
"""Width of the word that a line begins with."""


def line(label: str, text: str) -> str:
    """One line of a step."""
    return f"  {label:<{LABEL}} {text}".rstrip()


def compact(value: Any) -> str:
    """A JSON value in few signs: lists with spaces, objects in braces, truth as yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return f"{{{named(value)}}}"
    if isinstance(value, (list, tuple)):
        return " ".join(compact(each) for each in value) or "none"
    return str(value)


def named(entries: Mapping[str, Any]) -> str:
    """`name value` of each entry, with commas."""
    return ", ".join(f"{name} {compact(value)}" for name, value in entries.items())


def _words(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", " ", name).lower()


def command(asked: Any, names: Mapping[str, str]) -> str:
    """Who asks for what; a field that keeps its default is not named."""
    said = {}
    for field in fields(asked):
        value = getattr(asked, field.name)
        default = field.default
        if field.default_factory is not MISSING:
            default = field.default_factory()
        if value != default and field.name not in ("player_id", "move"):
            said[field.name] = value
    if isinstance(asked, MakeMove | BotMove):
        move = {name: value for name, value in asked.move.items() if name != "type"}
        kind = compact(asked.move.get("type", "a move without a type"))
        if isinstance(asked, BotMove):
            who = f"seat {said.pop('seat', asked.seat)}, by a bot"
        else:
            who = names[asked.player_id]
        parts = [kind, *([named(move)] if move else [])]
        if said:
            parts.append(f"for {named(said)}")
        return f"{who}: {', '.join(parts)}"
    who = "the clock" if isinstance(asked, ExpireTurn) else names[asked.player_id]
    text = f"{who}: {_words(type(asked).__name__)}"
    return f"{text}, {named(said)}" if said else text


def by_whom(by: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """`by` of an event."""
    more = {name: value for name, value in by.items() if name not in ("kind", "seat", "player_id")}
    player = by.get("player_id")
    text = by["kind"] if player is None else f"{by['kind']} {names[player]}"
    text += f" in seat {by['seat']}" if "seat" in by else ""
    return text + (f" {compact(more)}" if more else "")


def event(recorded: Recorded, seen: Mapping[int | None, Mapping[str, Any]]) -> list[str]:
    """An event in full. `seen` is its data as each viewer sees it, None for a spectator: what
    not everyone sees has a line of its own that says who does."""
    data = recorded.data
    listed = [field.name for field in CATALOGUE[recorded.type].fields if field.name in data]
    order = listed + [name for name in data if name not in listed]
    public = {name: data[name] for name in order if seen[None].get(name) == data[name]}
    lines = [line("event", f"{recorded.version} {recorded.type}: {named(public)}")]
    for name in order:
        if name in public:
            continue
        whole = data[name]
        if name == "hands":
            for seat, hand in whole.items():
                who = [viewer for viewer in seen if seen[viewer].get(name, {}).get(seat) == hand]
                lines.append(_hidden(who, f"{name} {seat}", hand))
        else:
            who = [viewer for viewer in seen if seen[viewer].get(name) == whole]
            lines.append(_hidden(who, name, whole))
    return lines


def _hidden(who: Iterable[int | None], name: str, value: Any) -> str:
    viewers = ", ".join(f"seat {viewer}" for viewer in who)
    return line("", f"for {viewers or 'nobody'}: {name} {compact(value)}")


def refusal(refused: Refused) -> list[str]:
    """What the referee answers."""
    lines = [line("refused", f"{refused.code}: {refused.detail}")]
    if refused.rule:
        lines.append(line("", f"rule {refused.rule}"))
    if refused.facts:
        lines.append(line("", f"facts {named(refused.facts)}"))
    for error in refused.errors:
        lines.append(line("", f"error {error['field']}: {error['message']}"))
    return lines


def listed_move(entry: Mapping[str, Any]) -> str:
    """A listed move with its choices and the rules that allow it; without round and turn."""
    move = {
        name: value
        for name, value in entry["move"].items()
        if name not in ("type", "round", "turn")
    }
    parts = [entry["move"]["type"], *([named(move)] if move else [])]
    more = {name: value for name, value in entry.items() if name not in ("move", "rules")}
    if more:
        parts.append(named(more))
    return f"{', '.join(parts)}  ({compact(entry['rules'])})"


STATE = ("status", "version", "round", "turn", "result")
"""The parts of a view that make the first line of a state, in this order."""


def state(view: Mapping[str, Any]) -> list[str]:
    """What everyone sees of a game, but its seats and what `settings` shows."""
    lines = [line("game", named({name: view[name] for name in STATE if name in view}))]
    if "table" in view:
        lines.append(line("table", named(view["table"])))
    return lines


def settings(view: Mapping[str, Any]) -> dict[str, str]:
    """The parts of a view that seldom change, each as a line."""
    apart = {*STATE, "table", "seats", "you"}
    return {
        name: line("setting", f"{name} {compact(value)}")
        for name, value in view.items()
        if name not in apart
    }


def seat(entry: Mapping[str, Any], you: Mapping[str, Any] | None, names: Mapping[str, str]) -> str:
    """A seat as everyone sees it, and after a bar what it alone sees."""
    shown = {name: value for name, value in entry.items() if name not in ("seat", "player")}
    who = names[entry["player"]["player_id"]] if "player" in entry else ""
    text = ", ".join(part for part in (who, named(shown)) if part)
    if you:
        own = {name: value for name, value in you.items() if name not in ("seat", "legal_moves")}
        text += f" | {named(own)}" if own else ""
    return line(f"seat {entry['seat']}", text)
