"""The `eventsourcing` library: one aggregate for each match, one event for each move.

It is used as its documentation shows, with its cache of aggregates switched on: the aggregate
comes from the repository, which looks for events of other processes, and is saved. Whatever the
environment does not say is as it comes.
"""

from __future__ import annotations

import statistics
import time
import uuid
from typing import Any

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event

MATCHES = 8
BY = {"kind": "player", "seat": 1, "player_id": "01a22cad-10fb-7014-bbf4-ff2bb423f608"}
MOVE = {"seat": 1, "card": "E-rose", "turn": {"seat": 0, "number": 17}}


class Match(Aggregate):
    """Remembers how many moves were made."""

    @event("Opened")
    def __init__(self) -> None:
        self.moves = 0

    @event("CardPlayed")
    def play(self, by: dict[str, Any], data: dict[str, Any]) -> None:
        self.moves += 1


class Matches(Application[uuid.UUID]):
    """Saves them."""

    name = "bench"


def prepare(threads: int) -> list[Player]:
    application = Matches()
    return [Player(application) for _ in range(threads)]


class Player:
    """Plays some matches in turn."""

    def __init__(self, application: Matches) -> None:
        self._application = application
        self._matches = [Match() for _ in range(MATCHES)]
        application.save(*self._matches)
        self._turn = 0

    def stock(self, seconds: float) -> None:
        """Nothing is needed: all moves are alike."""

    def move(self) -> None:
        self._turn = (self._turn + 1) % MATCHES
        match: Any = self._application.repository.get(self._matches[self._turn].id)
        match.play(BY, MOVE)
        self._application.save(match)


def rebuild_seconds(events: int, times: int) -> float:
    """The median time in which an aggregate of so many events is built from the database."""
    application = Matches()
    match = Match()
    for _ in range(events - 1):
        match.play({"kind": "player", "seat": 1}, MOVE)
    application.save(match)
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        built: Any = application.repository.get(match.id)
        taken.append(time.perf_counter() - began)
        assert built.moves == events - 1
    return statistics.median(taken)


if __name__ == "__main__":
    import sys

    print(rebuild_seconds(int(sys.argv[1]), int(sys.argv[2])))
