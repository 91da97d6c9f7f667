"""When the service was able to take moves, and its outages."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE service_time (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    beat_at timestamptz NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
COMMENT ON TABLE service_time IS 'Until when some process was able to take moves; at most one row';

CREATE TABLE outages (
    began_at timestamptz PRIMARY KEY,
    ended_at timestamptz NOT NULL CHECK (ended_at > began_at),
    swept_to uuid,
    swept_at timestamptz
);
CREATE INDEX outages_ended ON outages (ended_at);
COMMENT ON TABLE outages IS
    'Gaps in service_time; swept_to: the running turns of games up to it have got the time back';

CREATE FUNCTION beat(
    p_fresh double precision,       -- seconds for which the newest beat is left as it is
    p_gap double precision          -- seconds beyond which a gap is an outage
) RETURNS void LANGUAGE plpgsql AS $function$
DECLARE
    v_last timestamptz;
    v_now timestamptz;
BEGIN
    SELECT s.beat_at INTO v_last FROM service_time s;
    IF v_last > clock_timestamp() - make_interval(secs => p_fresh) THEN
        RETURN;
    END IF;
    SELECT s.beat_at INTO v_last FROM service_time s FOR UPDATE;
    v_now := clock_timestamp();
    IF NOT FOUND THEN
        INSERT INTO service_time (beat_at) VALUES (v_now) ON CONFLICT DO NOTHING;
    ELSIF v_now > v_last THEN
        IF v_now - v_last > make_interval(secs => p_gap) THEN
            INSERT INTO outages (began_at, ended_at) VALUES (v_last, v_now);
        END IF;
        UPDATE service_time SET beat_at = v_now;
    END IF;
END
$function$;
"""


def upgrade() -> None:
    connection = op.get_bind().connection.driver_connection
    connection.execute(TABLES)
    grant(connection, context.config.attributes["app_role"])


def downgrade() -> None:
    op.get_bind().connection.driver_connection.execute(
        "DROP FUNCTION beat; DROP TABLE outages; DROP TABLE service_time"
    )
