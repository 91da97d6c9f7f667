"""What is to be delivered to webhooks: from the feed to due rows, and from these to senders.

A webhook is the due row: whoever claims one sends what waits for it, one message after the other,
so that one that is slow or dead takes one place at a time and holds up nobody else.
"""

from __future__ import annotations

import datetime
import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import orjson
from psycopg import Connection
from psycopg.types.json import Jsonb

from domain.events import Event
from domain.webhooks import PING, message, messages, parties, ping_message

from . import sql
from . import sql_webhooks as statements
from .database import Database, patiently
from .feed import FeedItem, consume
from .ids import uuid7
from .pool import Pool, Row
from .recorded import ZERO_HASH, from_bodies

log = logging.getLogger(__name__)

READER = "webhooks"
"""The feed's reader."""

BATCH_EVENTS = 500
"""The most events that one transaction looks at."""

BATCH_DELIVERIES = 20
"""The most messages that are read for one claim."""

RETRY_SECONDS = (5, 60, 300, 1800, 7200, 18_000, 36_000, 54_000, 72_000, 72_000)
"""Between the attempts to deliver a message, each up to a fifth longer; three days in all."""

PATIENCE_SECONDS = 3 * 24 * 3600.0
"""A webhook at which nothing has arrived for so long is disabled."""

LONGEST_PAUSE_SECONDS = 300.0
"""A webhook that fails again and again is called this often, whatever else is due for it."""

MOST_WAITING = {"player": 10_000, "app": 100_000}
"""A webhook of such an owner for which more messages wait than this is disabled."""

MOST_ATTEMPTS = 30
"""So many attempts of each message are remembered."""

KEEP_SECONDS = 30 * 24 * 3600.0
"""For so long deliveries are remembered."""

OWNER, GONE, FAILING, BACKLOG = "owner", "gone", "failing", "backlog"
"""Why a webhook is disabled: its owner did so, it answered 410, nothing arrived for days, or too
much waits."""

Result = TypeVar("Result")


class Post(NamedTuple):
    """A message for a webhook, of the event at a position of the feed."""

    position: int
    webhook_id: str
    type: str
    game_id: str
    version: int
    seat: int
    player_id: str


class Fanout:
    """Makes deliveries of the feed's events, each exactly once."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def step(self, limit: int = BATCH_EVENTS) -> int:
        """Look at the next events, at most `limit`; how many there were."""
        if not self._database.run(statements.BEHIND, {"name": READER})[0][0]:
            return 0
        if not self._database.run(statements.ANY, {})[0][0]:
            self._database.run(statements.SKIP, {"name": READER})
            return 0

        def once() -> int:
            with self._database.connection() as connection, connection.transaction():
                return consume(connection, READER, limit, _fan_out)

        return patiently(once)


def _fan_out(connection: Connection[Row], items: Sequence[FeedItem]) -> None:
    posts = sorted([*_of_lobbies(connection, items), *_of_matches(connection, items)])
    if not posts:
        return
    called = sorted({post.webhook_id for post in posts})
    connection.execute(statements.LOCK_ALL, {"webhooks": called})
    connection.execute(
        statements.ADD_DELIVERIES,
        {
            "webhooks": [post.webhook_id for post in posts],
            # In the order of the events, which is then that of the messages.
            "ids": [uuid7() for _ in posts],
            "types": [post.type for post in posts],
            "games": [post.game_id for post in posts],
            "versions": [post.version for post in posts],
            "seats": [post.seat for post in posts],
            "players": [post.player_id for post in posts],
        },
    )
    connection.execute(statements.DUE_NOW, {"webhooks": called})


def _of_matches(connection: Connection[Row], items: Sequence[FeedItem]) -> list[Post]:
    posts: list[Post] = []
    span = {"first": items[0].position, "last": items[-1].position}
    known = {item.position: item for item in items}
    rows = connection.execute(statements.SEATED, span).fetchall()
    for position, webhook_id, wanted, seat, player_id, body in rows:
        _, game_id, version = known[position]
        for type_ in messages(_made(orjson.loads(body)), seat):
            if type_ in wanted:
                posts.append(Post(position, webhook_id, type_, game_id, version, seat, player_id))
    return posts


def _of_lobbies(connection: Connection[Row], items: Sequence[FeedItem]) -> list[Post]:
    span = {"first": items[0].position, "last": items[-1].position}
    concerned: list[tuple[FeedItem, Event, dict[str, int]]] = []
    for game_id, last in connection.execute(statements.IN_LOBBY, span).fetchall():
        named = {"game_id": game_id, "last": last}
        row = connection.execute(statements.BODIES, named).fetchone()
        members = orjson.loads(row[0]) if row is not None and row[0] is not None else []
        events = [_made(member) for member in members]
        new = {item.version: item for item in items if item.game_id == game_id}
        concerned += [
            (new[event.version], event, seats)
            for event, seats in zip(events, parties(events), strict=True)
            if event.version in new
        ]
    players = {player for _, _, seats in concerned for player in seats}
    if not players:
        return []
    webhooks: dict[str, list[Row]] = {}
    named_players = {"players": sorted(players)}
    for row in connection.execute(statements.OF_PLAYERS, named_players).fetchall():
        webhooks.setdefault(row[1], []).append(row)
    return [
        Post(item.position, webhook_id, type_, item.game_id, item.version, seat, player)
        for item, event, seats in concerned
        for player, seat in seats.items()
        for webhook_id, _, wanted, after in webhooks.get(player, ())
        if item.position > after
        for type_ in messages(event, seat)
        if type_ in wanted
    ]


def _made(member: dict[str, Any]) -> Event:
    return Event(member["version"], member["type"], member["by"], member["data"], member["at"])


class Claimed(NamedTuple):
    """A webhook that this process calls; `claim` numbers the claims."""

    webhook_id: str
    owner_kind: str
    claim: int
    slow: bool
    url: str
    secret: bytes
    old_secret: bytes | None


@dataclass(frozen=True, slots=True)
class Due:
    """A message that is due. `payload` is None if its event is not in the record."""

    delivery_id: str
    tries: int
    payload: dict[str, Any] | None


class State(NamedTuple):
    """How a webhook stands after an attempt."""

    enabled: bool
    failures: int
    rest: float = 0.0
    """Seconds for which it wants nothing."""


class Deliveries:
    """The due rows, as senders see them. All times are the database's."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def claim(self, key_id: str, limit: int, lease_seconds: float, *, slow: bool) -> list[Claimed]:
        """Claim webhooks for which something is due, the longest due first. `slow`: those that
        took long, or failed, the last time."""
        parameters = {
            "key_id": key_id,
            "limit": limit,
            "lease": lease_seconds,
            "slow": slow,
            "now": self.now(),
        }
        return [Claimed(*row) for row in self._database.run(statements.CLAIM, parameters)]

    def wait(self, key_id: str) -> float | None:
        """Seconds until something can be claimed; None when nothing waits."""
        rows = self._database.run(statements.NEXT_DUE, {"key_id": key_id, "now": self.now()})
        return float(rows[0][0]) if rows else None

    def due(self, webhook_id: str, limit: int = BATCH_DELIVERIES) -> list[Due]:
        """What is due for a webhook."""
        parameters = {"webhook_id": webhook_id, "limit": limit, "now": self.now()}
        return [_due(webhook_id, row) for row in self._database.run(statements.DUE, parameters)]

    def note(
        self,
        claimed: Claimed,
        due: Due,
        attempt: dict[str, Any],
        *,
        delivered: bool,
        gone: bool = False,
        slow: bool = False,
        least_wait: float = 0.0,
    ) -> State | None:
        """Note what became of an attempt; None if the webhook is somebody else's meanwhile, who
        makes the attempt again. `gone`: the receiver wants nothing more, ever. `least_wait`: it
        wants nothing for so many seconds."""
        last = due.tries >= len(RETRY_SECONDS) or due.payload is None
        wait = 0.0
        if not delivered and not last:
            wait = max(least_wait, RETRY_SECONDS[due.tries] * random.uniform(1.0, 1.2))
        status = "delivered" if delivered else "failed" if last else "pending"

        def note(connection: Connection[Row]) -> State | None:
            now = connection.execute(sql.CLOCK).fetchone()
            assert now is not None
            parameters: dict[str, Any] = {
                **_held(claimed),
                "delivery_id": due.delivery_id,
                "now": now[0],
                "patience": PATIENCE_SECONDS,
                "status": status,
                "wait": wait,
                "most": MOST_ATTEMPTS,
                "attempt": Jsonb([{"at": _time(now[0]), **attempt}]),
                "slow": slow,
            }
            held = connection.execute(statements.HELD, parameters).fetchone()
            if held is None:
                return None
            connection.execute(statements.NOTE, parameters)
            if delivered:
                connection.execute(statements.WORKED, parameters)
                return State(held[0], 0)
            (failures,) = connection.execute(statements.FAILED, parameters).fetchone() or (1,)
            reason = GONE if gone else FAILING if held[1] else None
            if reason is not None:
                _disable(connection, claimed.webhook_id, reason)
            return State(held[0] and reason is None, failures, least_wait)

        return self._together(note)

    def release(self, claimed: Claimed, pause_seconds: float = 0.0) -> None:
        """Give a webhook back; it is due again with the next message that is, but not before
        `pause_seconds` have passed."""

        def release(connection: Connection[Row]) -> None:
            now = connection.execute(sql.CLOCK).fetchone()
            assert now is not None
            parameters = {
                **_held(claimed), "now": now[0], "patience": 0.0, "pause": pause_seconds
            }  # fmt: skip
            # Held before anything is looked at: what is being added would be missed otherwise.
            if connection.execute(statements.HELD, parameters).fetchone() is not None:
                connection.execute(statements.RELEASE, parameters)

        self._together(release)

    def disable_if_too_much_waits(self, claimed: Claimed, most: int | None = None) -> bool:
        """Disable the webhook if more than `most` messages wait for it; whether they do."""
        most = MOST_WAITING[claimed.owner_kind] if most is None else most
        parameters = {"webhook_id": claimed.webhook_id, "limit": most + 1}
        if self._database.run(statements.WAITING, parameters)[0][0] <= most:
            return False
        self._together(lambda connection: _disable(connection, claimed.webhook_id, BACKLOG))
        return True

    def purge(self, limit: int) -> int:
        """Forget at most `limit` deliveries that are old and wait for nothing; how many."""
        now = self.now()
        before = now - datetime.timedelta(seconds=KEEP_SECONDS)
        rows = self._database.run(statements.PURGE, {"before": before, "limit": limit})
        return int(rows[0][0])

    def now(self) -> datetime.datetime:
        """The database's clock."""
        moment: datetime.datetime = self._database.run(sql.CLOCK, {})[0][0]
        return moment

    def _together(self, action: Callable[[Connection[Row]], Result]) -> Result:
        def once() -> Result:
            with self._database.connection() as connection, connection.transaction():
                return action(connection)

        return patiently(once)


def _disable(connection: Connection[Row], webhook_id: str, reason: str) -> None:
    parameters = {"webhook_id": webhook_id, "reason": reason}
    connection.execute(statements.DISABLE, parameters)
    connection.execute(statements.GIVE_UP, parameters)
    log.info("The webhook %s is disabled: %s.", webhook_id, reason)


def _time(moment: datetime.datetime) -> str:
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _held(claimed: Claimed) -> dict[str, Any]:
    return {"webhook_id": claimed.webhook_id, "claim": claimed.claim}


def _due(webhook_id: str, row: Row) -> Due:
    delivery_id, type_, _, _, seat, player_id, tries, created_at, body, hash_, before = row
    if type_ == PING:
        return Due(delivery_id, tries, ping_message(webhook_id, created_at))
    if body is None:
        return Due(delivery_id, tries, None)
    prev_hash = ZERO_HASH if before is None else before.hex()
    (event,) = from_bodies([orjson.loads(body)], hash_, prev_hash)
    return Due(delivery_id, tries, message(type_, event, seat, player_id))
