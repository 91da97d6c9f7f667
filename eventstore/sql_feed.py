"""The statements on the feed, its cursors and its leases, as text."""

from __future__ import annotations

from typing import LiteralString

SEQUENCE: LiteralString = """
WITH taken AS (
    DELETE FROM outbox o WHERE o.ctid = ANY(ARRAY(
        SELECT ctid FROM outbox ORDER BY game_id, version LIMIT %(limit)s
    ))
    RETURNING o.game_id, o.version, o.events
), given AS (
    INSERT INTO feed (position, game_id, version)
    SELECT (SELECT coalesce(max(position), 0) FROM feed)
            + row_number() OVER (ORDER BY taken.game_id, event.version),
        taken.game_id, event.version
    FROM taken, generate_series(taken.version - taken.events + 1, taken.version) AS event(version)
    RETURNING position
)
SELECT (SELECT count(*) FROM taken), (SELECT count(*) FROM given)
"""
"""Appends leave the outbox in the order of their versions: a snapshot that holds an append holds
those that its game had before. By place, not by key, rows are found once, not twice: what has come
to a place since is not in the snapshot. Of two sequencers at once one finds its positions taken."""

AFTER: LiteralString = """
SELECT position, game_id::text, version FROM feed
WHERE position > %(position)s ORDER BY position LIMIT %(limit)s
"""

HEAD: LiteralString = "SELECT coalesce(max(position), 0) FROM feed"

WAITING: LiteralString = "SELECT coalesce(sum(events), 0) FROM outbox"

CURSOR: LiteralString = "SELECT position FROM cursors WHERE name = %(name)s"

OPEN_CURSOR: LiteralString = """
INSERT INTO cursors (name, position) VALUES (%(name)s, %(position)s) ON CONFLICT DO NOTHING
"""

LOCK_CURSOR: LiteralString = "SELECT position FROM cursors WHERE name = %(name)s FOR UPDATE"

MOVE_CURSOR: LiteralString = """
UPDATE cursors SET position = %(position)s, updated_at = clock_timestamp() WHERE name = %(name)s
"""

DROP_CURSOR: LiteralString = "DELETE FROM cursors WHERE name = %(name)s"

LEASE_FREE: LiteralString = """
SELECT NOT EXISTS (
    SELECT FROM leases
    WHERE name = %(name)s AND holder <> %(holder)s::uuid AND until > clock_timestamp()
)
"""

LEASE: LiteralString = """
INSERT INTO leases AS l (name, holder, until)
VALUES (%(name)s, %(holder)s::uuid, clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
WHERE l.holder = excluded.holder OR l.until <= clock_timestamp()
RETURNING true
"""

END_LEASE: LiteralString = """
DELETE FROM leases WHERE name = %(name)s AND holder = %(holder)s::uuid
"""
