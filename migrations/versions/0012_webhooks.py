"""Webhooks, and what is to be delivered to them."""

from __future__ import annotations

from alembic import context, op

from migrations.privileges import grant

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

TABLES = """
CREATE TABLE webhooks (
    webhook_id uuid PRIMARY KEY,
    owner_kind text NOT NULL CHECK (owner_kind IN ('player', 'app')),
    owner_id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    description text NOT NULL,
    key_id text NOT NULL,
    secret bytea NOT NULL,
    old_secret bytea,
    old_secret_until timestamptz,
    after_position bigint NOT NULL,
    created_at timestamptz NOT NULL,
    enabled boolean NOT NULL DEFAULT true,
    disabled_reason text,
    failures integer NOT NULL DEFAULT 0,
    failing_since timestamptz,
    slow boolean NOT NULL DEFAULT false,
    due_at timestamptz NOT NULL DEFAULT 'infinity',
    resting_until timestamptz NOT NULL DEFAULT '-infinity',
    claimed_until timestamptz NOT NULL DEFAULT '-infinity',
    claims bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 70);
CREATE INDEX webhooks_owner ON webhooks (owner_kind, owner_id, webhook_id);
CREATE INDEX webhooks_due ON webhooks (due_at) WHERE enabled;
COMMENT ON TABLE webhooks IS
    'Who is called, and when next: due_at is infinity while nothing waits. Secrets are sealed';
COMMENT ON COLUMN webhooks.after_position IS 'Only events beyond it in the feed are told';
COMMENT ON COLUMN webhooks.resting_until IS 'It failed, and is not called before, whatever comes';
COMMENT ON COLUMN webhooks.slow IS 'It takes long to answer, or fails: it gets fewer of the places';

CREATE TABLE deliveries (
    webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    delivery_id uuid NOT NULL,
    type text NOT NULL,
    game_id uuid,
    version integer,
    seat integer,
    player_id uuid,
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
    created_at timestamptz NOT NULL,
    due_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    attempts jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (webhook_id, delivery_id)
) WITH (fillfactor = 70);
CREATE INDEX deliveries_due ON deliveries (webhook_id, due_at) WHERE status = 'pending';
CREATE INDEX deliveries_created ON deliveries (created_at);
COMMENT ON TABLE deliveries IS
    'Messages to webhooks; what one says is made of the event and the seat when it is sent';
"""


def upgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute(TABLES)
    grant(op.get_bind().connection.driver_connection, context.config.attributes["app_role"])


def downgrade() -> None:
    execute = op.get_bind().connection.driver_connection.execute
    execute("DROP TABLE deliveries, webhooks")
