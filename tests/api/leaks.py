"""What each caller may not learn while a match runs, worked out from the full record alone."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from domain.events import Recorded
from domain.registry import RULESETS
from eventstore.store import Store
from tests.api.client import Client
from tests.api.tables import Table


def seen_cards(events: Iterable[Recorded], seat: int | None) -> set[str]:
    """The cards that `seat` (None: a spectator) has seen: what lay open, and what it held."""
    seen: set[str] = set()
    for event in events:
        data = event.data
        for name in ("card", "turned_up", "captured"):
            if name in data:
                seen.add(data[name])
        seen.update(data.get("units", ()))
        seen.update(data.get("discarded", ()))
        if event.type == "cards.drawn" and data["seat"] == seat:
            seen.update(data["cards"])
        if event.type == "round.dealt" and seat is not None:
            seen.update(data["hands"].get(str(seat), ()))
    return seen


@dataclass
class Match:
    """A running match with everything in it that somebody could learn who must not."""

    table: Table
    callers: dict[str, Client]
    seats: dict[str, int]
    """The seats of those callers that have one."""
    auditors: set[str]
    codes: dict[str, str] = field(default_factory=dict)
    """Secrets that only the caller so named was told: invites, ids of attempts, statements."""
    everyones: set[str] = field(default_factory=set)
    """Of those, what auditors may see too."""

    def hidden_from(self, caller: str, store: Store) -> dict[str, str]:
        """What `caller` must find nowhere, each with what it is."""
        events = store.events(self.table.game_id)
        loaded = store.load(self.table.game_id)
        assert loaded is not None
        assert not loaded.game.over
        secret = loaded.secret
        hidden = {
            secret.hex(): "the secret",
            base64.b64encode(secret).decode(): "the secret",
            base64.urlsafe_b64encode(secret).decode().rstrip("="): "the secret",
        }
        for name, client in self.callers.items():
            if client.token is not None and client.token != self.callers[caller].token:
                hidden[client.token] = f"the token of {name}"
        for code, owner in self.codes.items():
            mine = self.callers[owner].player_id == self.callers[caller].player_id
            if not mine and not (caller in self.auditors and code in self.everyones):
                hidden[code] = f"what only {owner} knows"
        if caller in self.auditors:
            return hidden
        seen = seen_cards(events, self.seats.get(caller))
        for card in RULESETS[loaded.game.ruleset].cards:
            if card not in seen:
                hidden[card] = "a card"
        for event in events:
            if "salt" in event.data:
                hidden[event.data["salt"]] = f"the salt of event {event.version}"
        return hidden


def found(served: bytes, hidden: dict[str, str]) -> list[str]:
    """What of `hidden` is in `served`, however it is cased."""
    text = served.lower()
    return [f"{what}: {each}" for each, what in hidden.items() if each.lower().encode() in text]


def wire(answer: Any, version: int = 0) -> bytes:
    """Everything of an answer that travels: its status, headers and body; of a stream, which goes
    on, what comes until the event `version`."""
    head = "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items())
    live = answer.mimetype == "text/event-stream"
    body = _until(answer, version) if live else answer.get_data()
    return f"{answer.status}\r\n{head}\r\n".encode() + body


def _until(answer: Any, version: int) -> bytes:
    served = b""
    for chunk in answer.response:
        served += chunk
        if f"id: {version}\n".encode() in served:
            break
    answer.close()
    return served
