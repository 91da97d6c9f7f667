"""Partitions of the record by months, made ahead, and a note of those that are in the archive.

`make_partitions` runs with the owner's rights so that the application can have the next months'
partitions made: it can do that and nothing else. A partition carries its own triggers besides
those that it inherits, so that it stays append-only while it is detached, and its range as a check,
so that attaching it again need not read it.
"""

from __future__ import annotations

from alembic import context, op
from psycopg import sql

from migrations.privileges import grant

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

ARCHIVES = """
CREATE TABLE archives (
    partition text PRIMARY KEY,
    low uuid NOT NULL,
    high uuid NOT NULL,
    detached_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE archives IS
    'Partitions that are detached from the record now: games from low on, before high';
"""

FUNCTIONS = """
CREATE FUNCTION month_bound(p_month timestamp) RETURNS uuid LANGUAGE sql IMMUTABLE AS $function$
    -- Before every UUIDv7 (RFC 9562) that is made in the month, after all made before it.
    SELECT (lpad(to_hex((extract(epoch FROM p_month) * 1000)::bigint), 12, '0')
        || repeat('0', 20))::uuid
$function$;

CREATE FUNCTION guard_partition(p_partition text) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
    EXECUTE format(
        'CREATE TRIGGER append_only_alone BEFORE UPDATE OR DELETE ON %1$I
            FOR EACH ROW EXECUTE FUNCTION refuse_change();
        CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON %1$I
            FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
        ALTER TABLE %1$I ENABLE ALWAYS TRIGGER append_only_alone;
        ALTER TABLE %1$I ENABLE ALWAYS TRIGGER append_only_truncate', p_partition);
END
$function$;

CREATE FUNCTION make_partition(p_month timestamp) RETURNS text LANGUAGE plpgsql AS $function$
-- The partition of a month: made, there before, archived, or occupied where the default partition
-- has games of that month already, which stay there.
DECLARE
    v_name text := to_char(p_month, '"events_"YYYY_MM');
    v_low uuid := month_bound(p_month);
    v_high uuid := month_bound(p_month + interval '1 month');
BEGIN
    IF EXISTS (SELECT FROM archives a WHERE a.partition = v_name) THEN
        RETURN 'archived';
    ELSIF to_regclass(v_name) IS NOT NULL THEN
        RETURN 'there';
    ELSIF EXISTS (SELECT FROM events_default d WHERE d.game_id >= v_low AND d.game_id < v_high) THEN
        RETURN 'occupied';
    END IF;
    EXECUTE format('CREATE TABLE %1$I (LIKE events INCLUDING ALL,
        CONSTRAINT %2$I CHECK (game_id >= %3$L AND game_id < %4$L))',
        v_name, v_name || '_range', v_low, v_high);
    PERFORM guard_partition(v_name);
    EXECUTE format('ALTER TABLE events ATTACH PARTITION %1$I FOR VALUES FROM (%2$L) TO (%3$L);
        ALTER TABLE %1$I ENABLE ALWAYS TRIGGER append_only', v_name, v_low, v_high);
    RETURN 'made';
EXCEPTION WHEN check_violation THEN
    RETURN 'occupied';  -- since a moment ago
END
$function$;

CREATE FUNCTION make_partitions(p_months integer)
RETURNS TABLE (partition text, state text) LANGUAGE plpgsql SECURITY DEFINER
SET search_path = {schema}, pg_temp SET lock_timeout = '2s' AS $function$
-- This month's partition and those of the next p_months.
DECLARE
    v_month timestamp := date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC');
BEGIN
    IF p_months NOT BETWEEN 0 AND 24 THEN
        RAISE EXCEPTION 'partitions are made for at most 24 months'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE;
    FOR n IN 0..p_months LOOP
        partition := to_char(v_month, '"events_"YYYY_MM');
        state := make_partition(v_month);
        v_month := v_month + interval '1 month';
        RETURN NEXT;
    END LOOP;
END
$function$;
"""


def upgrade() -> None:
    connection = op.get_bind().connection.driver_connection
    connection.execute(ARCHIVES)
    row = connection.execute("SELECT current_schema()").fetchone()
    connection.execute(sql.SQL(FUNCTIONS).format(schema=sql.Identifier(row[0])))
    connection.execute("REVOKE ALL ON FUNCTION guard_partition, make_partition FROM PUBLIC")
    grant(connection, context.config.attributes["app_role"])


def downgrade() -> None:
    raise NotImplementedError("the record is never taken away by a migration")
