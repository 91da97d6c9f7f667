"""Fixtures on a scratch database. Each test process has its own, made when first asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eventstore.executor import Executor
from eventstore.pool import Pool
from eventstore.store import Store
from tests.databases import POOLS, Scratch, scratch_database, shared_pool


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Before each test, and the fixtures that it asks for."""
    for pool in POOLS:
        pool.check()


@pytest.fixture(scope="session")
def scratch() -> Iterator[Scratch]:
    """A migrated database of this test process."""
    with scratch_database() as database:
        yield database


@pytest.fixture(scope="session")
def pool(scratch: Scratch) -> Iterator[Pool]:
    """Connections as the application's role."""
    with shared_pool(scratch.app_url) as opened:
        yield opened


@pytest.fixture(scope="session")
def store(pool: Pool) -> Store:
    """The event store on the scratch database."""
    return Store(pool)


@pytest.fixture(scope="session")
def executor(store: Store) -> Executor:
    """An executor on the scratch database."""
    return Executor(store)
