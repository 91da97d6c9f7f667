"""The statements on many games at a time. They read, or touch rows that belong to no move."""

from __future__ import annotations

from typing import LiteralString

LOAD_MANY: LiteralString = """
SELECT g.game_id::text, e.bodies, e.hashes, g.secret, g.rematch_of::text, g.version, (
        SELECT n.version FROM events n WHERE n.game_id = g.game_id ORDER BY n.version DESC LIMIT 1
    )
FROM games g
CROSS JOIN LATERAL (
    SELECT convert_to('[' || string_agg(x.body, ',') || ']', 'UTF8') AS bodies,
        string_agg(x.hash, ''::bytea) AS hashes
    FROM (
        SELECT version, body, hash FROM events
        WHERE game_id = g.game_id AND version <= coalesce(g.started_version, g.version)
        UNION ALL
        SELECT version, body, hash FROM events
        WHERE game_id = g.game_id AND version >= g.round_version
        ORDER BY version
    ) x
) e
WHERE g.game_id = ANY(%(game_ids)s::uuid[])
"""
"""Games with the events of their lobby and of their latest round."""

LOCK_TIMEOUT: LiteralString = "SELECT set_config('lock_timeout', %(timeout)s, true)"

RELEASE_MANY: LiteralString = """
UPDATE deadlines d SET claimed_until = '-infinity', claims = 0
FROM unnest(%(game_ids)s::uuid[], %(kinds)s::text[], %(rounds)s::int[], %(turns)s::int[])
    AS given(game_id, kind, round, turn)
WHERE d.game_id = given.game_id AND d.kind = given.kind AND d.round = given.round
    AND d.turn = given.turn
"""

DROP_MANY: LiteralString = """
DELETE FROM deadlines d
USING unnest(%(game_ids)s::uuid[], %(rounds)s::int[], %(turns)s::int[])
    AS given(game_id, round, turn)
WHERE d.game_id = given.game_id AND d.kind = 'turn' AND d.round = given.round
    AND d.turn = given.turn
"""
