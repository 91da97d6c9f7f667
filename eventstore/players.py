"""Players, and the tokens that speak for them. Tokens are stored hashed only."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import LiteralString

from .database import Database
from .errors import AppsPlayer
from .ids import uuid7
from .pool import Pool, Row
from .prepared import Prepared
from .sql import RFC3339

_REGISTER: LiteralString = """
WITH player AS (
    INSERT INTO players (player_id, name, sandbox)
    VALUES (%(player_id)s::uuid, %(name)s, %(sandbox)s)
    ON CONFLICT (player_id) DO NOTHING
)
INSERT INTO tokens (token_id, player_id, token_hash, scopes)
VALUES (%(token_id)s::uuid, %(player_id)s::uuid, %(token_hash)s, %(scopes)s)
ON CONFLICT (token_id) DO NOTHING
"""

# Whoever changes what a player's tokens may, or makes one more, waits here for the other.
_LOCK_PLAYER: LiteralString = """
SELECT true FROM players WHERE player_id = %(player_id)s::uuid FOR NO KEY UPDATE
"""

# Only while what asks is in force, and with no scope that it has not itself: whoever revokes it at
# the same time waits for this, or this for them. A token ends no later than the one that asked for
# it, and with the same app.
_ISSUE: LiteralString = f"""
WITH token AS (
    SELECT app_id, expires_at FROM tokens
    WHERE token_id = %(by)s::uuid AND player_id = %(player_id)s::uuid AND revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > now()) AND %(scopes)s::text[] <@ scopes
    FOR SHARE
), key AS (
    SELECT app_id, NULL::timestamptz AS expires_at FROM app_keys
    WHERE key_id = %(key_id)s::uuid AND revoked_at IS NULL FOR SHARE
)
INSERT INTO tokens (token_id, player_id, token_hash, scopes, app_id, expires_at)
SELECT %(token_id)s::uuid, p.player_id, %(token_hash)s, %(scopes)s::text[], asking.app_id,
    least(date_trunc('milliseconds', now()) + make_interval(secs => %(seconds)s),
        asking.expires_at)
FROM (SELECT * FROM token UNION ALL SELECT * FROM key) asking
JOIN players p ON p.player_id = %(player_id)s::uuid
ON CONFLICT (token_id) DO UPDATE SET token_id = excluded.token_id
RETURNING to_char(expires_at AT TIME ZONE 'UTC', '{RFC3339}'), scopes
"""

_IN_FORCE: LiteralString = """
SELECT count(*) FROM tokens WHERE player_id = %(player_id)s::uuid AND revoked_at IS NULL
    AND app_key_id IS NULL AND (expires_at IS NULL OR expires_at > now())
"""

_LOOKUP: LiteralString = f"""
SELECT p.player_id::text, p.name, t.token_id::text, t.scopes,
    to_char(t.expires_at AT TIME ZONE 'UTC', '{RFC3339}'), p.sandbox
FROM tokens t JOIN players p ON p.player_id = t.player_id
WHERE t.token_hash = %(token_hash)s AND t.revoked_at IS NULL
    AND (t.app_id IS NULL OR EXISTS (SELECT true FROM apps a
        WHERE a.app_id = t.app_id AND a.revoked_at IS NULL))
    AND (t.expires_at IS NULL OR t.expires_at > now())
"""

_BY_HASH = Prepared("abbot_token", _LOOKUP, {"token_hash": bytes}, frozenset({"token_hash"}))

_HOLDER: LiteralString = f"""
SELECT p.player_id::text, p.name, t.token_id::text, t.scopes,
    to_char(t.expires_at AT TIME ZONE 'UTC', '{RFC3339}'), p.sandbox
FROM tokens t JOIN players p ON p.player_id = t.player_id
WHERE t.token_id = %(token_id)s::uuid AND t.revoked_at IS NULL
    AND (t.app_id IS NULL OR EXISTS (SELECT true FROM apps a
        WHERE a.app_id = t.app_id AND a.revoked_at IS NULL))
    AND (t.expires_at IS NULL OR t.expires_at > now())
"""

_TOKENS: LiteralString = f"""
SELECT token_id::text, scopes, to_char(created_at AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(expires_at AT TIME ZONE 'UTC', '{RFC3339}'), app_id::text FROM tokens
WHERE player_id = %(player_id)s::uuid AND revoked_at IS NULL AND app_key_id IS NULL
    AND (expires_at IS NULL OR expires_at > now())
    AND (%(before)s::uuid IS NULL OR token_id < %(before)s::uuid)
ORDER BY token_id DESC LIMIT %(limit)s
"""

_REVOKE: LiteralString = """
UPDATE tokens SET revoked_at = coalesce(revoked_at, now())
WHERE player_id = %(player_id)s::uuid AND token_id = %(token_id)s::uuid
    AND app_key_id IS NULL
RETURNING true
"""

_CHANGE_SCOPE: LiteralString = """
WITH changed AS (
    UPDATE tokens SET scopes = CASE WHEN %(granted)s THEN array_append(scopes, %(scope)s)
        ELSE array_remove(scopes, %(scope)s) END
    WHERE (token_id = %(id)s::uuid OR (player_id = %(id)s::uuid AND
            (NOT %(granted)s OR 'play' = ANY(scopes))))
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
        AND (%(scope)s = ANY(scopes)) <> %(granted)s
    RETURNING token_id, player_id
)
INSERT INTO scope_changes (change_id, token_id, player_id, scope, granted, by_player_id)
SELECT gen_random_uuid(), token_id, player_id, %(scope)s, %(granted)s, %(by)s::uuid FROM changed
RETURNING token_id::text
"""

_OWNER: LiteralString = """
SELECT player_id::text, app_id IS NOT NULL FROM players
WHERE player_id = %(id)s::uuid
    OR player_id = (SELECT player_id FROM tokens WHERE token_id = %(id)s::uuid) LIMIT 1
"""

_SANDBOX: LiteralString = """
SELECT sandbox FROM players WHERE player_id = %(player_id)s::uuid
"""

_HOLDS: LiteralString = """
SELECT true FROM tokens WHERE player_id = %(player_id)s::uuid AND %(scope)s = ANY(scopes)
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) LIMIT 1
"""

_NAMES: LiteralString = """
SELECT player_id::text, name FROM players WHERE player_id = ANY(%(player_ids)s::uuid[])
"""

_ERASE: LiteralString = """
WITH called AS (
    DELETE FROM webhooks WHERE owner_kind = 'player' AND owner_id = %(player_id)s::uuid
)
DELETE FROM players WHERE player_id = %(player_id)s::uuid RETURNING true
"""


REMEMBER_NAMES_SECONDS = 5.0
"""For so long the answers of one process may still name a player who was erased."""

_MOST_NAMES = 10_000


@dataclass(frozen=True, slots=True)
class Caller:
    """Who a request comes from, and what its token allows."""

    player_id: str
    name: str
    token_id: str
    scopes: frozenset[str]
    expires_at: str | None = None
    """When the token ends, if it does by itself."""
    app_id: str | None = None
    """The app that acts for the player; None where the player's own token was sent."""
    sandbox: bool = False
    """Whether the player is one for tests, and sees sandbox games alone."""


@dataclass(frozen=True, slots=True)
class Token:
    """A valid token, without what would let one use it."""

    token_id: str
    scopes: tuple[str, ...]
    created_at: str
    expires_at: str | None
    app_id: str | None
    """The app that asked for it."""


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token: what it may do, and when it ends, if it does by itself."""

    token_id: str
    scopes: tuple[str, ...]
    expires_at: str | None


class Players:
    """The players and their tokens. A token's hash is the caller's business, see `api`."""

    def __init__(self, pool: Pool, remember_seconds: float = REMEMBER_NAMES_SECONDS) -> None:
        self.database = Database(pool)
        self._names = _Names(remember_seconds)

    def register(
        self, name: str, token_hash: bytes, scopes: Sequence[str], *, sandbox: bool = False
    ) -> Caller:
        """A new player with a first token; one of the `sandbox` stays one for ever."""
        player_id, token_id = uuid7(), uuid7()
        self.database.run(
            _REGISTER,
            {
                "player_id": player_id,
                "name": name,
                "sandbox": sandbox,
                "token_id": token_id,
                "token_hash": token_hash,
                "scopes": list(scopes),
            },
        )
        return Caller(player_id, name, token_id, frozenset(scopes), sandbox=sandbox)

    def issue(
        self,
        player_id: str,
        token_hash: bytes,
        scopes: Sequence[str],
        *,
        seconds: float | None = None,
        by: str | None = None,
        key_id: str | None = None,
    ) -> IssuedToken | None:
        """One more token of a player, asked for with the player's token `by` or with the app's key
        `key_id`; None if that is no longer in force, or has not all of `scopes`, or the player is
        gone. It ends after `seconds`, and with the one that asked at the latest."""
        token_id = uuid7()
        parameters = {
            "token_id": token_id,
            "player_id": player_id,
            "token_hash": token_hash,
            "scopes": list(scopes),
            "seconds": seconds,
            "by": by,
            "key_id": key_id,
        }
        rows = self.database.run_behind(_LOCK_PLAYER, _ISSUE, parameters)
        return IssuedToken(token_id, tuple(rows[0][1]), rows[0][0]) if rows else None

    def in_force(self, player_id: str) -> int:
        """How many tokens of the player are valid."""
        return int(self.database.run(_IN_FORCE, {"player_id": player_id})[0][0])

    def lookup(self, token_hash: bytes) -> Caller | None:
        """Whose valid token this is the hash of, or None."""
        return _caller(self.database.ask(_BY_HASH, {"token_hash": token_hash}))

    def holder(self, token_id: str) -> Caller | None:
        """Whose valid token has this id, or None."""
        return _caller(self.database.run(_HOLDER, {"token_id": token_id}))

    def tokens(self, player_id: str, *, before: str | None = None, limit: int = 100) -> list[Token]:
        """The valid tokens of a player, newest first, from the one after `before` on."""
        parameters = {"player_id": player_id, "before": before, "limit": limit}
        rows = self.database.run(_TOKENS, parameters)
        return [Token(token_id, tuple(scopes), *more) for token_id, scopes, *more in rows]

    def revoke(self, player_id: str, token_id: str) -> bool:
        """End a token of that player, if it is in force; False if the player never had it."""
        parameters = {"player_id": player_id, "token_id": token_id}
        return bool(self.database.run(_REVOKE, parameters))

    def change_scope(
        self, id: str, scope: str, *, granted: bool, by: str | None = None
    ) -> list[str] | None:
        """Give or take `scope`: the ids of the tokens that changed; None for nobody's id.

        `id` is a token's or a player's. Of a player all tokens in force get it that may play, so
        that one given away for reading stays what it is; all lose it. The change is recorded, as
        by the player `by` or else by the operator. AppsPlayer where a player of an app would get
        it: whatever token they have, the app has or had.
        """
        owner = self.database.run(_OWNER, {"id": id})
        if not owner:
            return None
        player_id, of_app = owner[0]
        if granted and of_app:
            raise AppsPlayer
        parameters = {
            "id": id,
            "player_id": player_id,
            "scope": scope,
            "granted": granted,
            "by": by,
        }
        changed = self.database.run_behind(_LOCK_PLAYER, _CHANGE_SCOPE, parameters)
        return [str(row[0]) for row in changed]

    def holds(self, player_id: str, scope: str) -> bool:
        """Whether a token of the player in force has the scope."""
        return bool(self.database.run(_HOLDS, {"player_id": player_id, "scope": scope}))

    def sandbox(self, player_id: str) -> bool | None:
        """Whether the player is one of the sandbox; None for nobody's id."""
        rows = self.database.run(_SANDBOX, {"player_id": player_id})
        return bool(rows[0][0]) if rows else None

    def names(self, player_ids: Iterable[str]) -> dict[str, str]:
        """The names of players by their ids; who was erased is missing, at the latest
        `remember_seconds` later."""
        wanted = sorted(set(player_ids))
        known = self._names.get(wanted)
        missing = [player_id for player_id in wanted if player_id not in known]
        if missing:
            rows = self.database.run(_NAMES, {"player_ids": missing})
            self._names.keep(dict(rows))
            known |= dict(rows)
        return known

    def erase(self, player_id: str) -> bool:
        """Forget a person: name, tokens and webhooks go, the record holds ids only and stays as it
        is."""
        erased = bool(self.database.run(_ERASE, {"player_id": player_id}))
        self._names.forget(player_id)
        return erased


def _caller(rows: list[Row]) -> Caller | None:
    if not rows:
        return None
    player_id, name, token_id, scopes, expires_at, sandbox = rows[0]
    return Caller(player_id, name, token_id, frozenset(scopes), expires_at, sandbox=sandbox)


class _Names:
    """Names that were asked for a moment ago: a move's answer then needs no round trip for them."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._known: dict[str, tuple[str, float]] = {}

    def get(self, player_ids: Iterable[str]) -> dict[str, str]:
        now = time.monotonic()
        with self._lock:
            found = {each: self._known[each] for each in player_ids if each in self._known}
        return {each: name for each, (name, until) in found.items() if now < until}

    def keep(self, names: dict[str, str]) -> None:
        until = time.monotonic() + self._seconds
        with self._lock:
            if len(self._known) + len(names) > _MOST_NAMES:
                self._known.clear()
            self._known |= {each: (name, until) for each, name in names.items()}

    def forget(self, player_id: str) -> None:
        with self._lock:
            self._known.pop(player_id, None)
