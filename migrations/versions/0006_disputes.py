"""Refused moves, disputes and what auditors did: beside the games' events, never among them.

`dispute_events` is a chain of hashes for each game, made as `events` is. It, `looks` and
`scope_changes` can only be added to.
"""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE attempts (
    game_id uuid NOT NULL REFERENCES games,
    attempt_id uuid NOT NULL,
    seat integer NOT NULL,
    player_id uuid NOT NULL,
    at timestamptz NOT NULL,
    version integer NOT NULL,
    due_at timestamptz,
    move text NOT NULL CHECK (octet_length(move) <= 4096),
    bound text NOT NULL CHECK (octet_length(bound) <= 256),
    code text NOT NULL,
    rule text,
    detail text NOT NULL,
    PRIMARY KEY (game_id, attempt_id)
);
CREATE INDEX attempts_at ON attempts (at);
COMMENT ON TABLE attempts IS 'Refused moves of seated players; the oldest of a seat go';
COMMENT ON COLUMN attempts.bound IS
    'The turn that the move was tied to when it was received, as JSON: with it the referee says '
    'the same again';

CREATE TABLE dispute_events (
    game_id uuid NOT NULL REFERENCES games,
    version integer NOT NULL CHECK (version > 0),
    body text NOT NULL,
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (game_id, version)
);
COMMENT ON TABLE dispute_events IS
    'Disputes of each game: body is the RFC 8785 text that is hashed, '
    'hash = SHA-256(hash before || body)';

CREATE TABLE pending_disputes (
    game_id uuid NOT NULL REFERENCES games,
    dispute_id uuid NOT NULL,
    PRIMARY KEY (game_id, dispute_id)
);
COMMENT ON TABLE pending_disputes IS 'Disputes that the end of their game will settle';

CREATE TABLE looks (
    game_id uuid NOT NULL REFERENCES games,
    look_id uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    player_id uuid NOT NULL,
    token_id uuid NOT NULL,
    operation text NOT NULL,
    version integer NOT NULL,
    PRIMARY KEY (game_id, look_id)
);
COMMENT ON TABLE looks IS 'Each look that an auditor took at hidden cards of a running game';

CREATE TABLE scope_changes (
    change_id uuid PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    token_id uuid NOT NULL,
    player_id uuid NOT NULL,
    scope text NOT NULL,
    granted boolean NOT NULL,
    by_player_id uuid
);
COMMENT ON COLUMN scope_changes.by_player_id IS 'The admin who did it; NULL for the operator';
"""

APPEND = """
CREATE FUNCTION append_dispute(
    p_game uuid,
    p_version integer,              -- the last event of the game's disputes that the caller knows
    p_rest text,                    -- the event's canonical JSON after its leading "at" member
    p_dispute uuid,
    p_pending boolean,              -- whether the dispute waits for the end of the game now
    p_token uuid,                   -- with p_key: also record that this request was answered
    p_key text,
    p_path text,
    p_body_hash bytea,
    p_keep interval,
    OUT status text,                -- appended, conflict, replayed, reused
    OUT at text,
    OUT hash bytea,
    OUT version integer
) LANGUAGE plpgsql AS $function$
DECLARE
    v_head integer;
    v_hash bytea;
    v_before timestamptz;
    v_at timestamptz;
    v_body text;
    v_known record;
BEGIN
    IF p_key IS NOT NULL THEN
        SELECT i.path, i.body_hash, i.first_version, i.expires_at INTO v_known
            FROM idempotency i
            WHERE i.game_id = p_game AND i.token_id = p_token AND i.key = p_key;
        IF FOUND THEN
            IF v_known.expires_at > clock_timestamp() THEN
                version := v_known.first_version;
                status := CASE WHEN v_known.path = p_path AND v_known.body_hash = p_body_hash
                    THEN 'replayed' ELSE 'reused' END;
                RETURN;
            END IF;
            DELETE FROM idempotency i
                WHERE i.game_id = p_game AND i.token_id = p_token AND i.key = p_key
                    AND i.expires_at <= clock_timestamp();
        END IF;
    END IF;
    SELECT e.version, e.hash, substr(e.body, 8, 27)::timestamptz INTO v_head, v_hash, v_before
        FROM dispute_events e WHERE e.game_id = p_game AND e.version >= p_version
        ORDER BY e.version DESC LIMIT 1;
    IF coalesce(v_head, 0) <> p_version THEN
        status := 'conflict';
        RETURN;
    END IF;
    v_at := greatest(clock_timestamp(), v_before);
    at := to_char(v_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"');
    version := p_version + 1;
    v_body := '{"at":"' || at || '",' || p_rest;
    hash := sha256(coalesce(v_hash, decode(repeat('00', 32), 'hex'))
        || convert_to(v_body, 'UTF8'));
    -- The guard: of simultaneous appends after one version, the primary key lets one through.
    INSERT INTO dispute_events (game_id, version, body, hash)
        VALUES (p_game, p_version + 1, v_body, append_dispute.hash);
    IF p_pending THEN
        INSERT INTO pending_disputes (game_id, dispute_id) VALUES (p_game, p_dispute)
            ON CONFLICT DO NOTHING;
    ELSE
        DELETE FROM pending_disputes p WHERE p.game_id = p_game AND p.dispute_id = p_dispute;
    END IF;
    IF p_key IS NOT NULL THEN
        INSERT INTO idempotency (game_id, token_id, key, path, body_hash,
                first_version, last_version, expires_at)
            VALUES (p_game, p_token, p_key, p_path, p_body_hash,
                p_version + 1, p_version + 1, v_at + p_keep);
    END IF;
    status := 'appended';
END
$function$;
"""

APPEND_ONLY = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only;
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER append_only_truncate;
"""


def upgrade() -> None:
    connection = op.get_bind().connection.driver_connection
    connection.execute(TABLES)
    connection.execute(APPEND)
    grant(connection, context.config.attributes["app_role"])
    for table in ("dispute_events", "looks", "scope_changes"):
        connection.execute(APPEND_ONLY.format(table=table))


def downgrade() -> None:
    raise NotImplementedError("the record is never taken away by a migration")
