"""Webhooks as their owners manage them, and the log of what was delivered."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple, TypeVar

from psycopg import Connection

from domain.webhooks import SECRET_BYTES

from . import sql_webhooks as sql
from .database import Database, patiently
from .ids import uuid7
from .pool import Pool, Row
from .sealing import Sealer

MOST_OF_OWNER = 10
"""Webhooks of one owner."""

KEEP_SECRET_SECONDS = 24 * 3600.0
"""For so long after a rotation messages are signed with the old secret as well."""

Result = TypeVar("Result")


class Owner(NamedTuple):
    """Whose a webhook is."""

    kind: str
    id: str


class Disabled(Exception):
    """Nothing is sent to this webhook until it is enabled again."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook without its secret."""

    webhook_id: str
    url: str
    events: tuple[str, ...]
    description: str
    enabled: bool
    disabled_reason: str | None
    created_at: str
    failing_since: str | None
    old_secret_until: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message, and each attempt to deliver it that is remembered, the oldest first."""

    delivery_id: str
    type: str
    game_id: str | None
    version: int | None
    status: str
    created_at: str
    due_at: str | None
    attempts: Sequence[dict[str, Any]]


class Webhooks:
    """The webhooks of one database. None wherever the owner has no such webhook or delivery."""

    def __init__(self, pool: Pool, sealer: Sealer) -> None:
        self._database = Database(pool)
        self._sealer = sealer

    def add(
        self, owner: Owner, url: str, events: Sequence[str], description: str = ""
    ) -> tuple[Webhook, bytes] | None:
        """A new webhook and its secret, which nobody can ask for later; None if the owner has as
        many as there may be."""
        webhook_id, secret = uuid7(), secrets.token_bytes(SECRET_BYTES)
        parameters = {
            **_named(owner, webhook_id),
            "url": url,
            "events": list(events),
            "description": description,
            "key_id": self._sealer.key_id,
            "secret": self._sealer.seal(secret, webhook_id),
            "most": MOST_OF_OWNER,
        }

        def add(connection: Connection[Row]) -> Row | None:
            connection.execute(sql.LOCK_OWNER, parameters)
            return connection.execute(sql.ADD, parameters).fetchone()

        row = self._together(add)
        return None if row is None else (_webhook(row), secret)

    def of(self, owner: Owner, *, before: str | None = None, limit: int = 100) -> list[Webhook]:
        """The owner's webhooks, newest first, from the one after `before` on."""
        parameters = {**_named(owner), "before": before, "limit": limit}
        return [_webhook(row) for row in self._database.run(sql.OF_OWNER, parameters)]

    def one(self, owner: Owner, webhook_id: str) -> Webhook | None:
        """One webhook."""
        return self._changed(sql.ONE, _named(owner, webhook_id))

    def change(
        self,
        owner: Owner,
        webhook_id: str,
        *,
        url: str | None = None,
        events: Sequence[str] | None = None,
        description: str | None = None,
        enabled: bool | None = None,
    ) -> Webhook | None:
        """Change what is given. What waits for a webhook that is disabled is given up."""
        parameters = {
            **_named(owner, webhook_id),
            "url": url,
            "events": None if events is None else list(events),
            "description": description,
            "enabled": enabled,
        }

        def change(connection: Connection[Row]) -> Row | None:
            row = connection.execute(sql.CHANGE, parameters).fetchone()
            if row is not None and enabled is False:
                connection.execute(sql.GIVE_UP, parameters)
            return row

        row = self._together(change)
        return None if row is None else _webhook(row)

    def rotate(self, owner: Owner, webhook_id: str) -> tuple[Webhook, bytes] | None:
        """A new secret. The one before stays in force for a while, the one before that does
        not."""
        secret = secrets.token_bytes(SECRET_BYTES)
        parameters = {
            **_named(owner, webhook_id),
            "key_id": self._sealer.key_id,
            "secret": self._sealer.seal(secret, webhook_id),
            "keep": KEEP_SECRET_SECONDS,
        }
        # Run once: run again after a lost answer, it would drop the secret that is in use.
        rows = self._database.once(sql.ROTATE, parameters)
        return (_webhook(rows[0]), secret) if rows else None

    def remove(self, owner: Owner, webhook_id: str) -> bool:
        """Remove a webhook and its log; whether there was one."""
        return bool(self._database.run(sql.REMOVE, _named(owner, webhook_id)))

    # Deliveries; whose webhook it is must have been asked before

    def deliveries(
        self, webhook_id: str, *, before: str | None = None, limit: int = 50
    ) -> list[Delivery]:
        """The deliveries of a webhook, newest first, from the one after `before` on."""
        parameters = {"webhook_id": webhook_id, "before": before, "limit": limit}
        return [Delivery(*row) for row in self._database.run(sql.DELIVERIES, parameters)]

    def delivery(self, webhook_id: str, delivery_id: str) -> Delivery | None:
        """One delivery."""
        parameters = {"webhook_id": webhook_id, "delivery_id": delivery_id}
        rows = self._database.run(sql.DELIVERY, parameters)
        return Delivery(*rows[0]) if rows else None

    def ping(self, webhook_id: str) -> tuple[Delivery, bool]:
        """Have a message sent that says nothing, and whether it is a new one: one waits at a time.
        Disabled if nothing is sent."""
        parameters = {"webhook_id": webhook_id, "delivery_id": uuid7()}
        new = False

        def ping(connection: Connection[Row]) -> Row | None:
            nonlocal new
            waiting = connection.execute(sql.PENDING_PING, parameters).fetchone()
            new = waiting is None
            return waiting or connection.execute(sql.ADD_PING, parameters).fetchone()

        row = self._due(webhook_id, ping)
        assert row is not None
        return Delivery(*row), new

    def send_again(self, webhook_id: str, delivery_id: str) -> Delivery | None:
        """Have a message sent now, whatever became of it before. Disabled if nothing is sent."""
        parameters = {"webhook_id": webhook_id, "delivery_id": delivery_id}
        row = self._due(
            webhook_id, lambda connection: connection.execute(sql.SEND_AGAIN, parameters).fetchone()
        )
        return None if row is None else Delivery(*row)

    def _due(self, webhook_id: str, change: Callable[[Connection[Row]], Row | None]) -> Row | None:
        def locked(connection: Connection[Row]) -> Row | None:
            held = connection.execute(sql.LOCK, {"webhook_id": webhook_id}).fetchone()
            if held is None or not held[0]:
                raise Disabled
            row = change(connection)
            connection.execute(sql.DUE_AT_ONCE, {"webhook_id": webhook_id})
            return row

        return self._together(locked)

    def _together(self, action: Callable[[Connection[Row]], Result]) -> Result:
        def once() -> Result:
            with self._database.connection() as connection, connection.transaction():
                return action(connection)

        return patiently(once)

    def _changed(self, statement: LiteralString, parameters: dict[str, Any]) -> Webhook | None:
        rows = self._database.run(statement, parameters)
        return _webhook(rows[0]) if rows else None


def _named(owner: Owner, webhook_id: str | None = None) -> dict[str, Any]:
    return {"owner_kind": owner.kind, "owner_id": owner.id, "webhook_id": webhook_id}


def _webhook(row: Row) -> Webhook:
    webhook_id, url, events, *rest = row
    return Webhook(webhook_id, url, tuple(events), *rest)
