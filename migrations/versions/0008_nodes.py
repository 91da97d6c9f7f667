"""The worker nodes that run, by their own word."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE nodes (
    node text PRIMARY KEY,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    broker boolean NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE nodes IS 'Heartbeats of worker nodes; broker: whether they reach it';
"""


def upgrade() -> None:
    connection = op.get_bind().connection.driver_connection
    connection.execute(TABLE)
    grant(connection, context.config.attributes["app_role"])


def downgrade() -> None:
    op.get_bind().connection.driver_connection.execute("DROP TABLE nodes")
