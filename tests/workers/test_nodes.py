"""Nodes, their processes and the broker die or hang: every due turn is settled once, and how late.

`Match.expiries` fails when a turn expired twice; each test waits until all turns that were due
have expired, so none may be lost either.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from eventstore.deadlines import Deadlines
from eventstore.executor import Executor
from tests.databases import Scratch, server_url
from tests.workers.conftest import Nodes
from tests.workers.servers import Node, Valkey, silent_listener, wait_for
from tests.workers.tables import TURN_SECONDS, Match, Matches, lateness
from workers.settings import LEASE_SECONDS

PROMPT = LEASE_SECONDS - 1
"""Sooner than a lease could have run out, however busy the machine is."""

PATIENCE = TURN_SECONDS + LEASE_SECONDS + 15


def worst(played: list[Match], said: str, turns: int = 1) -> float:
    """Wait until each match has lost so many turns; the worst lateness in seconds."""
    wait_for(
        lambda: all(len(match.expiries()) >= turns for match in played), PATIENCE, "turns expire"
    )
    print(f"{said}: {lateness(played)}")
    return max(each.late for match in played for each in match.expiries())


def killing(node: Node) -> Callable[[], None]:
    """Kills one process of the node's pool at each call."""
    killed: set[int] = set()

    def kill() -> None:
        for pid in set(node.children()) - killed:
            killed.add(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            return

    return kill


def test_a_lost_claim_is_settled_when_its_lease_has_run_out(
    executor: Executor, matches: Matches, nodes: Nodes, broker_url: str
) -> None:
    """A claimer that is never heard of again delays what it claimed by its lease, no more."""
    lease = 3.0
    node = nodes("one", broker_url)
    node.wait_until_up()
    match = matches.start()
    time.sleep(TURN_SECONDS - 0.5)
    node.signal(signal.SIGSTOP)
    time.sleep(0.6)
    assert match.game_id in {
        due.game_id for due in Deadlines(executor.store.pool).claim(100, lease) or ()
    }
    node.signal(signal.SIGCONT)
    late = worst([match], f"claimed by somebody with a lease of {lease:.0f} s who died")
    assert lease <= late < lease + PROMPT


def test_two_nodes_settle_each_turn_once(matches: Matches, nodes: Nodes, broker_url: str) -> None:
    for name in ("one", "two"):
        nodes(name, broker_url)
    for node in nodes.started:
        node.wait_until_up()
    played = matches.several(20)
    assert worst(played, "two nodes") < PROMPT
    for node in nodes.started:
        assert "succeeded" in node.output()
        assert node.stop() == 0


CLOCK = """
import sys, time
told, told_ns = time.time, time.time_ns
time.time = lambda: told() + {seconds}
time.time_ns = lambda: told_ns() + {seconds} * 10**9
print("the clock is off by", round(time.time() - told()), file=sys.stderr)
"""
"""What a Python whose `PYTHONPATH` holds it as `sitecustomize` does first."""


def test_clocks_that_are_minutes_apart_change_nothing(
    matches: Matches, nodes: Nodes, broker_url: str, tmp_path: Path
) -> None:
    for name, seconds in (("slow", -420), ("fast", 420)):
        folder = tmp_path / f"clock-{name}"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(CLOCK.format(seconds=seconds))
        nodes(name, broker_url, PYTHONPATH=str(folder))
    for node, seconds in zip(nodes.started, (-420, 420), strict=True):
        node.wait_until_up()
        assert f"the clock is off by {seconds}" in node.output()
    played = matches.several(20)
    assert worst(played, "two nodes whose clocks are 14 minutes apart", 2) < PROMPT
    assert min(each.late for match in played for each in match.expiries()) >= 0
    # Each by itself, too: when it looks and what it claims is no matter of its clock.
    slow, fast = nodes.started
    for stopped, left in ((slow, fast), (fast, slow)):
        assert stopped.stop() == 0
        before = max(len(match.expiries()) for match in played)
        assert worst(played, f"only {left.name}, whose clock is wrong", before + 1) < PROMPT
        stopped.start()
        stopped.wait_until_up()


def test_a_pool_process_is_killed_again_and_again(
    matches: Matches, nodes: Nodes, broker_url: str
) -> None:
    node = nodes("one", broker_url)
    node.wait_until_up()
    played = matches.several(12)
    kill = killing(node)
    ends = time.monotonic() + 2 * TURN_SECONDS
    while time.monotonic() < ends:
        kill()
        time.sleep(0.6)
    assert worst(played, "a pool process killed every 0.6 s", 2) < LEASE_SECONDS + PROMPT
    assert node.running


def test_a_node_is_killed_and_another_is_left(
    matches: Matches, nodes: Nodes, broker_url: str
) -> None:
    first, second = nodes("one", broker_url), nodes("two", broker_url)
    first.wait_until_up()
    second.wait_until_up()
    played = matches.several(12)
    time.sleep(TURN_SECONDS - 0.5)
    first.signal(signal.SIGKILL)
    assert worst(played, "one of two nodes killed while turns were due") < LEASE_SECONDS + PROMPT


def test_the_only_node_is_killed_and_started_again(
    matches: Matches, nodes: Nodes, broker_url: str
) -> None:
    node = nodes("one", broker_url)
    node.wait_until_up()
    played = matches.several(12)
    time.sleep(TURN_SECONDS - 0.5)
    node.kill()
    began = time.monotonic()
    node.start()
    node.wait_until_up()
    away = time.monotonic() - began
    late = worst(played, f"the only node killed, and up again after {away:.1f} s")
    assert late < away + LEASE_SECONDS + PROMPT


def test_a_node_hangs_and_another_is_left(matches: Matches, nodes: Nodes, broker_url: str) -> None:
    first, second = nodes("one", broker_url), nodes("two", broker_url)
    first.wait_until_up()
    second.wait_until_up()
    played = matches.several(12)
    time.sleep(TURN_SECONDS - 0.5)
    hung = [first.pid, *first.children()]
    for pid in hung:
        os.kill(pid, signal.SIGSTOP)
    try:
        late = worst(played, "one of two nodes hung while turns were due")
    finally:
        for pid in hung:
            os.kill(pid, signal.SIGCONT)
    assert late < LEASE_SECONDS + PROMPT
    time.sleep(1)
    for match in played:
        match.expiries()


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_node_starts_while_the_broker_hangs(matches: Matches, nodes: Nodes, scheme: str) -> None:
    with silent_listener() as port:
        node = nodes("one", f"{scheme}://127.0.0.1:{port}/0")
        wait_for(lambda: "celery@" in node.output() or "test v" in node.output(), 20, "it starts")
        played = matches.several(12)
        assert worst(played, f"the {scheme} broker hangs from the start") < PROMPT
        node.kill()


def test_the_broker_dies_and_comes_back(matches: Matches, nodes: Nodes, broker: Valkey) -> None:
    node = nodes("one", broker.url)
    node.wait_until_up()
    played = matches.several(12)
    time.sleep(TURN_SECONDS - 0.5)
    broker.kill()
    assert worst(played, "the broker killed while turns were due") < PROMPT
    broker.start()
    if not node.running:
        node.start()
    told = node.output().count("succeeded")
    wait_for(lambda: node.output().count("succeeded") > told, 20, "the pool takes tasks again")
    worst(played, "the broker was started again", 2)


def test_the_broker_hangs_for_a_while(matches: Matches, nodes: Nodes, broker: Valkey) -> None:
    node = nodes("one", broker.url)
    node.wait_until_up()
    played = matches.several(12)
    time.sleep(TURN_SECONDS - 0.5)
    broker.signal(signal.SIGSTOP)
    try:
        assert worst(played, "the broker hung while turns were due") < LEASE_SECONDS + PROMPT
    finally:
        broker.signal(signal.SIGCONT)
    assert worst(played, "and went on", 2) < LEASE_SECONDS + PROMPT


def test_the_database_is_away_for_a_while(
    matches: Matches, nodes: Nodes, broker_url: str, scratch: Scratch
) -> None:
    away = 3.0
    node = nodes("one", broker_url)
    node.wait_until_up()
    played = matches.several(12)
    time.sleep(TURN_SECONDS - 1)
    with psycopg.connect(server_url(), autocommit=True) as server:
        allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
        name = sql.Identifier(scratch.name)
        server.execute(allow.format(name, sql.SQL("false")))
        try:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                (scratch.name,),
            )
            time.sleep(away)
        finally:
            server.execute(allow.format(name, sql.SQL("true")))
    late = worst(played, f"the database away for {away:.0f} s")
    assert late < away + LEASE_SECONDS + PROMPT
    assert node.running
