"""The feed of all events, its readers' cursors, and what is built from it."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE feed (
    position bigint PRIMARY KEY CHECK (position > 0),
    game_id uuid NOT NULL,
    version integer NOT NULL CHECK (version > 0)
);
COMMENT ON TABLE feed IS
    'All events in one order without gaps, each game''s by version';

CREATE TABLE cursors (
    name text PRIMARY KEY,
    position bigint NOT NULL CHECK (position >= 0),
    updated_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);
COMMENT ON TABLE cursors IS 'How far each reader of the feed has come';

CREATE TABLE leases (
    name text PRIMARY KEY,
    holder uuid NOT NULL,
    until timestamptz NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE leases IS 'Which node does what one has to do; if two do it, nothing goes wrong';

CREATE TABLE standings (
    generation integer NOT NULL,
    player_id uuid NOT NULL,
    ruleset text NOT NULL,
    played integer NOT NULL DEFAULT 0,
    won integer NOT NULL DEFAULT 0,
    drawn integer NOT NULL DEFAULT 0,
    lost integer NOT NULL DEFAULT 0,
    resigned integer NOT NULL DEFAULT 0,
    abandoned integer NOT NULL DEFAULT 0,
    PRIMARY KEY (player_id, ruleset, generation)
) WITH (fillfactor = 80);
COMMENT ON TABLE standings IS 'What became of the matches of each player, built from the feed';

CREATE TABLE generations (
    projection text PRIMARY KEY,
    generation integer NOT NULL
);
COMMENT ON TABLE generations IS
    'Which generation of a projection is read; a rebuild makes the next one beside it';
INSERT INTO generations VALUES ('standings', 1);
INSERT INTO cursors VALUES ('standings/1', 0);
"""

APPEND_ONLY = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON feed
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE feed ENABLE ALWAYS TRIGGER append_only;
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON feed
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE feed ENABLE ALWAYS TRIGGER append_only_truncate;
"""


def upgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute(TABLES)
    grant(op.get_bind().connection.driver_connection, context.config.attributes["app_role"])
    execute(APPEND_ONLY)


def downgrade() -> None:
    raise NotImplementedError("positions of the feed are never taken back")
