"""The statements of readers who wait: each asks for many games, players or tokens at once."""

from __future__ import annotations

from typing import LiteralString

from .sql import DETACHED, RFC3339

NEWS: LiteralString = """
SELECT e.game_id::text, convert_to(e.body, 'UTF8'), e.hash
FROM unnest(%(games)s::uuid[], %(versions)s::int[]) AS known (game_id, version)
CROSS JOIN LATERAL (
    SELECT * FROM events WHERE game_id = known.game_id AND version > known.version
    ORDER BY version LIMIT %(limit)s
) e
ORDER BY e.game_id, e.version LIMIT %(limit)s
"""

_SHOWN: LiteralString = (
    f"to_char((real_at + g.ahead_ms * interval '1 millisecond') AT TIME ZONE 'UTC', '{RFC3339}')"
)
"""What the game's own clock shows then. Times of one form are compared as text: what is no time
is in nobody's way."""

EARLIER: LiteralString = f"""
SELECT g.game_id::text, g.spectator_delay_seconds,
    to_char(past.real_at AT TIME ZONE 'UTC', '{RFC3339}'), r.new_game_id::text, found.bodies,
    found.hashes, e.hash, substr(e.body, 8, 27),
    CASE WHEN found.bodies IS NULL AND e.hash IS NULL THEN {DETACHED.format("known.game_id")} END
FROM unnest(%(games)s::uuid[], %(versions)s::int[]) AS known (game_id, version)
JOIN games g ON g.game_id = known.game_id
CROSS JOIN LATERAL (
    SELECT real_at, {_SHOWN} AS shown FROM (
        SELECT clock_timestamp() - make_interval(secs => g.spectator_delay_seconds) AS real_at
    ) delayed
) past
LEFT JOIN rematches r ON r.old_game_id = g.game_id AND r.created_at <= past.real_at
LEFT JOIN events e ON e.game_id = known.game_id AND e.version = known.version
CROSS JOIN LATERAL (
    SELECT convert_to('[' || string_agg(x.body, ',') || ']', 'UTF8') AS bodies,
        string_agg(x.hash, ''::bytea) AS hashes
    FROM (
        SELECT n.body, n.hash FROM events n
        WHERE n.game_id = known.game_id AND n.version > known.version
            AND (n.version <= g.started_version
                OR substr(n.body, 8, 27) COLLATE "C" <= past.shown)
        ORDER BY n.version
    ) x
) found
"""
"""Of games that have begun what spectators may see after a version, and that version's hash and
time. In canonical JSON an event's time comes first."""

LATE_NEWS: LiteralString = f"""
SELECT e.game_id::text, convert_to(e.body, 'UTF8'), e.hash
FROM unnest(%(games)s::uuid[], %(versions)s::int[]) AS known (game_id, version)
JOIN games g ON g.game_id = known.game_id
CROSS JOIN LATERAL (
    SELECT {_SHOWN} AS shown FROM (
        SELECT clock_timestamp() - make_interval(secs => g.spectator_delay_seconds) AS real_at
    ) delayed
) past
CROSS JOIN LATERAL (
    SELECT * FROM events WHERE game_id = known.game_id AND version > known.version
    ORDER BY version LIMIT %(each)s
) e
WHERE g.started_version IS NULL OR e.version <= g.started_version
    OR substr(e.body, 8, 27) COLLATE "C" <= past.shown
ORDER BY e.game_id, e.version LIMIT %(limit)s
"""
"""The same for many games that are watched, a few events of each at a time."""

LATE_REMATCHES: LiteralString = """
SELECT r.old_game_id::text FROM rematches r JOIN games g ON g.game_id = r.old_game_id
WHERE r.old_game_id = ANY(%(games)s::uuid[])
    AND r.created_at <= clock_timestamp() - make_interval(secs => g.spectator_delay_seconds)
"""

REMATCHES: LiteralString = """
SELECT old_game_id::text FROM rematches
WHERE old_game_id = ANY(%(games)s::uuid[]) AND created_at IS NOT NULL
"""

TURNS: LiteralString = """
SELECT s.player_id::text, count(*), max(g.updated_at)
FROM seats s JOIN games g ON g.game_id = s.game_id AND g.turn_player = s.player_id
WHERE s.player_id = ANY(%(players)s::uuid[]) AND s.live
GROUP BY s.player_id
"""

TOKENS: LiteralString = """
SELECT token_id::text, scopes FROM tokens
WHERE token_id = ANY(%(tokens)s::uuid[]) AND revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > now())
"""

ADMITTED: LiteralString = """
SELECT game_id::text, player_id::text FROM seats
WHERE game_id = ANY(%(games)s::uuid[]) AND player_id = ANY(%(players)s::uuid[])
UNION
SELECT game_id::text, player_id::text FROM invited
WHERE game_id = ANY(%(games)s::uuid[]) AND player_id = ANY(%(players)s::uuid[])
"""

INVITES: LiteralString = """
SELECT game_id::text, code_hash FROM invites
WHERE game_id = ANY(%(games)s::uuid[]) AND code_hash = ANY(%(codes)s::bytea[])
    AND revoked_at IS NULL
"""

ADD_TICKET: LiteralString = """
WITH ticket AS (
    INSERT INTO stream_tickets (game_id, ticket_hash, token_id, expires_at)
    VALUES (%(game_id)s::uuid, %(ticket_hash)s, %(token_id)s::uuid,
        clock_timestamp() + make_interval(secs => %(seconds)s))
    ON CONFLICT (game_id, ticket_hash) DO NOTHING
)
DELETE FROM stream_tickets
WHERE game_id = %(game_id)s::uuid AND (
    expires_at < clock_timestamp()
    OR token_id = %(token_id)s::uuid AND ticket_hash NOT IN (
        SELECT ticket_hash FROM stream_tickets
        WHERE game_id = %(game_id)s::uuid AND token_id = %(token_id)s::uuid
        ORDER BY expires_at DESC LIMIT %(others)s))
"""

TICKET: LiteralString = """
SELECT token_id::text FROM stream_tickets
WHERE game_id = %(game_id)s::uuid AND ticket_hash = %(ticket_hash)s
    AND expires_at > clock_timestamp()
"""
