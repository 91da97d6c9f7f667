"""The statements on the time that the service was up."""

from __future__ import annotations

from typing import LiteralString

from .sql import NOW, RFC3339

BEAT: LiteralString = "SELECT beat(%(fresh)s::float8, %(gap)s::float8)"

SERVICE: LiteralString = f"""
SELECT {NOW}, (SELECT extract(epoch FROM clock_timestamp() - beat_at)::float8 FROM service_time),
    to_char(began_at AT TIME ZONE 'UTC', '{RFC3339}'),
    to_char(ended_at AT TIME ZONE 'UTC', '{RFC3339}')
FROM (VALUES (true)) one LEFT JOIN outages ON ended_at > %(since)s::timestamptz
ORDER BY began_at
"""

CLOCK_AND_AGE: LiteralString = """
SELECT clock_timestamp(),
    (SELECT extract(epoch FROM clock_timestamp() - beat_at)::float8 FROM service_time)
"""

UNSWEPT: LiteralString = """
SELECT to_char(began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), swept_to::text
FROM outages WHERE swept_at IS NULL ORDER BY began_at
"""

SWEPT_TO: LiteralString = """
UPDATE outages SET swept_to = %(game_id)s::uuid,
    swept_at = CASE WHEN %(done)s::boolean THEN clock_timestamp() END
WHERE began_at = %(began_at)s::timestamptz
"""

RUNNING: LiteralString = """
SELECT game_id::text, round, turn FROM deadlines
WHERE kind = 'turn' AND game_id > %(after)s::uuid ORDER BY game_id LIMIT %(limit)s
"""
