"""Tickets with which a browser opens the stream of one game."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE stream_tickets (
    game_id uuid NOT NULL,
    ticket_hash bytea NOT NULL CHECK (octet_length(ticket_hash) = 32),
    token_id uuid NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (game_id, ticket_hash)
);
CREATE INDEX stream_tickets_expires ON stream_tickets (expires_at);
"""


def upgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute(TABLES)
    grant(op.get_bind().connection.driver_connection, context.config.attributes["app_role"])


def downgrade() -> None:
    op.get_bind().connection.driver_connection.execute("DROP TABLE stream_tickets")
