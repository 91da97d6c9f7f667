"""Invitations to private tables. Codes are stored hashed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from typing import LiteralString

from .errors import GameNotFound
from .executor import Check, Executor, Idempotency

_ADD: LiteralString = """
INSERT INTO invites (game_id, code_hash) VALUES (%(game_id)s::uuid, %(code_hash)s)
ON CONFLICT (game_id, code_hash) DO NOTHING
"""

_REVOKE: LiteralString = """
UPDATE invites SET revoked_at = coalesce(revoked_at, now())
WHERE game_id = %(game_id)s::uuid AND code_hash = %(code_hash)s
RETURNING true
"""

_VALID: LiteralString = """
SELECT true FROM invites
WHERE game_id = %(game_id)s::uuid AND code_hash = %(code_hash)s AND revoked_at IS NULL
"""

_ADMIT: LiteralString = """
INSERT INTO invited (game_id, player_id) VALUES (%(game_id)s::uuid, %(player_id)s::uuid)
ON CONFLICT (game_id, player_id) DO NOTHING
"""

_ADMITTED: LiteralString = """
SELECT true FROM invited WHERE game_id = %(game_id)s::uuid AND player_id = %(player_id)s::uuid
"""

_CODE_BYTES = 15


class Invites:
    """Who may see and join private tables besides those who sit there."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.database = executor.store.database

    def create(
        self, game_id: str, *, check: Check | None = None, idempotency: Idempotency | None = None
    ) -> str:
        """A new code for the game; the same again for the same idempotency key.

        `check` is given the game and raises what forbids it. Raises GameNotFound and KeyReused.
        """
        self.executor.acknowledge(game_id, check=check, idempotency=idempotency)
        code = secrets.token_bytes(_CODE_BYTES)
        if idempotency is not None:
            # Told by the game's secret, so that the answer need not be kept to be given again.
            loaded = self.executor.store.load(game_id)
            if loaded is None:
                raise GameNotFound
            request = f"invite:{idempotency.token_id}:{idempotency.key}".encode()
            code = hmac.digest(loaded.secret, request, hashlib.sha256)[:_CODE_BYTES]
        text = base64.b32encode(code).decode().lower()
        self.database.run(_ADD, _named(game_id, text))
        return text

    def revoke(self, game_id: str, code: str) -> bool:
        """End an invitation, if it is in force; False if there never was one with this code."""
        return bool(self.database.run(_REVOKE, _named(game_id, code)))

    def valid(self, game_id: str, code: str) -> bool:
        """Whether the code opens the game."""
        return bool(self.database.run(_VALID, _named(game_id, code)))

    def admit(self, game_id: str, player_id: str) -> None:
        """From now on the player may see the game without a code."""
        self.database.run(_ADMIT, {"game_id": game_id, "player_id": player_id})

    def admitted(self, game_id: str, player_id: str) -> bool:
        """Whether the player was admitted, with a code or by a rematch."""
        parameters = {"game_id": game_id, "player_id": player_id}
        return bool(self.database.run(_ADMITTED, parameters))


def code_hash(code: str) -> bytes:
    """As which a code is stored."""
    return hashlib.sha256(code.encode()).digest()


def _named(game_id: str, code: str) -> dict[str, object]:
    return {"game_id": game_id, "code_hash": code_hash(code)}
