"""Recurring work as due rows, one for each kind of it."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLE = """
CREATE TABLE chores (
    name text PRIMARY KEY,
    due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    claimed_until timestamptz NOT NULL DEFAULT '-infinity',
    claims bigint NOT NULL DEFAULT 0,
    failures integer NOT NULL DEFAULT 0,
    done_at timestamptz
);
COMMENT ON TABLE chores IS
    'Recurring work: claims numbers the claims, so that a claim whose lease ran out ends nothing';
"""


def upgrade() -> None:
    connection = op.get_bind().connection.driver_connection
    connection.execute(TABLE)
    grant(connection, context.config.attributes["app_role"])


def downgrade() -> None:
    op.get_bind().connection.driver_connection.execute("DROP TABLE chores")
