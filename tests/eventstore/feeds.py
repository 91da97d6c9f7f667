"""Appends and readers that race for the feed, on bare rows in place of games."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg

from eventstore.feed import Feed, FeedItem


def append(
    connection: psycopg.Connection[tuple[object, ...]],
    game_id: str,
    version: int,
    events: int,
    before_commit: Callable[[], object] = lambda: None,
) -> bool:
    """Append `events` events up to `version` as a move does, all in one transaction; False if
    somebody else has appended such a version."""
    try:
        with connection.transaction():
            connection.execute(
                "INSERT INTO events (game_id, version, body, hash) SELECT %s, n, '{}', sha256('')"
                " FROM generate_series(%s::int, %s::int) AS n",
                (game_id, version - events + 1, version),
            )
            connection.execute("INSERT INTO outbox VALUES (%s, %s, %s)", (game_id, version, events))
            connection.execute(
                "INSERT INTO naive (game_id, version) SELECT %s, n"
                " FROM generate_series(%s::int, %s::int) AS n",
                (game_id, version - events + 1, version),
            )
            before_commit()
    except psycopg.errors.UniqueViolation:
        return False
    return True


NAIVE = """
CREATE TABLE naive (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    game_id uuid NOT NULL, version integer NOT NULL)
"""
"""What a feed must not be: a number that each append takes for itself."""


def appends(
    url: str, games: list[str], seed: int, seconds: float, enough: Callable[[], bool]
) -> int:
    """Append to random games for so long, and until it is `enough` if that is not yet, holding some
    transactions open; how many events."""
    dice = random.Random(seed)
    known = dict.fromkeys(games, 0)
    count = 0
    began = time.monotonic()

    def goes_on() -> bool:
        took = time.monotonic() - began
        return took < seconds or (not enough() and took < 10 * seconds)

    with psycopg.connect(url, autocommit=True) as connection:
        while goes_on():
            game_id = dice.choice(games)
            row = connection.execute(
                "SELECT coalesce(max(version), 0) FROM events WHERE game_id = %s", (game_id,)
            ).fetchone()
            assert row is not None
            events = dice.randint(1, 4)
            version = int(row[0]) + events
            pause = dice.choice((0, 0, 0, 0.002, 0.02))
            if append(connection, game_id, version, events, lambda pause=pause: time.sleep(pause)):
                known[game_id] = version
                count += events
    return count


class Reader:
    """Follows a feed by the last position it has seen, in a thread of its own."""

    def __init__(self, after: Callable[[int], list[FeedItem]]) -> None:
        self._after = after
        self.items: list[FeedItem] = []
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            last = self._done.is_set()
            found = self._after(self.items[-1].position if self.items else 0)
            self.items.extend(found)
            if last and not found:
                return
            time.sleep(0.001)

    def finish(self) -> list[FeedItem]:
        """All that it saw, once nothing more comes."""
        self._done.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.items


def naive_after(url: str) -> Callable[[int], list[FeedItem]]:
    """A reader's look at the naive numbers."""
    connection = psycopg.connect(url, autocommit=True)

    def after(position: int) -> list[FeedItem]:
        rows = connection.execute(
            "SELECT id, game_id::text, version FROM naive WHERE id > %s ORDER BY id", (position,)
        ).fetchall()
        return [FeedItem(*row) for row in rows]

    return after


def race(
    url: str,
    feed: Feed,
    games: list[str],
    *,
    threads: int,
    seconds: float,
    enough: Callable[[], bool] = lambda: True,
) -> tuple[list[FeedItem], int]:
    """Many who append at once while a reader follows; what it saw, and how many events there are.
    Whoever gives positions has to be running."""
    reader = Reader(lambda position: feed.after(position, 500))
    with ThreadPoolExecutor(threads) as pool:
        arguments = (url, games)
        running = [
            pool.submit(appends, *arguments, seed, seconds, enough) for seed in range(threads)
        ]
        count = sum(each.result() for each in running)
    ends = time.monotonic() + 30
    while feed.waiting():
        assert time.monotonic() < ends, "the outbox is not emptied"
        time.sleep(0.02)
    return reader.finish(), count


def check(items: list[FeedItem]) -> None:
    """Positions without a gap from 1, and each game's versions from 1 in order."""
    assert [item.position for item in items] == list(range(1, len(items) + 1))
    versions: dict[str, int] = {}
    for item in items:
        assert item.version == versions.get(item.game_id, 0) + 1, item
        versions[item.game_id] = item.version
