"""Sandbox players, apps and games, and the clock of such a game, which its host moves."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE players ADD COLUMN sandbox boolean NOT NULL DEFAULT false;
ALTER TABLE apps ADD COLUMN sandbox boolean NOT NULL DEFAULT false;
ALTER TABLE games ADD COLUMN sandbox boolean NOT NULL DEFAULT false;
ALTER TABLE games ADD COLUMN ahead_ms bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN games.sandbox IS 'It is no real game, and seen by sandbox players alone';
COMMENT ON COLUMN games.ahead_ms IS
    'By so much the clock of a sandbox game is ahead; the due times in deadlines are real ones';
CREATE INDEX games_real_public ON games (game_id) WHERE visibility = 'public' AND NOT sandbox;
CREATE INDEX games_real_public_status ON games (status, game_id)
    WHERE visibility = 'public' AND NOT sandbox;
CREATE INDEX games_real_public_ruleset ON games (ruleset, status, game_id)
    WHERE visibility = 'public' AND NOT sandbox;
CREATE INDEX games_sandbox ON games (game_id) WHERE sandbox;
DROP INDEX games_public, games_public_status, games_public_ruleset;
"""

# One function with a default, so that processes of the release before can go on calling it.
APPEND = """
DROP FUNCTION append_events;
CREATE FUNCTION append_events(
    p_game uuid,
    p_version integer,              -- the last event that the caller knows,
    p_hash bytea,                   -- and its hash; NULL: whichever
    p_rests text,                   -- a line for each event: its JSON after the "at" member
    p_guard text,                   -- in-time: at <= p_due; late: at > p_due; none
    p_due timestamptz,
    p_token uuid,                   -- with p_key: also record that this request was answered
    p_key text,
    p_path text,
    p_body_hash bytea,
    p_keep interval,
    p_status text,
    p_turn_seat integer,
    p_turn_player uuid,
    p_started_version integer,      -- NULL leaves it
    p_round_version integer,        -- NULL leaves it
    p_clock text,                   -- keep, clear or set the turn's deadline:
    p_round integer,
    p_turn integer,
    p_clock_from timestamptz,       -- NULL: the time of this append
    p_clock_seconds integer,
    p_bot text,                     -- keep, clear or set the computer player's move:
    p_bot_seconds double precision, -- after this append
    p_table jsonb,                  -- settings of the table, NULL leaves them
    p_secret bytea,                 -- with the first event only
    p_seats jsonb,                  -- all present seats, NULL leaves them
    p_ahead_ms bigint DEFAULT 0,    -- by so much the game's clock is ahead; not of a real game
    OUT status text,                -- appended, conflict, overdue, early, replayed, reused
    OUT at text,
    OUT hashes bytea[],
    OUT first integer,
    OUT last integer
) LANGUAGE plpgsql AS $function$
DECLARE
    v_head integer;
    v_hash bytea;
    v_before timestamptz;
    v_at timestamptz;
    v_ahead interval := p_ahead_ms * interval '1 millisecond';
    v_rests text[] := string_to_array(p_rests, E'\\n');
    v_bodies text[] := '{}';
    v_count integer := cardinality(v_rests);
    v_known record;
BEGIN
    hashes := '{}';
    IF p_key IS NOT NULL THEN
        SELECT i.path, i.body_hash, i.first_version, i.last_version, i.expires_at INTO v_known
            FROM idempotency i
            WHERE i.game_id = p_game AND i.token_id = p_token AND i.key = p_key;
        IF FOUND THEN
            IF v_known.expires_at > clock_timestamp() THEN
                first := v_known.first_version;
                last := v_known.last_version;
                status := CASE WHEN v_known.path = p_path AND v_known.body_hash = p_body_hash
                    THEN 'replayed' ELSE 'reused' END;
                RETURN;
            END IF;
            DELETE FROM idempotency i
                WHERE i.game_id = p_game AND i.token_id = p_token AND i.key = p_key
                    AND i.expires_at <= clock_timestamp();
        END IF;
    END IF;

    -- The newest event is the one that the caller decided on, or somebody was faster, or this is
    -- another history than the caller's.
    SELECT e.version, e.hash, substr(e.body, 8, 27)::timestamptz INTO v_head, v_hash, v_before
        FROM events e WHERE e.game_id = p_game AND e.version >= p_version
        ORDER BY e.version DESC LIMIT 1;
    IF coalesce(v_head, 0) <> p_version OR v_hash <> p_hash THEN
        status := 'conflict';
        RETURN;
    END IF;

    v_at := greatest(clock_timestamp() + v_ahead, v_before);
    IF p_guard = 'in-time' AND v_at > p_due THEN
        status := 'overdue';
        RETURN;
    ELSIF p_guard = 'late' AND v_at <= p_due THEN
        status := 'early';
        RETURN;
    END IF;
    at := to_char(v_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    first := p_version + 1;
    last := p_version + v_count;

    IF v_count > 0 THEN
        v_hash := coalesce(v_hash, decode(repeat('00', 32), 'hex'));
        FOR i IN 1..v_count LOOP
            v_bodies[i] := '{"at":"' || at || '",' || v_rests[i];
            v_hash := sha256(v_hash || convert_to(v_bodies[i], 'UTF8'));
            hashes[i] := v_hash;
        END LOOP;
        -- The guard: of simultaneous appends after one version, the primary key lets one through.
        INSERT INTO events (game_id, version, body, hash)
            SELECT p_game, p_version + new.n, new.body, new.hash
                FROM unnest(v_bodies, hashes) WITH ORDINALITY AS new(body, hash, n);
        INSERT INTO outbox (game_id, version, events) VALUES (p_game, last, v_count);
        IF p_version = 0 THEN
            INSERT INTO games (game_id, ruleset, ruleset_version, status, version, visibility,
                    options, turn_seconds, max_seats, host_seat, turn_seat, turn_player,
                    started_version, round_version, secret, rematch_of,
                    spectator_delay_seconds, sandbox, created_at, updated_at)
                VALUES (p_game, p_table->>'ruleset', p_table->>'ruleset_version', p_status, last,
                    p_table->>'visibility', p_table->'options',
                    (p_table->>'turn_seconds')::integer, (p_table->>'max_seats')::integer,
                    (p_table->>'host_seat')::integer, p_turn_seat, p_turn_player,
                    p_started_version, p_round_version, p_secret,
                    (p_table->>'rematch_of')::uuid,
                    coalesce((p_table->>'spectator_delay_seconds')::integer, 0),
                    coalesce((p_table->>'sandbox')::boolean, false), v_at, v_at);
            INSERT INTO invited (game_id, player_id)
                SELECT p_game, guest::uuid
                    FROM jsonb_array_elements_text(coalesce(p_table->'invited', '[]')) AS guest;
        ELSE
            UPDATE games g SET status = p_status, version = last, turn_seat = p_turn_seat,
                    turn_player = p_turn_player, updated_at = v_at,
                    started_version = coalesce(p_started_version, g.started_version),
                    round_version = coalesce(p_round_version, g.round_version),
                    late_until = CASE WHEN p_status IN ('finished', 'abandoned')
                            AND g.spectator_delay_seconds > 0
                        THEN v_at - v_ahead + make_interval(secs => g.spectator_delay_seconds) END
                WHERE g.game_id = p_game;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'game % has events but no summary', p_game
                    USING ERRCODE = 'data_corrupted';
            END IF;
            IF p_table IS NOT NULL THEN
                UPDATE games g SET options = p_table->'options',
                        turn_seconds = (p_table->>'turn_seconds')::integer,
                        max_seats = (p_table->>'max_seats')::integer,
                        host_seat = (p_table->>'host_seat')::integer,
                        spectator_delay_seconds = coalesce(
                            (p_table->>'spectator_delay_seconds')::integer,
                            g.spectator_delay_seconds),
                        ahead_ms = coalesce((p_table->>'ahead_ms')::bigint, g.ahead_ms)
                    WHERE g.game_id = p_game;
            END IF;
        END IF;
        IF p_seats IS NOT NULL THEN
            DELETE FROM seats s WHERE s.game_id = p_game;
            INSERT INTO seats (game_id, seat, player_id, bot, status, live)
                SELECT p_game, s.seat, s.player_id, s.bot, s.status, s.live
                    FROM jsonb_to_recordset(p_seats) AS s(
                        seat integer, player_id uuid, bot text, status text, live boolean);
        END IF;
        IF p_clock = 'set' THEN
            INSERT INTO deadlines AS d (game_id, kind, round, turn, due_at)
                VALUES (p_game, 'turn', p_round, p_turn,
                    coalesce(p_clock_from, v_at) - v_ahead
                        + make_interval(secs => p_clock_seconds))
                ON CONFLICT (game_id, kind) DO UPDATE SET round = excluded.round,
                    turn = excluded.turn, due_at = excluded.due_at,
                    claimed_until = '-infinity', claims = 0;
        ELSIF p_clock = 'clear' THEN
            DELETE FROM deadlines d WHERE d.game_id = p_game AND d.kind = 'turn';
        END IF;
        IF p_bot = 'set' THEN
            INSERT INTO deadlines AS d (game_id, kind, round, turn, due_at)
                VALUES (p_game, 'bot', p_round, p_turn,
                    v_at - v_ahead + make_interval(secs => p_bot_seconds))
                ON CONFLICT (game_id, kind) DO UPDATE SET round = excluded.round,
                    turn = excluded.turn, due_at = excluded.due_at,
                    claimed_until = '-infinity', claims = 0;
        ELSIF p_bot = 'clear' THEN
            DELETE FROM deadlines d WHERE d.game_id = p_game AND d.kind = 'bot';
        END IF;
    END IF;

    IF p_key IS NOT NULL THEN
        INSERT INTO idempotency (game_id, token_id, key, path, body_hash,
                first_version, last_version, expires_at)
            VALUES (p_game, p_token, p_key, p_path, p_body_hash, first, last,
                v_at - v_ahead + p_keep);
    END IF;
    status := 'appended';
END
$function$;
"""


def upgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute(COLUMNS)
    execute(APPEND)
    grant(op.get_bind().connection.driver_connection, context.config.attributes["app_role"])


def downgrade() -> None:
    raise NotImplementedError("what is no real game is not made one by a migration")
