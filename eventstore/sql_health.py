"""The statements that tell how the service is."""

from __future__ import annotations

from typing import LiteralString

SEEN: LiteralString = """
INSERT INTO nodes AS n (node, broker, started_at, seen_at)
VALUES (%(node)s, %(broker)s, clock_timestamp(), clock_timestamp())
ON CONFLICT (node) DO UPDATE SET seen_at = clock_timestamp(), broker = excluded.broker
"""

GONE: LiteralString = "DELETE FROM nodes WHERE node = %(node)s"

FORGET_NODES: LiteralString = """
DELETE FROM nodes WHERE seen_at < clock_timestamp() - make_interval(secs => %(seconds)s)
"""

READINESS: LiteralString = """
SELECT (SELECT version_num FROM alembic_version),
    (SELECT count(*) FROM nodes
        WHERE seen_at > clock_timestamp() - make_interval(secs => %(alive)s)),
    (SELECT count(*) FROM nodes
        WHERE broker AND seen_at > clock_timestamp() - make_interval(secs => %(alive)s))
"""

TOLD: LiteralString = """
SELECT now.overdue, now.unclaimed, now.oldest, nodes.alive, nodes.broker, outages.number,
    (SELECT extract(epoch FROM clock_timestamp() - beat_at)::float8 FROM service_time),
    (SELECT count(*) FROM (SELECT FROM outbox LIMIT %(limit)s) waiting),
    (SELECT coalesce(max(f.position), 0) - coalesce((SELECT max(position) FROM checkpoints), 0)
        FROM feed f)
FROM (
    SELECT count(*) FILTER (WHERE kind = 'turn') AS overdue,
        count(*) FILTER (WHERE claimed_until < %(now)s::timestamptz) AS unclaimed,
        extract(epoch FROM %(now)s::timestamptz - min(due_at)
            FILTER (WHERE kind = 'turn'))::float8 AS oldest
    FROM (
        SELECT kind, due_at, claimed_until FROM deadlines WHERE due_at < %(now)s::timestamptz
        ORDER BY due_at LIMIT %(limit)s
    ) due
) now, (
    SELECT count(*) AS alive, count(*) FILTER (WHERE broker) AS broker FROM nodes
    WHERE seen_at > %(now)s::timestamptz - make_interval(secs => %(alive)s)
) nodes, (
    SELECT count(*) AS number FROM outages
) outages
"""
