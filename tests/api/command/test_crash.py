"""PostgreSQL dies in the middle of everything: what a reader of the feed has seen stays so."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import psycopg
import pytest

from eventstore.auditing import Auditor
from eventstore.errors import Unavailable
from eventstore.executor import Executor
from eventstore.feed import Feed, FeedItem
from eventstore.store import Store
from tests.api.command.houses import enterable, house
from tests.eventstore.feeds import check
from tests.eventstore.tables import open_table
from tests.workers.servers import wait_for

AWAY = (psycopg.Error, Unavailable)


def test_a_crash_takes_back_nothing_that_a_reader_has_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("ABBOT_DATABASE_URL", "ABBOT_OWNER_DATABASE_URL"):
        monkeypatch.delenv(name, raising=False)
    seen: list[FeedItem] = []
    acknowledged: dict[str, int] = {}
    with enterable() as data:
        with house(monkeypatch, data) as before:

            def play() -> None:
                executor = Executor(Store(before.pool), patience=0.5)
                try:
                    while True:
                        table = open_table(executor)
                        for _ in range(4):
                            moved = table.make_move()
                            acknowledged[table.game_id] = moved.game.version
                except AWAY:
                    return

            def sequence() -> None:
                try:
                    while True:
                        before.feed.sequence(5)
                except AWAY:
                    return

            def read() -> None:
                with psycopg.connect(before.settings.database_url, autocommit=True) as connection:
                    try:
                        while True:
                            rows = connection.execute(
                                "SELECT position, game_id::text, version FROM feed"
                                " WHERE position > %s ORDER BY position",
                                (seen[-1].position if seen else 0,),
                            ).fetchall()
                            seen.extend(FeedItem(*row) for row in rows)
                    except AWAY:
                        return

            targets = (play, play, sequence, read)
            threads = [threading.Thread(target=target) for target in targets]
            for thread in threads:
                thread.start()
            wait_for(lambda: len(seen) > 150, 60, "events are read")
            crash(data)
            for thread in threads:
                thread.join(60)
                assert not thread.is_alive()
        with house(monkeypatch, data) as after:
            feed = Feed(after.pool)
            assert feed.after(0, len(seen)) == seen
            after.sequence()
            everything = feed.after(0, 1_000_000)
            check(everything)
            versions = {item.game_id: item.version for item in everything}
            for game_id, version in acknowledged.items():
                assert versions[game_id] >= version
            auditor = Auditor(after.pool)
            assert auditor.feed().check.ok
            for game_id in auditor.game_ids():
                audited = auditor.game(game_id)
                assert audited is not None
                assert not audited.wrong


def crash(data: Path) -> None:
    """End the server at once: it writes nothing any more, as in a power cut."""
    path = data / "postgres" / "data" / "postmaster.pid"
    os.kill(int(path.read_text().split()[0]), signal.SIGQUIT)
