"""The statements around a backup, as text."""

from __future__ import annotations

from typing import LiteralString

EXPORT_SNAPSHOT: LiteralString = "SELECT pg_export_snapshot()"

UNLIMITED: LiteralString = """
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0
"""

CONTENT: LiteralString = """
SELECT (SELECT count(*) FROM games), (SELECT count(*) FROM events),
    (SELECT coalesce(max(position), 0) FROM feed), (SELECT coalesce(sum(events), 0) FROM outbox),
    (SELECT count(*) FROM checkpoints), (SELECT count(*) FROM players)
"""

RELATIONS: LiteralString = """
SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND c.relkind IN ('r', 'p', 'v', 'm')
"""

MAY_CREATE: LiteralString = "SELECT has_schema_privilege(current_schema(), 'CREATE')"

WEBHOOK_KEYS: LiteralString = "SELECT DISTINCT key_id FROM webhooks"
