"""What commands lead to: the append that a decision asks for, and what is told of it."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command led to. `game` is the game after the events `first` to `last`, which are
    `events`; none, and `last` = `first` - 1, if all was so already. `replayed`: this had been
    answered before. `now` is the database's clock then."""

    game: Game
    events: list[Recorded]
    first: int
    last: int
    replayed: bool
    now: str
    head_hash: str
    """The hash of the event `last`."""
    rematch: str | None = None
    """The game that its players play next, once it is open."""


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
    fields = plan(
        before,
        decision.game,
        decision.events,
        prev_hash=prev_hash,
        guard=guard,
        bot_delay=_bot_delay,
        **opening,
    )
    if idempotency is not None:
        fields |= {
            "token_id": idempotency.token_id,
            "key": idempotency.key,
            "path": idempotency.path,
            "body_hash": idempotency.body_hash,
            "keep": KEEP_KEYS,
        }
    return Append(**fields)


def _bot_delay() -> float:
    return random.uniform(*BOT_SECONDS)


def stored(append: Append, appended: Appended, game: Game, rematch: str | None = None) -> Outcome:
    """The outcome of an append that was stored; `game` is the game after it."""
    assert appended.at is not None
    assert appended.first is not None
    assert appended.last is not None
    game.stamp(appended.at)
    events = append.stored(appended)
    head_hash = events[-1].hash if events else append.prev_hash or ZERO_HASH
    return Outcome(
        game, events, appended.first, appended.last, False, appended.at, head_hash, rematch
    )


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
