"""Apps, which register players and act for them, and the keys that speak for an app."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE apps (
    app_id uuid PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);
CREATE TABLE app_keys (
    key_id uuid PRIMARY KEY,
    app_id uuid NOT NULL REFERENCES apps ON DELETE CASCADE,
    key_hash bytea NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz
);
CREATE INDEX app_keys_app ON app_keys (app_id, key_id);

ALTER TABLE players ADD COLUMN app_id uuid REFERENCES apps;
ALTER TABLE players ADD COLUMN reference text;
COMMENT ON COLUMN players.reference IS 'What the app itself calls its player';
CREATE UNIQUE INDEX players_reference ON players (app_id, reference);
CREATE INDEX players_app ON players (app_id, player_id) WHERE app_id IS NOT NULL;

ALTER TABLE tokens ADD COLUMN app_id uuid REFERENCES apps;
ALTER TABLE tokens ADD COLUMN app_key_id uuid REFERENCES app_keys;
COMMENT ON COLUMN tokens.app_id IS 'The app that asked for it, which it ends with';
COMMENT ON COLUMN tokens.app_key_id IS
    'No token that anyone holds, but what this key of an app does for the player';
CREATE UNIQUE INDEX tokens_app_key ON tokens (app_key_id, player_id) WHERE app_key_id IS NOT NULL;
CREATE INDEX tokens_app ON tokens (app_id) WHERE app_id IS NOT NULL;
"""


def upgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute(TABLES)
    grant(op.get_bind().connection.driver_connection, context.config.attributes["app_role"])


def downgrade() -> None:
    raise NotImplementedError("whose players those of an app are is not forgotten by a migration")
