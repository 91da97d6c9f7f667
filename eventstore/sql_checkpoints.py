"""The statements on checkpoints, as text."""

from __future__ import annotations

from typing import LiteralString

from .sql import DETACHED, EVENT, NOW

NEWEST: LiteralString = f"""
SELECT c.number, c.position, c.jws, (SELECT coalesce(max(position), 0) FROM feed), {NOW}
FROM (SELECT 1) one LEFT JOIN LATERAL (
    SELECT number, position, jws FROM checkpoints ORDER BY number DESC LIMIT 1
) c ON true
"""

CHANGED_HEADS: LiteralString = f"""
SELECT f.game_id::text, f.version, e.hash
FROM (
    SELECT game_id, max(version) AS version FROM feed
    WHERE position > %(after)s AND position <= %(until)s GROUP BY game_id
) f
LEFT JOIN {EVENT.format("f")} e ON true
ORDER BY f.game_id
"""

ADD: LiteralString = """
INSERT INTO checkpoints (number, position, heads, jws)
VALUES (%(number)s, %(position)s, %(heads)s, %(jws)s) ON CONFLICT DO NOTHING
RETURNING true
"""

AFTER: LiteralString = """
SELECT number, position, heads, jws FROM checkpoints
WHERE number > %(number)s ORDER BY number LIMIT %(limit)s
"""

BEFORE: LiteralString = """
SELECT number, position, heads, jws FROM checkpoints
WHERE number < %(number)s ORDER BY number DESC LIMIT %(limit)s
"""

COUNT: LiteralString = "SELECT count(*) FROM checkpoints"

STORED_HEADS: LiteralString = f"""
SELECT e.hash, g.game_id IS NOT NULL,
    CASE WHEN e.hash IS NULL THEN (
        SELECT n.version FROM events n
        WHERE n.game_id = head.game_id ORDER BY n.version DESC LIMIT 1
    ) END,
    {DETACHED.format("head.game_id")} IS NOT NULL
FROM unnest(%(game_ids)s::uuid[], %(versions)s::int[]) WITH ORDINALITY
    AS head(game_id, version, number)
LEFT JOIN {EVENT.format("head")} e ON true
LEFT JOIN games g ON g.game_id = head.game_id
ORDER BY head.number
"""
