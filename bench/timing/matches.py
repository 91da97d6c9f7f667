"""Matches in which nobody ever moves, so that every turn runs out, and how late each was found."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import psycopg

from domain.commands import CreateGame, StartGame, TakeSeat
from domain.times import to_micros
from eventstore.auditing import Auditor
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.sql import NOW
from eventstore.store import Store

THREADS = 3
OPTIONS = {"pause_seconds": 0, "away_after": 100}

EXPIRED = """
SELECT game_id::text, substr(body, 8, 27), body::json #>> '{data,due_at}' FROM events
WHERE body LIKE '%%"type":"turn.expired"%%' AND substr(body, 8, 27) >= %s
"""
"""The times of all expiries since a time, and of when the turns were due."""

BARE = """
WITH ids AS (
    SELECT lpad(to_hex(n), 12, '0') AS low FROM generate_series(1, %s::bigint) n
), new AS (
    INSERT INTO games (game_id, ruleset, ruleset_version, status, version, visibility, options,
        turn_seconds, max_seats, secret, created_at, updated_at)
    SELECT ('0f000000-0000-7000-8000-' || low)::uuid, 'halleluja', 'halleluja/1', 'active', 1,
        'private', '{}', 60, 2, decode(repeat('00', 32), 'hex'), now(), now() FROM ids
    ON CONFLICT DO NOTHING RETURNING game_id
)
INSERT INTO deadlines (game_id, kind, round, turn, due_at)
SELECT game_id, 'turn', 1, 1, now() + interval '1 day' + random() * interval '13 days' FROM new
"""
"""Rows that are due in days, of games that have no events."""


@dataclass(frozen=True, slots=True)
class Found:
    """How late the expiries of a while were found, in seconds."""

    late: list[float]
    twice: int
    """How many turns expired a second time; anything but 0 is wrong."""

    def quantile(self, share: float) -> float:
        """The lateness that this share of them was within."""
        if not self.late:
            return math.inf
        return self.late[min(len(self.late) - 1, int(share * len(self.late)))]

    @property
    def worst(self) -> float:
        """The greatest lateness."""
        return self.late[-1] if self.late else math.inf


class Matches:
    """Opens matches on a database and reads what became of their turns."""

    def __init__(self, app_url: str, admin_url: str) -> None:
        self._app_url = app_url
        self._admin_url = admin_url

    def open(
        self, count: int, seconds: Callable[[], int], *, per_second: float = math.inf
    ) -> list[str]:
        """Open and start so many matches, at most so many in a second: their turns are then due at
        that rate. `seconds` tells each one's turn seconds. Their ids."""
        with (
            open_pool(self._app_url, THREADS) as pool,
            ThreadPoolExecutor(THREADS) as threads,
        ):
            executor = Executor(Store(pool))
            began = time.monotonic()

            def one(number: int) -> str:
                time.sleep(max(0.0, began + number / per_second - time.monotonic()))
                return _open(executor, number, seconds())

            return list(threads.map(one, range(count)))

    def wrong(self, game_ids: Iterable[str]) -> int:
        """How many of these matches an audit finds wrong."""
        with open_pool(self._app_url, 1) as pool:
            auditor = Auditor(pool)
            audited = [auditor.game(game_id) for game_id in game_ids]
        return sum(found is None or bool(found.wrong) for found in audited)

    def bare(self, count: int) -> None:
        """Have at least so many more deadlines outstanding, that are due in days."""
        if count > 0:
            self.run(BARE, (count,))
            self.run("ANALYZE deadlines")

    def now(self) -> str:
        """The database's clock, as the record writes it."""
        return str(self.run(f"SELECT {NOW}")[0][0])

    def first_turns(self) -> tuple[int, int]:
        """How many matches are in their first turn, and in how many of them it is due."""
        rows = self.run(
            "SELECT count(*), count(*) FILTER (WHERE due_at < clock_timestamp()) FROM deadlines"
            " WHERE kind = 'turn' AND round = 1 AND turn = 1"
        )
        still, due = rows[0]
        return int(str(still)), int(str(due))

    def found(self, since: str) -> Found:
        """The expiries since then."""
        rows = self.run(EXPIRED, (since,))
        turns = [(game_id, due_at) for game_id, _, due_at in rows]
        late = sorted((to_micros(at) - to_micros(due_at)) / 1e6 for _, at, due_at in rows)
        return Found(late, len(turns) - len(set(turns)))

    def end(self) -> None:
        """Let nothing be due any more: the next measurement begins with none of these."""
        self.run("DELETE FROM deadlines")

    def run(self, statement: str, parameters: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
        """Run a statement as superuser."""
        with psycopg.connect(self._admin_url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []


def _open(executor: Executor, number: int, turn_seconds: int) -> str:
    ruleset = ("halleluja", "vallelujah")[number % 2]
    host, guest = uuid7(), uuid7()
    game_id = executor.create(CreateGame(host, ruleset, OPTIONS, turn_seconds)).game.game_id
    executor.execute(game_id, TakeSeat(guest))
    executor.execute(game_id, StartGame(host))
    return game_id


def wait_until(what: Callable[[], bool], seconds: float, every: float = 0.05) -> float:
    """Seconds until `what()` held, `seconds` at most, then infinity; asked so often."""
    began = time.monotonic()
    while not what():
        if time.monotonic() - began > seconds:
            return math.inf
        time.sleep(every)
    return time.monotonic() - began
