"""The statements on the standings, as text."""

from __future__ import annotations

from typing import LiteralString

from .sql import DETACHED, EVENT

BEHIND: LiteralString = """
SELECT EXISTS (
    SELECT FROM feed WHERE position > (
        SELECT c.position FROM cursors c JOIN generations g
        ON g.projection = 'standings' AND c.name = 'standings/' || g.generation
    )
)
"""

ENDS: LiteralString = rf"""
SELECT f.position, f.game_id::text, f.version, e.body IS NULL
FROM feed f LEFT JOIN {EVENT.format("f")} e ON true
WHERE f.position BETWEEN %(first)s AND %(last)s
    AND (e.body IS NULL OR e.body ~ '"type":"game\.(won|drawn|abandoned)","version":[0-9]+}}$')
ORDER BY f.position
"""
"""The matches that end between two positions. In canonical JSON type and version come last. The
first event that is not there is told of as well: its partition is detached, or worse."""

BODIES: LiteralString = """
SELECT '[' || string_agg(body, ',' ORDER BY version) || ']' FROM events
WHERE game_id = %(game_id)s::uuid AND version <= %(version)s
"""

DETACHED_OF: LiteralString = f"SELECT {DETACHED.format('%(game_id)s::uuid')}"

COUNT: LiteralString = """
INSERT INTO standings AS s (generation, player_id, ruleset, played, won, drawn, lost, resigned,
    abandoned)
SELECT %(generation)s, player_id, ruleset, count(*), count(*) FILTER (WHERE outcome = 'won'),
    count(*) FILTER (WHERE outcome = 'drawn'), count(*) FILTER (WHERE outcome = 'lost'),
    count(*) FILTER (WHERE outcome = 'resigned'), count(*) FILTER (WHERE outcome = 'abandoned')
FROM unnest(%(players)s::uuid[], %(rulesets)s::text[], %(outcomes)s::text[])
    AS result(player_id, ruleset, outcome)
GROUP BY player_id, ruleset ORDER BY player_id, ruleset
ON CONFLICT (player_id, ruleset, generation) DO UPDATE SET played = s.played + excluded.played,
    won = s.won + excluded.won, drawn = s.drawn + excluded.drawn, lost = s.lost + excluded.lost,
    resigned = s.resigned + excluded.resigned, abandoned = s.abandoned + excluded.abandoned
"""

OF_PLAYER: LiteralString = """
SELECT p.name, p.sandbox, s.ruleset, s.played, s.won, s.drawn, s.lost, s.resigned, s.abandoned,
    untold.games
FROM players p
LEFT JOIN generations g ON g.projection = 'standings'
LEFT JOIN standings s ON s.player_id = p.player_id AND s.generation = g.generation
CROSS JOIN LATERAL (
    SELECT array_agg(m.game_id::text) AS games
    FROM games m JOIN seats o ON o.game_id = m.game_id AND o.player_id = p.player_id
    WHERE NOT %(everything)s AND m.late_until > (SELECT clock_timestamp())
        AND NOT EXISTS (
            SELECT FROM seats v WHERE v.game_id = m.game_id AND v.player_id = %(viewer)s::uuid
        )
        AND NOT EXISTS (
            SELECT FROM outbox w WHERE w.game_id = m.game_id AND w.version = m.version
        )
        AND NOT EXISTS (
            SELECT FROM feed f JOIN cursors c ON c.name = 'standings/' || g.generation
            WHERE f.position > c.position AND f.game_id = m.game_id AND f.version = m.version
        )
) untold
WHERE p.player_id = %(player_id)s::uuid
ORDER BY s.ruleset
"""
"""A player's results, and the matches that are counted in them and whose end the viewer is not told
of yet."""

GENERATION: LiteralString = "SELECT generation FROM generations WHERE projection = 'standings'"

LOCK_GENERATION: LiteralString = GENERATION + " FOR UPDATE"

SHARE_GENERATION: LiteralString = GENERATION + " FOR SHARE"

SET_GENERATION: LiteralString = """
UPDATE generations SET generation = %(generation)s WHERE projection = 'standings'
"""

POSITION: LiteralString = "SELECT position FROM cursors WHERE name = %(name)s"

DROP_CURSORS: LiteralString = """
DELETE FROM cursors WHERE name LIKE %(like)s AND name <> %(active)s
"""

CLEAR: LiteralString = """
WITH page AS (
    SELECT max(player_id::text)::uuid AS last FROM (
        SELECT player_id FROM standings WHERE player_id > %(after)s::uuid
        ORDER BY player_id LIMIT %(limit)s
    ) players
), cleared AS (
    DELETE FROM standings USING page
    WHERE player_id > %(after)s::uuid AND player_id <= page.last AND generation <> %(active)s
)
SELECT last::text FROM page
"""
"""A page of players is cleared; where the next one begins, NULL after the last."""
