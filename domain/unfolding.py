"""An unfolding decision: events recorded one by one on a working copy of the game."""

from __future__ import annotations

from typing import Any

from . import randomness
from .commands import Context
from .events import Event
from .evolution import begin_turn
from .state import Game


class Unfolding:
    """Collects the events that a command leads to; each is evolved at once, so that what follows
    is decided on the position it leaves. `by` is whose doing the next events are."""

    __slots__ = ("_context", "by", "events", "game")

    events: list[Event]

    def __init__(self, game: Game, context: Context, by: dict[str, Any]) -> None:
        self.game = game.copy()
        self.events = []
        self.by = by
        self._context = context

    def record(self, type_: str, data: dict[str, Any]) -> None:
        """Something happened."""
        game, by = self.game, self.by
        game.version += 1
        game.rules.evolvers[type_](game, data, by)
        self.events.append(Event(game.version, type_, by, data))

    def record_hidden(self, type_: str, data: dict[str, Any]) -> None:
        """Something happened that not everyone may see: its hash is salted."""
        data["salt"] = randomness.salt(self._context.secret, self.game.version + 1)
        self.record(type_, data)

    def record_end(self, type_: str, data: dict[str, Any]) -> None:
        """The match is over: the secret is published."""
        self.record(type_, {**data, "secret": self._context.secret.hex()})

    def begin_turn(self, seat: int, number: int) -> None:
        """The turn `number` of the round is `seat`'s; the last event begins it, and says so."""
        self.events[-1].data["turn"] = {"seat": seat, "number": number}
        begin_turn(self.game, seat, number, "")

    def chance(
        self, purpose: str, n: int = 0, round_number: int | None = None
    ) -> randomness.Chance:
        """The random words for the `n`-th use of `purpose` in the round."""
        game = self.game
        return randomness.Chance(
            self._context.secret,
            game_id=game.game_id,
            purpose=purpose,
            round_number=game.round if round_number is None else round_number,
            n=n,
            seeds=game.seeds,
            deal=game.deal,
        )


class Push(Unfolding):
    """The same on the game itself, for searching and simulating: all is judged and evolved alike,
    and no record is kept of it. A search can undo nothing, so it pushes on copies."""

    __slots__ = ()

    def __init__(self, game: Game, context: Context) -> None:
        self.game = game
        self.by = _NOBODY
        self._context = context

    def record(self, type_: str, data: dict[str, Any]) -> None:
        """Something happened."""
        game = self.game
        game.version += 1
        game.rules.evolvers[type_](game, data, _NOBODY)

    # What is not stored needs no salt.
    record_hidden = record

    def begin_turn(self, seat: int, number: int) -> None:
        """The turn `number` of the round is `seat`'s."""
        begin_turn(self.game, seat, number, "")


_NOBODY: dict[str, Any] = {}
