"""A server that hangs: it keeps its connections and says nothing on them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from eventstore.database import Database
from eventstore.errors import Unavailable
from eventstore.health import HealthRows
from eventstore.pool import ServerSilent, answering_within, open_pool
from tests.databases import Scratch
from tests.eventstore.proxies import LosingProxy, losing_proxy

LONG = 60.0
"""Far longer than anything here is told to wait; no measure of speed."""


@pytest.fixture
def proxy(scratch: Scratch) -> Iterator[LosingProxy]:
    with losing_proxy(scratch.app_url) as proxy:
        yield proxy
        proxy.go_on()


def test_a_server_that_says_nothing_is_not_waited_for(proxy: LosingProxy) -> None:
    with open_pool(proxy.url, 2, timeout=1.0, silent_seconds=0.3) as pool:
        database = Database(pool)
        assert database.run("SELECT 1", {}) == [(1,)]
        proxy.hang()
        began = time.monotonic()
        with pytest.raises(ServerSilent):
            database.once("SELECT 1", {})
        with pytest.raises(Unavailable):
            database.run("SELECT 1", {})
        assert time.monotonic() - began < LONG
        proxy.go_on()
        deadline = time.monotonic() + LONG
        while True:
            try:
                assert database.run("SELECT 1", {}) == [(1,)]
                break
            except Unavailable:
                assert time.monotonic() < deadline


def test_what_takes_its_time_is_waited_for(scratch: Scratch) -> None:
    with open_pool(scratch.app_url, 1) as pool, pool.connection() as connection:
        assert connection.execute("SELECT pg_sleep(0.5)::text").fetchone() == ("",)
        with answering_within(connection, LONG):
            assert connection.execute("SELECT 1").fetchone() == (1,)
    with open_pool(scratch.app_url, 1, silent_seconds=LONG) as pool:
        with pool.connection() as connection:
            with pytest.raises(ServerSilent), answering_within(connection, 0.2):
                connection.execute("SELECT pg_sleep(30)")
            assert connection.closed
        assert Database(pool).run("SELECT 1", {}) == [(1,)]


def test_health_is_told_in_time_whatever_hangs(proxy: LosingProxy) -> None:
    with open_pool(proxy.url, 2) as pool:
        rows = HealthRows(pool)
        assert rows.readiness(LONG).schema
        assert rows.told(LONG).overdue >= 0
        proxy.hang()
        began = time.monotonic()
        with pytest.raises(Unavailable):
            rows.readiness(0.3)
        with pytest.raises(Unavailable):
            rows.told(0.3)
        assert time.monotonic() - began < LONG
