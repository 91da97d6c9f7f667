"""The statements on games, as text. Each one of a game names it, and touches no other.

Bodies of several events travel as one JSON array and their hashes as one string of bytes: parsing
one array is several times faster than parsing one text for each row. Those of a whole game travel
as rows, as the server would spend longer on gluing them together than on finding them.
"""

from __future__ import annotations

from typing import LiteralString

RFC3339: LiteralString = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'

NOW: LiteralString = f"to_char(clock_timestamp() AT TIME ZONE 'UTC', '{RFC3339}')"

EVENT: LiteralString = """LATERAL (
    SELECT body, hash FROM events
    WHERE game_id = {0}.game_id AND version = {0}.version LIMIT 1
)"""
"""The event that a row of the relation `{0}` names. The limit has it looked up for each row, along
the key, whatever the planner believes: without statistics, as after a restore, or with a plan made
for any number of rows it would join, and read all events there are for a handful."""

DETACHED: LiteralString = """(
    SELECT a.partition FROM archives a WHERE {0} >= a.low AND {0} < a.high LIMIT 1
)"""
"""The month of the game `{0}`, if it is detached. Asked in the statement that finds no events: one
that comes later may see another state of things."""

_OF_GAME: LiteralString = """
FROM games g
LEFT JOIN rematches r ON r.old_game_id = g.game_id AND r.created_at IS NOT NULL
LEFT JOIN idempotency i ON i.game_id = g.game_id AND i.token_id = %(token_id)s::uuid
    AND i.key = %(key)s AND i.expires_at > clock_timestamp()"""

_RECORD: LiteralString = f"""
SELECT 0, json_build_array({NOW}, r.new_game_id, i.path, encode(i.body_hash, 'hex'),
    i.first_version, i.last_version, encode(g.secret, 'hex'), g.rematch_of, g.version,
    coalesce((
        SELECT json_build_array(n.version, encode(n.hash, 'hex')) FROM events n
        WHERE n.game_id = %(game_id)s::uuid ORDER BY n.version DESC LIMIT 1
    ), to_json({DETACHED.format("%(game_id)s::uuid")})))::text{_OF_GAME}
WHERE g.game_id = %(game_id)s::uuid
UNION ALL
"""

_EVENTS: LiteralString = """
SELECT version, body FROM events WHERE game_id = %(game_id)s::uuid"""

_SUMMARY: LiteralString = "FROM games WHERE game_id = %(game_id)s::uuid"

LOAD_WHOLE: LiteralString = f"{_RECORD}{_EVENTS} ORDER BY 1"
"""A game with all its events: their versions and bodies. Before them as the version 0 an array with
what is around them, as each further column would be one of every event; the last of it is the
newest event's version and hash, or the month that is detached."""

LOAD: LiteralString = f"""{_RECORD}{_EVENTS}
    AND version <= (SELECT coalesce(started_version, version) {_SUMMARY})
UNION ALL {_EVENTS}
    AND version >= (SELECT round_version {_SUMMARY})
ORDER BY 1
"""
"""The same with the events of its lobby and of its latest round."""

TAIL: LiteralString = f"""
SELECT {NOW}, r.new_game_id::text, i.path, i.body_hash, i.first_version, i.last_version,
    e.bodies, e.hashes, substr(e.hashes, 1, 32){_OF_GAME}
CROSS JOIN LATERAL (
    SELECT '[' || string_agg(x.body, ',') FILTER (WHERE x.version > %(version)s) || ']' AS bodies,
        string_agg(x.hash, ''::bytea) AS hashes
    FROM (
        SELECT version, body, hash FROM events
        WHERE game_id = %(game_id)s::uuid AND version >= %(version)s ORDER BY version
    ) x
) e
WHERE g.game_id = %(game_id)s::uuid
"""
"""The events after a version, and the hash of that version."""

EVENTS: LiteralString = f"""
SELECT convert_to('[' || string_agg(x.body, ',') || ']', 'UTF8'),
    string_agg(x.hash, ''::bytea),
    (SELECT hash FROM events WHERE game_id = %(game_id)s::uuid AND version = %(after)s),
    CASE WHEN count(*) = 0 THEN {DETACHED.format("%(game_id)s::uuid")} END
FROM (
    SELECT body, hash FROM events
    WHERE game_id = %(game_id)s::uuid AND version > %(after)s AND version <= %(last)s
    ORDER BY version
) x
"""

HEAD: LiteralString = f"""
SELECT g.version, g.status, g.visibility, r.new_game_id::text, e.hash,
    CASE WHEN e.hash IS NULL THEN {DETACHED.format("g.game_id")} END
FROM games g
LEFT JOIN rematches r ON r.old_game_id = g.game_id AND r.created_at IS NOT NULL
LEFT JOIN {EVENT.format("g")} e ON true
WHERE g.game_id = %(game_id)s::uuid
"""

APPEND: LiteralString = """
SELECT status, at, hashes, first, last FROM append_events(
    %(game_id)s::uuid, %(version)s::int, %(prev_hash)s::bytea, %(rests)s::text,
    %(guard)s::text, %(due)s::timestamptz,
    %(token_id)s::uuid, %(key)s::text, %(path)s::text, %(body_hash)s::bytea,
    %(keep)s::interval,
    %(status)s::text, %(turn_seat)s::int, %(turn_player)s::uuid,
    %(started_version)s::int, %(round_version)s::int,
    %(clock)s::text, %(round)s::int, %(turn)s::int,
    %(clock_from)s::timestamptz, %(clock_seconds)s::int,
    %(bot)s::text, %(bot_seconds)s::float8,
    %(table)s::jsonb, %(secret)s::bytea, %(seats)s::jsonb, %(ahead_ms)s::bigint)
"""

KEY_USED: LiteralString = """
SELECT game_id::text, path, body_hash, first_version, last_version FROM idempotency
WHERE token_id = %(token_id)s::uuid AND key = %(key)s AND expires_at > clock_timestamp()
UNION ALL
SELECT game_id::text, path, body_hash, NULL, NULL FROM creations
WHERE token_id = %(token_id)s::uuid AND key = %(key)s AND expires_at > clock_timestamp()
"""

CLAIM_CREATION: LiteralString = """
INSERT INTO creations AS c (token_id, key, path, body_hash, game_id, expires_at)
VALUES (%(token_id)s::uuid, %(key)s, %(path)s, %(body_hash)s, %(game_id)s::uuid,
    clock_timestamp() + %(keep)s)
ON CONFLICT (token_id, key) DO UPDATE SET path = excluded.path, body_hash = excluded.body_hash,
    game_id = excluded.game_id, expires_at = excluded.expires_at
WHERE c.expires_at <= clock_timestamp()
"""

CREATION: LiteralString = """
SELECT path, body_hash, game_id::text FROM creations
WHERE token_id = %(token_id)s::uuid AND key = %(key)s
"""

CLAIM_REMATCH: LiteralString = """
INSERT INTO rematches (old_game_id, new_game_id)
VALUES (%(game_id)s::uuid, %(new_game_id)s::uuid) ON CONFLICT (old_game_id) DO NOTHING
"""

REMATCH: LiteralString = """
SELECT new_game_id::text FROM rematches WHERE old_game_id = %(game_id)s::uuid
"""

REMATCH_OPENED: LiteralString = """
UPDATE rematches SET created_at = clock_timestamp()
WHERE old_game_id = %(game_id)s::uuid AND created_at IS NULL
"""

SEATED_PLAYERS: LiteralString = """
SELECT player_id::text, seat FROM seats
WHERE game_id = %(game_id)s::uuid AND player_id IS NOT NULL
"""

CLOCK: LiteralString = "SELECT clock_timestamp()"

CLAIM_DUE: LiteralString = f"""
UPDATE deadlines SET claimed_until = %(until)s::timestamptz, claims = claims + 1
WHERE game_id IN (
        SELECT game_id FROM deadlines
        WHERE due_at < %(now)s::timestamptz AND claimed_until < %(now)s::timestamptz
        ORDER BY due_at LIMIT %(limit)s
    )
    AND due_at < %(now)s::timestamptz AND claimed_until < %(now)s::timestamptz
RETURNING game_id::text, kind, round, turn,
    to_char(due_at AT TIME ZONE 'UTC', '{RFC3339}'), claims > 1
"""

NEXT_DUE: LiteralString = """
SELECT extract(epoch FROM due_at - clock_timestamp())::float8 FROM deadlines
WHERE claimed_until < clock_timestamp() ORDER BY due_at LIMIT 1
"""

DROP_DEADLINE: LiteralString = """
DELETE FROM deadlines
WHERE game_id = %(game_id)s::uuid AND kind = %(kind)s AND round = %(round)s AND turn = %(turn)s
"""
