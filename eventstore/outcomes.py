"""What commands lead to: the append that a decision asks for, and what is told of it."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from domain.events import Recorded
from domain.game import Decision, Game

from .appending import Append, Appended, Guard, plan
from .positions import Idempotency, Loaded
from .recorded import ZERO_HASH

KEEP_KEYS = datetime.timedelta(hours=24)
"""For how long an idempotency key is answered with the first answer."""

BOT_SECONDS = (0.6, 1.5)
"""A computer player moves this long after its turn began: a little after a human would see it."""

Check = Callable[[Game], None]


# Not frozen only because that takes longer to make, and each move makes one.
@dataclass(slots=True)
class Outcome:
    """What a command led to. `game` is the game after the events `first` to `last`, which are
    `events`; none, and `last` = `first` - 1, if all was so already. `replayed`: this had been
    answered before. `now` is the database's clock then."""

    game: Game
    _events: list[Recorded] | Callable[[], list[Recorded]]
    first: int
    last: int
    replayed: bool
    now: str
    head_hash: str
    """The hash of the event `last`."""
    rematch: str | None = None
    """The game that its players play next, once it is open."""

    @property
    def events(self) -> list[Recorded]:
        """As they stand in the record. They are made when somebody asks: who only goes on from
        the position does without."""
        if not isinstance(self._events, list):
            self._events = self._events()
        return self._events


def planned(
    before: Game,
    prev_hash: str | None,
    decision: Decision,
    guard: Guard,
    idempotency: Idempotency | None,
    **opening: Any,
) -> Append:
    """The append that leads from `before`, whose newest event has the hash `prev_hash`, to what
    was decided. `opening`: what else opens a game."""
    append = plan(
        before,
        decision.game,
        decision.events,
        prev_hash=prev_hash,
        guard=guard,
        bot_delay=_bot_delay,
        **opening,
    )
    if idempotency is not None:
        append.token_id = idempotency.token_id
        append.key = idempotency.key
        append.path = idempotency.path
        append.body_hash = idempotency.body_hash
        append.keep = KEEP_KEYS
    return append


def _bot_delay() -> float:
    return random.uniform(*BOT_SECONDS)


def stored(append: Append, appended: Appended, game: Game, rematch: str | None = None) -> Outcome:
    """The outcome of an append that was stored; `game` is the game after it."""
    _, at, hashes, first, last = appended
    assert at is not None
    assert first is not None
    assert last is not None
    game.stamp(at)
    head_hash = hashes[-1] if hashes else append.prev_hash or ZERO_HASH
    events = partial(append.stored, appended)
    return Outcome(game, events, first, last, False, at, head_hash, rematch)


def unchanged(loaded: Loaded) -> Outcome:
    """The outcome where all is so already."""
    version = loaded.game.version
    return Outcome(
        loaded.game,
        [],
        version + 1,
        version,
        False,
        loaded.now,
        loaded.head_hash,
        loaded.rematch,
    )
