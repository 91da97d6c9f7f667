"""The default partition stays append-only by itself, too, should somebody detach it by hand."""

from __future__ import annotations

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

GUARD = """
CREATE TRIGGER append_only_alone BEFORE UPDATE OR DELETE ON events_default
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE events_default ENABLE ALWAYS TRIGGER append_only_alone;
"""


def upgrade() -> None:
    op.get_bind().connection.driver_connection.execute(GUARD)


def downgrade() -> None:
    raise NotImplementedError("the record is never taken away by a migration")
