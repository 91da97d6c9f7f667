"""How many tables one player may have at a time: a bound against one who fills the lists."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask, current_app

from domain.wording import Sentence

from .allowances import Allowances
from .operation import Call
from .problems import Problem
from .services import services

RETRY_SECONDS = 60
_EXTENSION = "abbot-holding"


class Holding:
    """The bounds, and who is about to take a table in this process."""

    def __init__(self, allowances: Allowances) -> None:
        self._lobbies = allowances.lobbies_per_player
        self._games = allowances.games_per_player
        self._lock = threading.Lock()
        self._coming: Counter[str] = Counter()

    @contextmanager
    def room(
        self, call: Call, *, beside: str | None = None, hosting: bool = False
    ) -> Iterator[None]:
        """Do what gives the caller one more table; 429 if they have too many.

        What is asked again under its idempotency key is let through: it gives no second table.
        Requests at the same time at several processes can go a little beyond the bounds.
        """
        player_id = call.player.player_id
        with self._lock:
            self._coming[player_id] += 1
            coming = self._coming[player_id]
        try:
            held = services().tables.held(
                player_id, beside=beside, token_id=call.player.token_id, key=call.idempotency_key
            )
            if not held.answered:
                if held.games + coming > self._games:
                    raise _too_many(
                        "You have seats in {count} tables and running games; that is the most at a "
                        "time.",
                        held.games,
                    )
                if hosting and held.lobbies + coming > self._lobbies:
                    raise _too_many(
                        "You are host of {count} tables in the lobby; that is the most at a time.",
                        held.lobbies,
                    )
            yield
        finally:
            with self._lock:
                self._coming[player_id] -= 1
                if not self._coming[player_id]:
                    del self._coming[player_id]


def _too_many(template: str, count: int) -> Problem:
    return Problem(
        "rate-limited",
        Sentence(template, count=count),
        headers={"Retry-After": str(RETRY_SECONDS)},
    )


def register(app: Flask, allowances: Allowances) -> None:
    """Bound the tables of each player of `app`."""
    app.extensions[_EXTENSION] = Holding(allowances)


def holding() -> Holding:
    """The bounds of the running application."""
    found: Holding = current_app.extensions[_EXTENSION]
    return found
