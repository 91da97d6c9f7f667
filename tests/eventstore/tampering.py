"""For tests of what is found when somebody gets past the database's own guards."""

from __future__ import annotations

from tests.databases import Scratch

_UNGUARD = """
DO $$ DECLARE t regclass; BEGIN
    FOR t IN SELECT oid::regclass FROM pg_class
        WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    LOOP EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', t); END LOOP;
END $$
"""


def unguard(scratch: Scratch) -> None:
    """Take every trigger out of force, so that the superuser can change anything."""
    scratch.execute(_UNGUARD)
