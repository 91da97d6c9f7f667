"""Full records of simulated matches: the contract's events, chained, one line each."""

from __future__ import annotations

from pathlib import Path

from domain.events import Event, Recorded
from domain.redaction import EVERYTHING, redact
from eventstore.recorded import ZERO_HASH, body, canonical, hash_after, rest


class Record:
    """The record of one match, built append by append; `add` is an observer of the match."""

    def __init__(self) -> None:
        self.events: list[Recorded] = []
        self._head = ZERO_HASH

    def add(self, game_id: str, events: list[Event], at: str) -> None:
        """Chain the events of one append, all of them at the time `at`."""
        for event in events:
            after = hash_after(self._head, body(at, rest(game_id, event)))
            self.events.append(
                Recorded(
                    game_id, event.version, event.type, at, event.by, event.data, self._head, after
                )
            )
            self._head = after

    def save(self, folder: Path) -> Path:
        """Write the record to `<game_id>.ndjson` in `folder`, each line the canonical JSON of an
        event as an export has it, all of it open; return the file."""
        path = folder / f"{self.events[0].game_id}.ndjson"
        lines = (canonical(redact(event, EVERYTHING, over=True)) for event in self.events)
        part = path.with_suffix(".part")
        part.write_bytes(b"".join(line + b"\n" for line in lines))
        # A run that is stopped leaves no record that only looks whole.
        return part.replace(path)
