"""What the application's role may do, and how long it may take.

The role reads and appends events and can neither change nor remove one. Granting again what is
granted already changes nothing, so a new application role gets its rights with the next run.
"""

from __future__ import annotations

from typing import Any

from psycopg import Connection, sql

GRANTS = {
    "events": "SELECT, INSERT",
    "archives": "SELECT",
    "outbox": "SELECT, INSERT, DELETE",
    "games": "SELECT, INSERT",
    "seats": "SELECT, INSERT, UPDATE, DELETE",
    "deadlines": "SELECT, INSERT, UPDATE, DELETE",
    "idempotency": "SELECT, INSERT, UPDATE, DELETE",
    "creations": "SELECT, INSERT, UPDATE, DELETE",
    "rematches": "SELECT, INSERT, UPDATE",
    "invites": "SELECT, INSERT, UPDATE",
    "invited": "SELECT, INSERT",
    "attempts": "SELECT, INSERT, DELETE",
    "dispute_events": "SELECT, INSERT",
    "pending_disputes": "SELECT, INSERT, DELETE",
    "looks": "SELECT, INSERT",
    "scope_changes": "SELECT, INSERT",
    "apps": "SELECT, INSERT, UPDATE",
    "app_keys": "SELECT, INSERT, UPDATE",
    "players": "SELECT, INSERT, UPDATE, DELETE",
    "tokens": "SELECT, INSERT, UPDATE, DELETE",
    "chores": "SELECT, INSERT, UPDATE",
    "stream_tickets": "SELECT, INSERT, DELETE",
    "signing_keys": "SELECT, INSERT",
    "feed": "SELECT, INSERT",
    "cursors": "SELECT, INSERT, UPDATE, DELETE",
    "leases": "SELECT, INSERT, UPDATE, DELETE",
    "standings": "SELECT, INSERT, UPDATE, DELETE",
    "generations": "SELECT, UPDATE",
    "service_time": "SELECT, INSERT, UPDATE",
    "outages": "SELECT, INSERT, UPDATE",
    "checkpoints": "SELECT, INSERT",
    "nodes": "SELECT, INSERT, UPDATE, DELETE",
    "webhooks": "SELECT, INSERT, UPDATE, DELETE",
    "deliveries": "SELECT, INSERT, UPDATE, DELETE",
    "alembic_version": "SELECT",
}

CHANGING = {
    "games": "status, version, options, turn_seconds, max_seats, host_seat, turn_seat, turn_player,"
    " started_version, round_version, spectator_delay_seconds, late_until, ahead_ms, updated_at",
    "signing_keys": "retired_at",
}
"""Of tables without UPDATE, the columns that may change: what a game is, its secret above all,
stays, and how far it has come does not; a published key stays too."""

FUNCTIONS = ("append_events", "append_dispute", "beat", "make_partitions")
"""What the application may call, and nobody else but the owner."""

ROLE_SETTINGS = {
    "statement_timeout": "15s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "15s",
    # Every statement goes along one index whatever its parameters are: planning it again for each
    # of them takes longer than many of them do.
    "plan_cache_mode": "force_generic_plan",
}
"""Set on the role, as what a session sets does not reach the other nodes of a cluster."""


def grant(connection: Connection[Any], app_role: str) -> None:
    """Give `app_role` its rights on every table that exists, and no other.

    Nothing is done where the application runs as the owner itself.
    """
    if _current_role(connection) == app_role:
        return
    role = sql.Identifier(app_role)
    present = {
        name
        for (name,) in connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace"
        )
    }
    for table, rights in GRANTS.items():
        if table in present:
            connection.execute(
                sql.SQL(
                    "REVOKE ALL ON {table} FROM {role}; GRANT {rights} ON {table} TO {role}"
                ).format(table=sql.Identifier(table), role=role, rights=sql.SQL(rights))
            )
    for table, columns in CHANGING.items():
        if table in present:
            known = _columns(connection, table)
            named = [column for column in columns.split(", ") if column in known]
            connection.execute(
                sql.SQL("GRANT UPDATE ({columns}) ON {table} TO {role}").format(
                    table=sql.Identifier(table),
                    role=role,
                    columns=sql.SQL(", ").join(map(sql.Identifier, named)),
                )
            )
    defined = {
        name
        for (name,) in connection.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
        )
    }
    for function in FUNCTIONS:
        if function in defined:
            connection.execute(
                sql.SQL(
                    "REVOKE ALL ON FUNCTION {function} FROM PUBLIC;"
                    "GRANT EXECUTE ON FUNCTION {function} TO {role}"
                ).format(function=sql.Identifier(function), role=role)
            )
    connection.execute(
        sql.SQL("GRANT USAGE ON SCHEMA {schema} TO {role}").format(
            role=role, schema=sql.Identifier(_schema(connection))
        )
    )


def limit(connection: Connection[Any], app_role: str) -> bool:
    """Set the role's settings in this database, for sessions from now on. False where the
    connection's role may not: it must be that role itself or one that may alter it.

    A role that owns the tables is left alone, as migrations may take their time.
    """
    row = connection.execute(
        "SELECT r.rolname = %(role)s OR r.rolsuper"
        " OR (r.rolcreaterole AND (current_setting('server_version_num')::int < 160000"
        "  OR EXISTS (SELECT true FROM pg_auth_members m WHERE m.roleid = %(role)s::regrole"
        "   AND m.member = r.oid AND m.admin_option))),"
        " pg_has_role(%(role)s, c.relowner, 'MEMBER')"
        " FROM pg_roles r, pg_class c"
        " WHERE r.rolname = current_user AND c.oid = 'events'::regclass",
        {"role": app_role},
    ).fetchone()
    assert row is not None
    allowed, owns = row
    if owns or not allowed:
        return False
    database = connection.info.dbname
    for name, value in ROLE_SETTINGS.items():
        connection.execute(
            sql.SQL("ALTER ROLE {role} IN DATABASE {database} SET {name} = {value}").format(
                role=sql.Identifier(app_role),
                database=sql.Identifier(database),
                name=sql.Identifier(name),
                value=sql.Literal(value),
            )
        )
    return True


def _columns(connection: Connection[Any], table: str) -> set[str]:
    """The columns that a table has by now: later migrations add some."""
    rows = connection.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
        (table,),
    )
    return {name for (name,) in rows}


def _current_role(connection: Connection[Any]) -> str:
    row = connection.execute("SELECT current_user").fetchone()
    assert row is not None
    return str(row[0])


def _schema(connection: Connection[Any]) -> str:
    row = connection.execute("SELECT current_schema()").fetchone()
    assert row is not None
    return str(row[0])
