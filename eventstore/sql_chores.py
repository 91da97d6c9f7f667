"""The statements of recurring work: whose turn it is to do it, and what it removes."""

from __future__ import annotations

from typing import LiteralString

ENSURE: LiteralString = """
INSERT INTO chores (name) SELECT unnest(%(names)s::text[]) ON CONFLICT (name) DO NOTHING
"""

CLAIM: LiteralString = """
UPDATE chores SET claims = claims + 1,
    claimed_until = clock_timestamp() + make_interval(secs => %(lease)s)
WHERE name = %(name)s AND due_at <= clock_timestamp() AND claimed_until < clock_timestamp()
RETURNING claims
"""

DUE: LiteralString = """
SELECT name, extract(epoch FROM greatest(due_at, claimed_until) - clock_timestamp())::float8
FROM chores WHERE name = ANY(%(names)s::text[])
"""

FINISH: LiteralString = """
UPDATE chores SET due_at = clock_timestamp() + make_interval(secs => %(every)s),
    claimed_until = '-infinity', failures = 0, done_at = clock_timestamp()
WHERE name = %(name)s AND claims = %(claim)s
"""

RETRY: LiteralString = """
UPDATE chores SET failures = failures + 1, claimed_until = '-infinity',
    due_at = clock_timestamp()
        + make_interval(secs => least(%(every)s, %(first)s * 2 ^ least(failures, 20)))
WHERE name = %(name)s AND claims = %(claim)s
"""

_PURGE: LiteralString = """
WITH removed AS (
    DELETE FROM {table} WHERE ({key}) IN (
        SELECT {key} FROM {table}
        WHERE expires_at < %(now)s ORDER BY expires_at LIMIT %(limit)s
    ) AND expires_at < %(now)s
    RETURNING 1
) SELECT count(*) FROM removed
"""

PURGE_IDEMPOTENCY: LiteralString = _PURGE.format(table="idempotency", key="game_id, token_id, key")

PURGE_CREATIONS: LiteralString = _PURGE.format(table="creations", key="token_id, key")

PURGE_TICKETS: LiteralString = _PURGE.format(table="stream_tickets", key="game_id, ticket_hash")

IDLE_LOBBIES: LiteralString = """
SELECT game_id::text, version FROM games
WHERE status = 'lobby' AND game_id > %(after)s::uuid AND game_id < %(newest)s::uuid
    AND updated_at < %(before)s
ORDER BY game_id LIMIT %(limit)s
"""
