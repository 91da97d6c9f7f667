"""Around the feed in worker nodes: one leads, and another takes over; matches are counted."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator

import psycopg
import pytest

from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.pool import Pool
from eventstore.standings import Standings
from tests.databases import Scratch
from tests.eventstore.tables import open_table
from tests.workers.conftest import Nodes
from tests.workers.servers import wait_for
from workers.leading import Leading
from workers.sequencer import LONGEST_SECONDS, SHORTEST_SECONDS, Sequencer


class Steps:
    """Steps that are counted; those in `errors` fail."""

    def __init__(self) -> None:
        self.done = threading.Semaphore(0)
        self.errors: list[BaseException] = []

    def __call__(self) -> float:
        self.done.release()
        if self.errors:
            raise self.errors.pop()
        return 3600.0

    def came(self, seconds: float = 30) -> bool:
        return self.done.acquire(timeout=seconds)


@pytest.fixture
def feed(pool: Pool, scratch: Scratch) -> Iterator[Feed]:
    scratch.execute("DELETE FROM leases")
    yield Feed(pool)
    scratch.execute("DELETE FROM leases")


def test_one_leads_and_the_next_takes_over_when_it_stops(feed: Feed) -> None:
    first, second = Steps(), Steps()
    one = Leading("work", lambda: feed, first, renew=0.05)
    two = Leading("work", lambda: feed, second, renew=0.05)
    one.start()
    assert first.came()
    two.start()
    assert first.came()
    assert first.came()
    assert one.leads
    assert not two.leads
    assert not second.came(0)
    one.stop()
    assert second.came()
    two.stop()
    two.join(30)
    assert not feed.database.run("SELECT true FROM leases WHERE name = 'work'", {})


def test_who_does_not_answer_loses_the_lease(feed: Feed) -> None:
    held = threading.Event()
    second = Steps()

    def hang() -> float:
        held.wait(60)
        return 3600.0

    one = Leading("work", lambda: feed, hang, lease=0.3, renew=0.05)
    two = Leading("work", lambda: feed, second, lease=60, renew=0.05)
    one.start()
    wait_for(lambda: one.leads, 30, "the first leads")
    two.start()
    assert second.came()
    held.set()
    two.stop()
    one.stop()
    two.join(30)
    one.join(30)


def test_whatever_a_step_raises_the_next_one_comes(
    feed: Feed, caplog: pytest.LogCaptureFixture
) -> None:
    steps = Steps()
    steps.errors = [RuntimeError("E-rose is in nobody's hand"), SystemExit(1)]
    worker = Leading("work", lambda: feed, steps)
    worker.start()
    for _ in range(3):
        assert steps.came()
    worker.stop()
    worker.join(30)
    assert "E-rose" not in caplog.text
    assert "cannot go on" in caplog.text


def test_a_wake_ends_the_wait(feed: Feed) -> None:
    steps = Steps()
    worker = Leading("work", lambda: feed, steps, lease=600, renew=600)
    worker.start()
    assert steps.came()
    worker.wake()
    assert steps.came()
    worker.stop()
    worker.join(30)


def test_the_sequencer_looks_less_often_while_nothing_comes(feed: Feed, executor: Executor) -> None:
    told = []
    sequencer = Sequencer(lambda: feed, lambda: told.append(True))
    while feed.waiting():
        sequencer.step()
    told.clear()
    waits = [sequencer.step() for _ in range(12)]
    assert waits == sorted(waits)
    assert waits[-1] == LONGEST_SECONDS
    assert not told
    open_table(executor)
    assert sequencer.step() == SHORTEST_SECONDS
    assert told
    assert not feed.waiting()


def test_a_node_is_killed_and_another_goes_on(
    executor: Executor, pool: Pool, scratch: Scratch, nodes: Nodes, broker_url: str
) -> None:
    """Nodes give positions and count matches; when one dies the other does."""
    feed, standings = Feed(pool), Standings(pool)
    scratch.execute("DELETE FROM leases")

    def played() -> str:
        table = open_table(executor, turn_seconds=600)
        table.play_out(random.Random(1))
        player = table.players[0]
        assert player is not None
        scratch.execute("INSERT INTO players VALUES (%s, 'Anna')", (player,))
        return player

    def counted(player: str) -> bool:
        profile = standings.profile(player)
        return profile is not None and bool(profile.results)

    first = nodes("one", broker_url)
    player = played()
    wait_for(lambda: counted(player), 60, "the match is counted")
    nodes("two", broker_url).wait_until_up()
    first.kill()
    player = played()
    late = wait_for(lambda: counted(player), 60, "the next match is counted")
    print(f"taken over after {late:.1f} s")
    assert feed.waiting() == 0
    with psycopg.connect(scratch.app_url) as connection:
        row = connection.execute("SELECT count(*), max(position) FROM feed").fetchone()
    assert row is not None
    assert row[0] == row[1]
