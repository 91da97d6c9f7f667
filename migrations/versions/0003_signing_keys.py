"""The public keys of what the service has signed; private ones are in no database."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE signing_keys (
    kid text PRIMARY KEY,
    public_key jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    retired_at timestamptz
);
"""


def upgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute(TABLES)
    grant(op.get_bind().connection.driver_connection, context.config.attributes["app_role"])


def downgrade() -> None:
    raise NotImplementedError("signatures must stay checkable")
