"""The statements of an audit, as text. They only read."""

from __future__ import annotations

from typing import LiteralString

from .sql import DETACHED, RFC3339

COUNT: LiteralString = "SELECT count(*), coalesce(sum(version), 0) FROM games"

ARCHIVES: LiteralString = "SELECT partition FROM archives ORDER BY partition"

GAME_IDS: LiteralString = """
SELECT game_id::text FROM games
WHERE game_id > %(after)s::uuid ORDER BY game_id LIMIT %(limit)s
"""

STRAY_IDS: LiteralString = """
WITH RECURSIVE found AS (
    (SELECT game_id FROM events WHERE game_id > %(after)s::uuid ORDER BY game_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT e.game_id FROM events e WHERE e.game_id > found.game_id ORDER BY e.game_id LIMIT 1
    )
    FROM found WHERE found.game_id <= %(last)s::uuid
)
SELECT game_id::text FROM found
WHERE game_id <= %(last)s::uuid
    AND NOT EXISTS (SELECT FROM games g WHERE g.game_id = found.game_id)
ORDER BY game_id
"""
"""Games of which there are events and no summary: each id by one look into the index."""

LONGEST_CLAIM: LiteralString = "1 minute"
"""Nodes claim a deadline for seconds: one that is claimed for longer was so by nobody of ours."""

GAME: LiteralString = f"""
SELECT g.secret,
    to_jsonb(g) - 'secret' || jsonb_build_object(
        'created_at', to_char(g.created_at AT TIME ZONE 'UTC', '{RFC3339}'),
        'updated_at', to_char(g.updated_at AT TIME ZONE 'UTC', '{RFC3339}'),
        'late_until', to_char(g.late_until AT TIME ZONE 'UTC', '{RFC3339}'),
        'late', g.spectator_delay_seconds > 0 AND g.started_version IS NOT NULL
            AND coalesce(g.late_until > clock_timestamp(), true)),
    (SELECT jsonb_agg(to_jsonb(s) - 'game_id') FROM seats s WHERE s.game_id = id.game_id),
    (SELECT jsonb_agg(jsonb_build_object('kind', d.kind, 'round', d.round, 'turn', d.turn,
            'due_at', to_char(d.due_at AT TIME ZONE 'UTC', '{RFC3339}'),
            'stuck', d.claimed_until > clock_timestamp() + interval '{LONGEST_CLAIM}'))
        FROM deadlines d WHERE d.game_id = id.game_id),
    e.versions, e.bodies, e.hashes,
    CASE WHEN e.versions IS NULL THEN {DETACHED.format("id.game_id")} END,
    ARRAY(
        SELECT 'rematch_of is a game that it does not follow' WHERE g.rematch_of IS NOT NULL
            AND NOT EXISTS (SELECT FROM rematches r
                WHERE r.old_game_id = g.rematch_of AND r.new_game_id = g.game_id)
        UNION ALL
        SELECT 'its rematch, ' || n.game_id || ', does not name it in rematch_of'
        FROM rematches r JOIN games n ON n.game_id = r.new_game_id
        WHERE r.old_game_id = id.game_id AND n.rematch_of IS DISTINCT FROM r.old_game_id
    ),
    d.versions, d.bodies, d.hashes
FROM (SELECT %(game_id)s::uuid AS game_id) id
LEFT JOIN games g ON g.game_id = id.game_id
CROSS JOIN LATERAL (
    SELECT array_agg(x.version) AS versions, array_agg(x.body) AS bodies,
        string_agg(x.hash, ''::bytea) AS hashes
    FROM (
        SELECT version, body, hash FROM events WHERE game_id = id.game_id ORDER BY version
    ) x
) e
CROSS JOIN LATERAL (
    SELECT array_agg(x.version) AS versions, array_agg(x.body) AS bodies,
        string_agg(x.hash, ''::bytea) AS hashes
    FROM (
        SELECT version, body, hash FROM dispute_events WHERE game_id = id.game_id ORDER BY version
    ) x
) d
"""

WITHOUT_LIMIT: LiteralString = "SET LOCAL statement_timeout = 0"

ONE_SNAPSHOT: LiteralString = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"

POSITIONS: LiteralString = "SELECT count(*), min(position), max(position) FROM feed"

FIRST_HOLE: LiteralString = """
SELECT position FROM (
    SELECT position, row_number() OVER (ORDER BY position) AS number FROM feed
) numbered
WHERE position <> number ORDER BY position LIMIT 1
"""

OUT_OF_ORDER: LiteralString = """
SELECT position, game_id::text, version, coalesce(earlier, 0) FROM (
    SELECT position, game_id, version,
        lag(version) OVER (PARTITION BY game_id ORDER BY position) AS earlier
    FROM feed
) ordered
WHERE version <> coalesce(earlier, 0) + 1 ORDER BY position LIMIT 1
"""

NOT_FED: LiteralString = """
SELECT game_id::text, coalesce(g.version, 0), coalesce(f.version, 0), coalesce(o.events, 0)
FROM games g
FULL JOIN (SELECT game_id, max(version) AS version FROM feed GROUP BY game_id) f USING (game_id)
FULL JOIN (SELECT game_id, sum(events) AS events FROM outbox GROUP BY game_id) o USING (game_id)
WHERE coalesce(f.version, 0) + coalesce(o.events, 0) <> coalesce(g.version, 0)
ORDER BY game_id LIMIT 1
"""

WAITING_OUT_OF_ORDER: LiteralString = """
SELECT game_id::text, version, events, earlier FROM (
    SELECT o.game_id, o.version, o.events,
        lag(o.version) OVER (PARTITION BY o.game_id ORDER BY o.version) AS earlier
    FROM outbox o
) ordered
WHERE version - events <> earlier ORDER BY game_id, version LIMIT 1
"""
