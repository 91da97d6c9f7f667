"""A migrated database of their own, an executor and worker nodes for the tests of the workers."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from eventstore.executor import Executor
from eventstore.pool import open_pool
from eventstore.store import Store
from migrations.run import upgrade
from tests.workers.servers import Node, Valkey, valkey

SERVER = os.environ.get("ABBOT_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres")


@pytest.fixture(scope="session")
def database_url() -> Iterator[str]:
    """A fresh, migrated database; dropped at the end."""
    name = f"abbot_workers_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        role = server.info.user
    url = make_conninfo(SERVER, dbname=name)
    upgrade(url, role)
    yield url
    with psycopg.connect(SERVER, autocommit=True) as server:
        server.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(scope="session")
def executor(database_url: str) -> Iterator[Executor]:
    """An executor on the database, as the API has one."""
    with open_pool(database_url, 4) as pool:
        yield Executor(Store(pool))


@dataclass
class Nodes:
    """Starts worker nodes on the database, and ends what a test left behind."""

    database_url: str
    folder: Path
    started: list[Node] = field(default_factory=list)

    def __call__(self, name: str, broker_url: str, **environment: str) -> Node:
        """A started node; `wait_until_up` when it has to take tasks."""
        settings = {
            "ABBOT_DATABASE_URL": self.database_url,
            "ABBOT_BROKER_URL": broker_url,
            "ABBOT_WORKER_CONCURRENCY": "2",
            "ABBOT_WORKER_QUEUE": f"abbot.test.{self.folder.name}",
            **environment,
        }
        node = Node(name, settings, self.folder / f"{name}.log")
        node.start()
        self.started.append(node)
        return node

    def end(self) -> None:
        """End all of them at once."""
        for node in self.started:
            node.kill()


@pytest.fixture
def nodes(database_url: str, tmp_path: Path) -> Iterator[Nodes]:
    """Starts worker nodes; those that still run at the end are ended."""
    running = Nodes(database_url, tmp_path)
    yield running
    running.end()


@pytest.fixture
def broker() -> Iterator[Valkey]:
    """A private broker that may be stopped and killed."""
    with valkey() as server:
        yield server
