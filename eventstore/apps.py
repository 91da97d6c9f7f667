"""Apps: their keys, their players, and acting for them. Keys are stored hashed only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import LiteralString, NamedTuple

from .database import Database
from .ids import uuid7
from .players import Caller
from .pool import Pool
from .sql import RFC3339

_CREATE: LiteralString = """
WITH app AS (
    INSERT INTO apps (app_id, name, sandbox) VALUES (%(app_id)s::uuid, %(name)s, %(sandbox)s)
    ON CONFLICT (app_id) DO NOTHING
)
INSERT INTO app_keys (key_id, app_id, key_hash)
VALUES (%(key_id)s::uuid, %(app_id)s::uuid, %(key_hash)s)
ON CONFLICT (key_id) DO NOTHING
"""

_ADD_KEY: LiteralString = """
INSERT INTO app_keys (key_id, app_id, key_hash)
SELECT %(key_id)s::uuid, app_id, %(key_hash)s FROM apps
WHERE app_id = %(app_id)s::uuid AND revoked_at IS NULL
ON CONFLICT (key_id) DO UPDATE SET key_id = excluded.key_id
RETURNING true
"""

_LOOKUP: LiteralString = """
SELECT a.app_id::text, a.name, k.key_id::text, a.sandbox
FROM app_keys k JOIN apps a ON a.app_id = k.app_id
WHERE k.key_hash = %(key_hash)s AND k.revoked_at IS NULL AND a.revoked_at IS NULL
"""

_ACTING: LiteralString = """
SELECT p.name, t.token_id::text, t.scopes
FROM players p LEFT JOIN tokens t ON t.player_id = p.player_id
    AND t.app_key_id = %(key_id)s::uuid AND t.revoked_at IS NULL
WHERE p.player_id = %(player_id)s::uuid AND p.app_id = %(app_id)s::uuid
"""

# Only while the key is in force: whoever revokes it at the same time waits for this, or this for
# them.
_ACT: LiteralString = """
INSERT INTO tokens (token_id, player_id, token_hash, scopes, app_id, app_key_id)
SELECT %(token_id)s::uuid, %(player_id)s::uuid, %(token_hash)s, %(scopes)s, k.app_id, k.key_id
FROM (SELECT app_id, key_id FROM app_keys
    WHERE key_id = %(key_id)s::uuid AND revoked_at IS NULL FOR UPDATE) k
ON CONFLICT (token_hash) DO NOTHING
"""

# One for each reference, however often it is asked for.
_REGISTER: LiteralString = """
INSERT INTO players (player_id, name, app_id, reference, sandbox)
SELECT %(player_id)s::uuid, %(name)s, app_id, %(reference)s, sandbox FROM apps
WHERE app_id = %(app_id)s::uuid
ON CONFLICT DO NOTHING
"""

_PLAYERS: LiteralString = f"""
SELECT player_id::text, name, reference, to_char(created_at AT TIME ZONE 'UTC', '{RFC3339}')
FROM players WHERE app_id = %(app_id)s::uuid
    AND (%(player_id)s::uuid IS NULL OR player_id = %(player_id)s::uuid)
    AND (%(reference)s::text IS NULL OR reference = %(reference)s)
    AND (%(before)s::uuid IS NULL OR player_id < %(before)s::uuid)
ORDER BY player_id DESC LIMIT %(limit)s
"""

_REVOKE_KEYS: LiteralString = """
UPDATE app_keys SET revoked_at = coalesce(revoked_at, now())
WHERE key_id = %(id)s::uuid OR app_id = %(id)s::uuid
"""

_REVOKE_APP: LiteralString = """
UPDATE apps SET revoked_at = coalesce(revoked_at, now()) WHERE app_id = %(id)s::uuid
"""

_REVOKE_TOKENS: LiteralString = """
UPDATE tokens SET revoked_at = coalesce(revoked_at, now())
WHERE app_key_id = %(id)s::uuid OR app_id = %(id)s::uuid
"""

# Whoever held the app's keys or tokens may have made them.
_REMOVE_WEBHOOKS: LiteralString = """
DELETE FROM webhooks WHERE owner_id = %(id)s::uuid AND owner_kind = 'app'
    OR owner_kind = 'player'
        AND owner_id IN (SELECT player_id FROM players WHERE app_id = %(id)s::uuid)
"""

_KNOWN: LiteralString = """
SELECT true FROM apps WHERE app_id = %(id)s::uuid
UNION ALL SELECT true FROM app_keys WHERE key_id = %(id)s::uuid LIMIT 1
"""

_LIST: LiteralString = f"""
SELECT a.app_id::text, a.name, k.key_id::text,
    to_char(k.created_at AT TIME ZONE 'UTC', '{RFC3339}'), a.sandbox
FROM apps a JOIN app_keys k ON k.app_id = a.app_id
WHERE a.revoked_at IS NULL AND k.revoked_at IS NULL ORDER BY a.app_id, k.key_id
"""


class ListedKey(NamedTuple):
    """A key in force, its app, when it was made, and whether the app is one for tests."""

    app_id: str
    name: str
    key_id: str
    created_at: str
    sandbox: bool


class App(NamedTuple):
    """An app, as one of its keys shows it."""

    app_id: str
    name: str
    key_id: str
    sandbox: bool = False
    """Whether it is one for tests: all its players are."""


class AppPlayer(NamedTuple):
    """A player of an app."""

    player_id: str
    name: str
    reference: str | None
    created_at: str


class Apps:
    """The apps. How a key looks is the caller's business, see `api`."""

    def __init__(self, pool: Pool) -> None:
        self._database = Database(pool)

    def create(self, name: str, key_hash: bytes, *, sandbox: bool = False) -> App:
        """A new app with a first key; one of the `sandbox` stays one for ever."""
        app = App(uuid7(), name, uuid7(), sandbox)
        self._database.run(_CREATE, {**app._asdict(), "key_hash": key_hash})
        return app

    def add_key(self, app_id: str, key_hash: bytes) -> str | None:
        """One more key of an app; its id, None if there is no such app in force."""
        key_id = uuid7()
        parameters = {"app_id": app_id, "key_id": key_id, "key_hash": key_hash}
        return key_id if self._database.run(_ADD_KEY, parameters) else None

    def lookup(self, key_hash: bytes) -> App | None:
        """Whose valid key this is the hash of, or None."""
        rows = self._database.run(_LOOKUP, {"key_hash": key_hash})
        return App(*rows[0]) if rows else None

    def acting(self, app: App, player_id: str, scopes: Sequence[str]) -> Caller | None:
        """The app as its player, with `scopes`; None if that is none of its players.

        What it does so has a token of its own in the books, that nobody holds: it ends with the
        key, and with it all that is open under it.
        """
        asked = {"app_id": app.app_id, "key_id": app.key_id, "player_id": player_id}
        for _ in range(2):
            rows = self._database.run(_ACTING, asked)
            if not rows:
                return None
            name, token_id, held = rows[0]
            if token_id is not None:
                return Caller(
                    player_id,
                    name,
                    token_id,
                    frozenset(held),
                    app_id=app.app_id,
                    sandbox=app.sandbox,
                )
            # A text that no token has, so that nothing that is sent has this hash.
            text = f"app key {app.key_id} for {player_id}"
            token_hash = hashlib.sha256(text.encode()).digest()
            added = {"token_id": uuid7(), "token_hash": token_hash, "scopes": list(scopes)}
            self._database.run(_ACT, {**asked, **added})
        return None

    def register(
        self, app_id: str, name: str, reference: str | None = None
    ) -> tuple[AppPlayer, bool]:
        """A player of the app, and whether it is a new one: there is one for each reference."""
        player_id = uuid7()
        parameters = {
            "player_id": player_id,
            "app_id": app_id,
            "name": name,
            "reference": reference,
        }
        self._database.run(_REGISTER, parameters)
        if reference is None:
            (player,) = self.players(app_id, player_id=player_id)
        else:
            (player,) = self.players(app_id, reference=reference)
        return player, player.player_id == player_id

    def players(
        self,
        app_id: str,
        *,
        player_id: str | None = None,
        reference: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[AppPlayer]:
        """The app's players, newest first, from the one after `before` on."""
        parameters = {
            "app_id": app_id,
            "player_id": player_id,
            "reference": reference,
            "before": before,
            "limit": limit,
        }
        return [AppPlayer(*row) for row in self._database.run(_PLAYERS, parameters)]

    def revoke(self, id: str) -> bool:
        """End a key, or an app with all its keys, the tokens that it asked for and the webhooks
        of its players; False if there is neither. Its players stay."""
        if not self._database.run(_KNOWN, {"id": id}):
            return False
        for statement in (_REVOKE_APP, _REVOKE_KEYS, _REVOKE_TOKENS, _REMOVE_WEBHOOKS):
            self._database.run(statement, {"id": id})
        return True

    def list(self) -> list[ListedKey]:
        """Each key in force."""
        return [ListedKey(*row) for row in self._database.run(_LIST, {})]
