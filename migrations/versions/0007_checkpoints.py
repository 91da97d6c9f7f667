"""Signed checkpoints over the heads of all games."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE checkpoints (
    number bigint PRIMARY KEY CHECK (number > 0),
    position bigint NOT NULL UNIQUE CHECK (position > 0),
    heads bytea NOT NULL,
    jws text NOT NULL
);
COMMENT ON TABLE checkpoints IS
    'jws signs the hash of heads: of each game with events since the checkpoint before its id (16 '
    'bytes), its newest version (4, big-endian) and that event''s hash (32)';
"""

APPEND_ONLY = """
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON checkpoints
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER append_only;
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER append_only_truncate;
"""


def upgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute(TABLE)
    grant(op.get_bind().connection.driver_connection, context.config.attributes["app_role"])
    execute(APPEND_ONLY)


def downgrade() -> None:
    raise NotImplementedError("checkpoints are part of the record")
