"""The statements on webhooks and deliveries. Times come as parameters, so that indexes serve."""

from __future__ import annotations

from typing import LiteralString

from .sql import EVENT, RFC3339

_SHOWN: LiteralString = f"""
webhook_id::text, url, events, description, enabled, disabled_reason,
to_char(created_at AT TIME ZONE 'UTC', '{RFC3339}'),
to_char(failing_since AT TIME ZONE 'UTC', '{RFC3339}'),
to_char(CASE WHEN old_secret_until > clock_timestamp() THEN old_secret_until END
    AT TIME ZONE 'UTC', '{RFC3339}')
"""

_OWNED: LiteralString = "owner_kind = %(owner_kind)s AND owner_id = %(owner_id)s::uuid"

LOCK_OWNER: LiteralString = """
SELECT pg_advisory_xact_lock(hashtextextended(%(owner_kind)s || %(owner_id)s, 0))
"""

ADD: LiteralString = f"""
INSERT INTO webhooks (webhook_id, owner_kind, owner_id, url, events, description, key_id, secret,
    after_position, created_at)
SELECT %(webhook_id)s::uuid, %(owner_kind)s, %(owner_id)s::uuid, %(url)s, %(events)s::text[],
    %(description)s, %(key_id)s, %(secret)s, (SELECT coalesce(max(position), 0) FROM feed),
    clock_timestamp()
WHERE (SELECT count(*) FROM webhooks WHERE {_OWNED}) < %(most)s
RETURNING {_SHOWN}
"""

OF_OWNER: LiteralString = f"""
SELECT {_SHOWN} FROM webhooks WHERE {_OWNED}
    AND (%(before)s::uuid IS NULL OR webhook_id < %(before)s::uuid)
ORDER BY webhook_id DESC LIMIT %(limit)s
"""

ONE: LiteralString = f"""
SELECT {_SHOWN} FROM webhooks WHERE {_OWNED} AND webhook_id = %(webhook_id)s::uuid
"""

_RENEWED: LiteralString = """(coalesce(%(enabled)s::boolean AND NOT enabled, false)
        OR coalesce(%(url)s::text <> url, false))"""

CHANGE: LiteralString = f"""
UPDATE webhooks SET url = coalesce(%(url)s::text, url),
    events = coalesce(%(events)s::text[], events),
    description = coalesce(%(description)s::text, description),
    enabled = coalesce(%(enabled)s::boolean, enabled),
    disabled_reason = CASE WHEN NOT coalesce(%(enabled)s::boolean, enabled)
        THEN coalesce(disabled_reason, 'owner') END,
    failures = CASE WHEN {_RENEWED} THEN 0 ELSE failures END,
    failing_since = CASE WHEN {_RENEWED} THEN NULL ELSE failing_since END,
    resting_until = CASE WHEN {_RENEWED} THEN '-infinity' ELSE resting_until END
WHERE {_OWNED} AND webhook_id = %(webhook_id)s::uuid
RETURNING {_SHOWN}
"""

ROTATE: LiteralString = f"""
UPDATE webhooks SET secret = %(secret)s, key_id = %(key_id)s,
    old_secret = CASE WHEN key_id = %(key_id)s THEN secret END,
    old_secret_until = CASE WHEN key_id = %(key_id)s
        THEN clock_timestamp() + make_interval(secs => %(keep)s) END
WHERE {_OWNED} AND webhook_id = %(webhook_id)s::uuid
RETURNING {_SHOWN}
"""

REMOVE: LiteralString = f"""
DELETE FROM webhooks WHERE {_OWNED} AND webhook_id = %(webhook_id)s::uuid RETURNING true
"""

_DELIVERY: LiteralString = f"""
delivery_id::text, type, game_id::text, version, status,
to_char(created_at AT TIME ZONE 'UTC', '{RFC3339}'),
to_char(CASE WHEN status = 'pending' THEN due_at END AT TIME ZONE 'UTC', '{RFC3339}'), attempts
"""

DELIVERIES: LiteralString = f"""
SELECT {_DELIVERY} FROM deliveries WHERE webhook_id = %(webhook_id)s::uuid
    AND (%(before)s::uuid IS NULL OR delivery_id < %(before)s::uuid)
ORDER BY delivery_id DESC LIMIT %(limit)s
"""

DELIVERY: LiteralString = f"""
SELECT {_DELIVERY} FROM deliveries
WHERE webhook_id = %(webhook_id)s::uuid AND delivery_id = %(delivery_id)s::uuid
"""

LOCK: LiteralString = """
SELECT enabled FROM webhooks WHERE webhook_id = %(webhook_id)s::uuid FOR NO KEY UPDATE
"""
"""Whoever changes deliveries and with them `due_at` of their webhook holds its row before looking:
else what another adds meanwhile could be missed."""

PENDING_PING: LiteralString = f"""
SELECT {_DELIVERY} FROM deliveries
WHERE webhook_id = %(webhook_id)s::uuid AND status = 'pending' AND type = 'ping' LIMIT 1
"""

ADD_PING: LiteralString = f"""
INSERT INTO deliveries (webhook_id, delivery_id, type, created_at, due_at)
SELECT %(webhook_id)s::uuid, %(delivery_id)s::uuid, 'ping', now, now
FROM clock_timestamp() AS now
RETURNING {_DELIVERY}
"""

SEND_AGAIN: LiteralString = f"""
UPDATE deliveries SET due_at = clock_timestamp(), status = 'pending',
    tries = CASE WHEN status = 'pending' THEN tries ELSE 0 END
WHERE webhook_id = %(webhook_id)s::uuid AND delivery_id = %(delivery_id)s::uuid
RETURNING {_DELIVERY}
"""

DUE_NOW: LiteralString = """
UPDATE webhooks SET due_at = least(due_at, greatest(clock_timestamp(), resting_until))
WHERE webhook_id = ANY(%(webhooks)s::uuid[])
"""

DUE_AT_ONCE: LiteralString = """
UPDATE webhooks SET due_at = clock_timestamp(), resting_until = '-infinity'
WHERE webhook_id = %(webhook_id)s::uuid
"""

# What the feed brings

ANY: LiteralString = "SELECT EXISTS (SELECT FROM webhooks WHERE enabled)"

BEHIND: LiteralString = """
SELECT coalesce((SELECT max(position) FROM feed), 0)
    > coalesce((SELECT position FROM cursors WHERE name = %(name)s), 0)
"""

SKIP: LiteralString = """
INSERT INTO cursors AS c (name, position)
SELECT %(name)s, max(position) FROM feed
HAVING max(position) IS NOT NULL AND NOT EXISTS (SELECT FROM webhooks WHERE enabled)
ON CONFLICT (name) DO UPDATE SET position = excluded.position, updated_at = clock_timestamp()
WHERE c.position < excluded.position
"""

IN_LOBBY: LiteralString = """
SELECT f.game_id::text, max(f.version)
FROM feed f JOIN games g ON g.game_id = f.game_id
WHERE f.position BETWEEN %(first)s AND %(last)s
    AND (g.started_version IS NULL OR f.version <= g.started_version)
GROUP BY f.game_id
"""
"""The games whose seats may have changed with one of the events, and the last of these."""

BODIES: LiteralString = """
SELECT convert_to('[' || string_agg(body, ',' ORDER BY version) || ']', 'UTF8') FROM events
WHERE game_id = %(game_id)s::uuid AND version <= %(last)s
"""

# A player's own webhooks and those of the player's app, each along the index on owners.
_FOR_PLAYER: LiteralString = """
LEFT JOIN apps a ON a.app_id = p.app_id
CROSS JOIN LATERAL (
    SELECT webhook_id, events, after_position FROM webhooks
    WHERE owner_kind = 'player' AND owner_id = p.player_id AND enabled
    UNION ALL
    SELECT webhook_id, events, after_position FROM webhooks
    WHERE owner_kind = 'app' AND owner_id = p.app_id AND enabled
) w
"""

OF_PLAYERS: LiteralString = f"""
SELECT w.webhook_id::text, p.player_id::text, w.events, w.after_position
FROM players p {_FOR_PLAYER}
WHERE p.player_id = ANY(%(players)s::uuid[]) AND a.revoked_at IS NULL
"""

SEATED: LiteralString = f"""
SELECT f.position, w.webhook_id::text, w.events, s.seat, s.player_id::text,
    convert_to(e.body, 'UTF8')
FROM feed f
JOIN games g ON g.game_id = f.game_id AND f.version > g.started_version
JOIN seats s ON s.game_id = f.game_id AND s.player_id IS NOT NULL
JOIN players p ON p.player_id = s.player_id
{_FOR_PLAYER}
CROSS JOIN {EVENT.format("f")} e
WHERE f.position BETWEEN %(first)s AND %(last)s AND w.after_position < f.position
    AND a.revoked_at IS NULL
"""
"""Events after the start, when nobody's seat becomes another's, for each webhook of a seat."""

ADD_DELIVERIES: LiteralString = """
INSERT INTO deliveries (webhook_id, delivery_id, type, game_id, version, seat, player_id,
    created_at, due_at)
SELECT w.webhook_id, new.delivery_id, new.type, new.game_id, new.version, new.seat, new.player_id,
    now, now
FROM clock_timestamp() AS now, unnest(%(webhooks)s::uuid[], %(ids)s::uuid[], %(types)s::text[],
        %(games)s::uuid[], %(versions)s::int[], %(seats)s::int[],
        %(players)s::uuid[])
    AS new (webhook_id, delivery_id, type, game_id, version, seat, player_id)
JOIN webhooks w ON w.webhook_id = new.webhook_id
"""

LOCK_ALL: LiteralString = """
SELECT webhook_id FROM webhooks WHERE webhook_id = ANY(%(webhooks)s::uuid[])
ORDER BY webhook_id FOR NO KEY UPDATE
"""

# Sending

CLAIM: LiteralString = """
UPDATE webhooks SET claims = claims + 1,
    claimed_until = %(now)s::timestamptz + make_interval(secs => %(lease)s)
WHERE webhook_id IN (
        SELECT webhook_id FROM webhooks
        WHERE enabled AND due_at <= %(now)s::timestamptz AND claimed_until < %(now)s::timestamptz
            AND key_id = %(key_id)s AND slow = %(slow)s
        ORDER BY due_at LIMIT %(limit)s
    )
    AND enabled AND due_at <= %(now)s::timestamptz AND claimed_until < %(now)s::timestamptz
RETURNING webhook_id::text, owner_kind, claims, slow, url, secret,
    CASE WHEN old_secret_until > %(now)s::timestamptz THEN old_secret END
"""

NEXT_DUE: LiteralString = """
SELECT extract(epoch FROM greatest(due_at, claimed_until) - %(now)s::timestamptz)::float8
FROM webhooks WHERE enabled AND due_at < 'infinity' AND key_id = %(key_id)s
ORDER BY due_at LIMIT 1
"""

DUE: LiteralString = f"""
SELECT d.delivery_id::text, d.type, d.game_id::text, d.version, d.seat,
    d.player_id::text, d.tries,
    to_char(d.created_at AT TIME ZONE 'UTC', '{RFC3339}'), convert_to(e.body, 'UTF8'), e.hash,
    before.hash
FROM deliveries d
LEFT JOIN {EVENT.format("d")} e ON true
LEFT JOIN LATERAL (SELECT d.game_id, d.version - 1 AS version) previous ON true
LEFT JOIN {EVENT.format("previous")} before ON true
WHERE d.webhook_id = %(webhook_id)s::uuid AND d.status = 'pending' AND d.due_at <= %(now)s
ORDER BY d.due_at, d.delivery_id LIMIT %(limit)s
"""

NOTE: LiteralString = """
UPDATE deliveries SET tries = tries + 1, status = %(status)s,
    due_at = %(now)s::timestamptz + make_interval(secs => %(wait)s),
    attempts = (CASE WHEN jsonb_array_length(attempts) < %(most)s THEN attempts
        ELSE attempts - 0 END) || %(attempt)s::jsonb
WHERE webhook_id = %(webhook_id)s::uuid AND delivery_id = %(delivery_id)s::uuid
    AND status = 'pending'
"""

HELD: LiteralString = """
SELECT enabled, failing_since < %(now)s::timestamptz - make_interval(secs => %(patience)s)
FROM webhooks WHERE webhook_id = %(webhook_id)s::uuid AND claims = %(claim)s
FOR NO KEY UPDATE
"""

WORKED: LiteralString = """
UPDATE webhooks SET failures = 0, failing_since = NULL, slow = %(slow)s
WHERE webhook_id = %(webhook_id)s::uuid
    AND (failures > 0 OR failing_since IS NOT NULL OR slow <> %(slow)s)
"""

FAILED: LiteralString = """
UPDATE webhooks SET failures = failures + 1, slow = true,
    failing_since = coalesce(failing_since, %(now)s::timestamptz)
WHERE webhook_id = %(webhook_id)s::uuid RETURNING failures
"""

DISABLE: LiteralString = """
UPDATE webhooks SET enabled = false, disabled_reason = %(reason)s
WHERE webhook_id = %(webhook_id)s::uuid AND enabled
"""

GIVE_UP: LiteralString = """
UPDATE deliveries SET status = 'failed'
WHERE webhook_id = %(webhook_id)s::uuid AND status = 'pending'
"""

RELEASE: LiteralString = """
UPDATE webhooks SET claimed_until = '-infinity',
    resting_until = %(now)s::timestamptz + make_interval(secs => %(pause)s),
    due_at = greatest(
        coalesce((SELECT min(d.due_at) FROM deliveries d
            WHERE d.webhook_id = %(webhook_id)s::uuid AND d.status = 'pending'), 'infinity'),
        %(now)s::timestamptz + make_interval(secs => %(pause)s))
WHERE webhook_id = %(webhook_id)s::uuid AND claims = %(claim)s
"""

WAITING: LiteralString = """
SELECT count(*) FROM (
    SELECT FROM deliveries WHERE webhook_id = %(webhook_id)s::uuid AND status = 'pending'
    LIMIT %(limit)s
) waiting
"""

PURGE: LiteralString = """
WITH removed AS (
    DELETE FROM deliveries WHERE (webhook_id, delivery_id) IN (
        SELECT webhook_id, delivery_id FROM deliveries
        WHERE created_at < %(before)s AND status <> 'pending'
        ORDER BY created_at LIMIT %(limit)s
    )
    RETURNING 1
) SELECT count(*) FROM removed
"""

LATE: LiteralString = """
SELECT count(*), coalesce(extract(epoch FROM %(now)s::timestamptz - min(due_at)), 0)::float8
FROM (
    SELECT due_at FROM webhooks
    WHERE enabled AND due_at < %(now)s::timestamptz AND claimed_until < %(now)s::timestamptz
    ORDER BY due_at LIMIT %(limit)s
) late
"""
