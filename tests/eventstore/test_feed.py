"""The feed: no reader misses an event or sees one twice, whoever commits when, whoever dies."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import psycopg
import pytest

from eventstore import sql_feed
from eventstore.executor import Executor
from eventstore.feed import Feed, FeedItem
from eventstore.ids import uuid7
from eventstore.pool import Pool, open_pool
from tests.databases import Scratch, scratch_database
from tests.eventstore.feeds import NAIVE, append, check, naive_after, race
from tests.eventstore.tables import open_table


@dataclass(frozen=True)
class Bench:
    """A database of its own, whose events are no games."""

    scratch: Scratch
    feed: Feed

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.scratch.app_url, autocommit=True)

    def rows(self) -> list[FeedItem]:
        return self.feed.after(0, 1_000_000)


@pytest.fixture
def bench() -> Iterator[Bench]:
    with scratch_database() as scratch, open_pool(scratch.app_url, 6) as pool:
        scratch.execute(NAIVE + f"; GRANT SELECT, INSERT ON naive TO {scratch.app_role}")
        yield Bench(scratch, Feed(pool))


class Sequencers:
    """Several at once, each in a thread, with no lease to keep them apart."""

    def __init__(self, pool_url: str, count: int, limit: int) -> None:
        self._stopping = threading.Event()
        self.conflicts = 0
        self._url, self._limit = pool_url, limit
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(count)]

    def __enter__(self) -> Sequencers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(30)

    def _run(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._stopping.is_set():
                try:
                    connection.execute(sql_feed.SEQUENCE, {"limit": self._limit})
                except psycopg.errors.UniqueViolation:
                    self.conflicts += 1


def killing(scratch: Scratch, stopping: threading.Event, killed: list[int]) -> None:
    """End the sessions that are in the middle of a batch, again and again."""
    with psycopg.connect(scratch.admin_url, autocommit=True) as admin:
        while not stopping.wait(0.05):
            found = admin.execute(
                "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = 'to-be-killed' AND datname = current_database()"
                " AND state = 'active'"
            ).fetchall()
            killed.extend(pid for pid, _ in found)


def sequencing_till_killed(url: str, stopping: threading.Event) -> None:
    """A sequencer that holds its batches open for a while, and one more after each death."""
    while not stopping.is_set():
        with (
            contextlib.suppress(psycopg.Error),
            psycopg.connect(url, application_name="to-be-killed") as connection,
        ):
            connection.execute(sql_feed.SEQUENCE, {"limit": 50})
            connection.execute("SELECT pg_sleep(0.03)")
            connection.commit()


def test_a_number_that_each_append_takes_for_itself_lets_readers_miss_events(
    bench: Bench,
) -> None:
    """The control: what the feed is for. The same reader on the feed misses nothing."""
    late, early = uuid7(), uuid7()
    after = naive_after(bench.scratch.app_url)
    naive: list[FeedItem] = []
    fed: list[FeedItem] = []

    def look() -> None:
        naive.extend(after(naive[-1].position if naive else 0))
        bench.feed.sequence()
        fed.extend(bench.feed.after(fed[-1].position if fed else 0, 100))

    def meanwhile() -> None:
        with bench.connect() as other:
            append(other, early, 1, 1)
        look()

    with bench.connect() as slow:
        append(slow, late, 1, 1, meanwhile)
    look()
    assert {item.game_id for item in naive} == {early}
    assert [item.game_id for item in fed] == [early, late]
    check(fed)


def test_readers_miss_nothing_while_many_commit_and_sequencers_race_and_die(bench: Bench) -> None:
    games = [uuid7() for _ in range(8)]
    stopping, killed = threading.Event(), []  # type: threading.Event, list[int]
    deaths = threading.Thread(target=killing, args=(bench.scratch, stopping, killed))
    victim = threading.Thread(target=sequencing_till_killed, args=(bench.scratch.app_url, stopping))
    with Sequencers(bench.scratch.app_url, 2, 50) as sequencers:
        deaths.start()
        victim.start()
        try:
            seen, count = race(
                bench.scratch.app_url,
                bench.feed,
                games,
                threads=8,
                seconds=3,
                enough=lambda: bool(killed and sequencers.conflicts),
            )
        finally:
            stopping.set()
            deaths.join(30)
            victim.join(30)
    assert count > 100
    assert len(seen) == count
    check(seen)
    assert seen == bench.rows()
    assert killed
    assert sequencers.conflicts, "no two sequencers met: the race was none"
    stored = bench.scratch.execute("SELECT game_id::text, version FROM events")
    assert sorted(stored) == sorted(item[1:] for item in seen)


def test_the_second_of_two_sequencers_finds_its_positions_taken(bench: Bench) -> None:
    with bench.connect() as one, bench.connect() as other:
        append(one, uuid7(), 2, 2)
        with one.transaction():
            one.execute(sql_feed.SEQUENCE, {"limit": 10})
            append(other, uuid7(), 1, 1)
            found: list[object] = []
            second = threading.Thread(target=lambda: found.append(bench.feed.sequence()))
            second.start()
            waits = "SELECT true FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            ends = time.monotonic() + 20
            while not bench.scratch.execute(waits + " AND datname = current_database()"):
                assert time.monotonic() < ends
                time.sleep(0.01)
        second.join(20)
    assert found == [(0, 0)]
    assert bench.feed.waiting() == 1
    assert bench.feed.sequence() == (1, 1)
    check(bench.rows())


def test_large_backlogs_are_moved_in_batches_each_game_in_order(bench: Bench) -> None:
    games = [uuid7() for _ in range(3)]
    with bench.connect() as connection:
        for version in range(2, 22, 2):
            for game_id in games:
                append(connection, game_id, version, 2)
    moved = []
    while (batch := bench.feed.sequence(limit=7)) != (0, 0):
        moved.append(batch)
    assert moved == [(7, 14)] * 4 + [(2, 4)]
    check(bench.rows())
    assert bench.feed.head() == 60


def test_positions_are_append_only(bench: Bench) -> None:
    with bench.connect() as connection:
        append(connection, uuid7(), 1, 1)
    bench.feed.sequence()
    for statement in ("DELETE FROM feed", "UPDATE feed SET position = 9", "TRUNCATE feed"):
        with (
            psycopg.connect(bench.scratch.owner_url) as owner,
            pytest.raises(psycopg.errors.RestrictViolation),
        ):
            owner.execute(statement.encode())


def test_a_reader_handles_each_item_once_whatever_fails(bench: Bench) -> None:
    """Several readers of one name, which fail and are killed in the middle of their batches."""
    bench.scratch.execute(
        f"CREATE TABLE seen (position bigint); GRANT INSERT ON seen TO {bench.scratch.app_role}"
    )
    with bench.connect() as connection:
        for _ in range(200):
            append(connection, uuid7(), 1, 1)
    bench.feed.sequence()
    tries = iter(range(10_000))

    def apply(
        connection: psycopg.Connection[tuple[object, ...]], items: Sequence[FeedItem]
    ) -> None:
        for item in items:
            connection.execute("INSERT INTO seen VALUES (%s)", (item.position,))
        number = next(tries)
        if number % 3 == 1:
            raise ValueError
        if number % 5 == 2:
            bench.scratch.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))

    def read() -> None:
        while True:
            with contextlib.suppress(ValueError):
                if not bench.feed.consume("reader", 7, apply):
                    return

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    seen = [position for (position,) in bench.scratch.execute("SELECT * FROM seen")]
    assert sorted(seen) == list(range(1, 201))
    assert bench.feed.cursor("reader") == 200


def test_a_lease_is_one_holders_until_it_ends(pool: Pool, scratch: Scratch) -> None:
    feed = Feed(pool)
    first, second = uuid7(), uuid7()
    assert feed.lease("a thing", first, 60)
    assert feed.lease("a thing", first, 60)
    assert not feed.lease("a thing", second, 60)
    feed.end_lease("a thing", second)
    assert not feed.lease("a thing", second, 60)
    scratch.execute("UPDATE leases SET until = now() - interval '1 second' WHERE name = 'a thing'")
    assert feed.lease("a thing", second, 60)
    assert not feed.lease("a thing", first, 60)
    feed.end_lease("a thing", second)
    assert feed.lease("a thing", first, 60)


def test_every_event_of_a_game_gets_into_the_feed(executor: Executor, pool: Pool) -> None:
    feed = Feed(pool)
    table = open_table(executor)
    for _ in range(5):
        table.make_move()
    while feed.sequence() != (0, 0):
        pass
    rows = feed.after(0, 1_000_000)
    versions = [item.version for item in rows if item.game_id == table.game_id]
    assert versions == [event.version for event in table.events()]
