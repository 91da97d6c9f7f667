"""The statements on disputes. Each one of a game names it, and touches no other."""

from __future__ import annotations

from typing import LiteralString

from .sql import DETACHED

EVENTS: LiteralString = """
SELECT convert_to('[' || string_agg(x.body, ',') || ']', 'UTF8'),
    string_agg(x.hash, ''::bytea)
FROM (
    SELECT body, hash FROM dispute_events WHERE game_id = %(game_id)s::uuid ORDER BY version
) x
"""

APPEND: LiteralString = """
SELECT status, version FROM append_dispute(
    %(game_id)s::uuid, %(version)s::int, %(rest)s::text, %(dispute_id)s::uuid,
    %(pending)s::boolean, %(token_id)s::uuid, %(key)s::text, %(path)s::text,
    %(body_hash)s::bytea, %(keep)s::interval)
"""

WAITING: LiteralString = f"""
SELECT DISTINCT p.game_id::text FROM pending_disputes p JOIN games g ON g.game_id = p.game_id
WHERE g.status IN ('finished', 'cancelled', 'abandoned')
    AND {DETACHED.format("p.game_id")} IS NULL
LIMIT %(limit)s
"""
"""Those that wait for nothing else: a month that is detached is left alone until it is back."""
