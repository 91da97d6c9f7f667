"""PgBouncer in transaction mode between us and the server, as large installations have it."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from domain.commands import MakeMove
from domain.game import legal_moves
from eventstore.chain import verify
from eventstore.executor import Executor
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import a_request, open_table, with_call
from tests.workers.servers import answers, free_port, wait_for

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
SESSIONS = 3
"""Of the pooler to the server: fewer than its clients, so that they must share."""

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")


def _version() -> tuple[int, int]:
    said = subprocess.run([str(PROGRAM), "--version"], capture_output=True, text=True, check=True)
    match = re.search(r"PgBouncer (\d+)\.(\d+)", said.stdout)
    assert match is not None
    return int(match[1]), int(match[2])


@pytest.fixture
def pooled(scratch: Scratch) -> Iterator[str]:
    """The scratch database as the application, through a pooler of its own."""
    server = conninfo_to_dict(scratch.app_url)
    folder = Path(tempfile.mkdtemp(prefix="abbot-pooler-", dir="/tmp"))
    folder.chmod(0o755)
    port = free_port()
    users = folder / "users.txt"
    users.write_text(f'"{server["user"]}" "{server["password"]}"\n')
    prepared = "max_prepared_statements = 100" if _version() >= (1, 21) else ""
    config = folder / "pgbouncer.ini"
    config.write_text(
        f"""[databases]
{scratch.name} = host={server["host"]} port={server.get("port") or 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = plain
auth_file = {users}
pool_mode = transaction
default_pool_size = {SESSIONS}
max_client_conn = 100
server_reset_query =
ignore_startup_parameters = extra_float_digits,options
{prepared}
"""
    )
    command = [str(PROGRAM), str(config)]
    if os.geteuid() == 0:
        command[1:1] = ["-u", "nobody"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: answers(port), 20, "PgBouncer starts")
        yield make_conninfo(scratch.app_url, host="127.0.0.1", port=port)
    finally:
        process.terminate()
        process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


THRESHOLDS = [None, 2]
"""Without prepared statements, and with them where the pooler can keep them (1.21 and later)."""


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_matches_go_on_through_a_pooler(
    scratch: Scratch, pooled: str, threshold: int | None
) -> None:
    if threshold is not None and _version() < (1, 21):
        pytest.skip("this PgBouncer keeps no prepared statements")
    with open_pool(pooled, 8, prepare_threshold=threshold) as pool:
        executor = Executor(Store(pool))
        tables = [open_table(executor, "vallelujah", rounds_to_win=1) for _ in range(8)]

        def play(number: int) -> None:
            table, dice = tables[number], random.Random(number)
            for _ in range(30):
                game = table.game()
                if game.over:
                    return
                assert game.turn is not None
                move = with_call(game, dice.choice(legal_moves(game, game.turn.seat)))
                player = str(table.players[game.turn.seat])
                command = MakeMove(player, move, game.round, game.turn.number)
                request = a_request() if dice.random() < 0.3 else None
                outcome = executor.execute(table.game_id, command, idempotency=request)
                if request is not None:
                    again = executor.execute(table.game_id, command, idempotency=request)
                    assert again.replayed
                    assert again.events == outcome.events

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(play, range(8)))
        for table in tables:
            events = table.events()
            assert len(events) > 5
            assert verify(events, game_id=table.game_id) is None
    sessions = scratch.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND usename = %s",
        (scratch.name, scratch.app_role),
    )
    assert sessions[0][0] >= 1


def test_the_roles_limits_hold_through_a_pooler(scratch: Scratch, pooled: str) -> None:
    """They are set on the role, as what a session sets would go to whoever comes next."""
    with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as connection:
        for name, value in (("statement_timeout", "15s"), ("lock_timeout", "5s")):
            row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
            assert row == (value,)
