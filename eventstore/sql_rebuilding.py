"""The statements that make anew what follows from the record, as text. They need the owner."""

from __future__ import annotations

from typing import LiteralString

from .sql_audit import LONGEST_CLAIM

LOCK_GAME: LiteralString = """
SELECT true FROM games WHERE game_id = %(game_id)s::uuid FOR UPDATE
"""

_COLUMNS: LiteralString = """
ruleset, ruleset_version, visibility, created_at, updated_at, status, version, options,
turn_seconds, max_seats, spectator_delay_seconds, late_until, host_seat, turn_seat, turn_player,
started_version, round_version, sandbox, ahead_ms
"""

_VALUES: LiteralString = """
%(ruleset)s, %(ruleset_version)s, %(visibility)s, %(created_at)s::timestamptz,
%(updated_at)s::timestamptz, %(status)s, %(version)s::int, %(options)s::jsonb,
%(turn_seconds)s::int, %(max_seats)s::int, %(spectator_delay_seconds)s::int,
%(late_until)s::timestamptz, %(host_seat)s::int, %(turn_seat)s::int,
%(turn_player)s::uuid, %(started_version)s::int, %(round_version)s::int,
%(sandbox)s::boolean, %(ahead_ms)s::bigint
"""

_GAME_BEFORE: LiteralString = """
(SELECT old_game_id FROM rematches WHERE new_game_id = %(game_id)s::uuid LIMIT 1)
"""

UPDATE_GAME: LiteralString = f"""
UPDATE games SET (secret, rematch_of, {_COLUMNS}) = ROW (%(secret)s, {_GAME_BEFORE}, {_VALUES})
WHERE game_id = %(game_id)s::uuid
"""

INSERT_GAME: LiteralString = f"""
INSERT INTO games (game_id, secret, rematch_of, {_COLUMNS})
SELECT %(game_id)s::uuid, %(secret)s, {_GAME_BEFORE}, {_VALUES}
"""

NAME_IN_REMATCH: LiteralString = """
UPDATE games n SET rematch_of = r.old_game_id FROM rematches r
WHERE r.old_game_id = %(game_id)s::uuid AND n.game_id = r.new_game_id
    AND n.rematch_of IS DISTINCT FROM r.old_game_id
"""

CLEAR_SEATS: LiteralString = "DELETE FROM seats WHERE game_id = %(game_id)s::uuid"

INSERT_SEATS: LiteralString = """
INSERT INTO seats (game_id, seat, player_id, bot, status, live)
SELECT %(game_id)s::uuid, s.seat, s.player_id, s.bot, s.status, s.live
FROM jsonb_to_recordset(%(seats)s::jsonb) AS s(
    seat integer, player_id uuid, bot text, status text, live boolean)
"""

CLEAR_DEADLINES: LiteralString = """
DELETE FROM deadlines WHERE game_id = %(game_id)s::uuid AND kind <> ALL(%(kinds)s::text[])
"""

SET_DEADLINE: LiteralString = f"""
INSERT INTO deadlines AS d (game_id, kind, round, turn, due_at)
VALUES (%(game_id)s::uuid, %(kind)s, %(round)s, %(turn)s,
    coalesce(%(due_at)s::timestamptz, clock_timestamp()))
ON CONFLICT (game_id, kind) DO UPDATE SET round = excluded.round, turn = excluded.turn,
    due_at = excluded.due_at, claimed_until = '-infinity', claims = 0
WHERE (d.round, d.turn) <> (excluded.round, excluded.turn)
    OR (%(due_at)s::timestamptz IS NOT NULL AND d.due_at <> excluded.due_at)
    OR d.claimed_until > clock_timestamp() + interval '{LONGEST_CLAIM}'
"""
