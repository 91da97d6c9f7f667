"""Matches and worker nodes for the tests of the workers."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from kombu import Connection, Exchange, Queue

from eventstore.executor import Executor
from tests.databases import Scratch
from tests.workers.servers import Node, Valkey, valkey
from tests.workers.tables import Matches
from workers.broker import kombu_url


@pytest.fixture
def matches(executor: Executor) -> Iterator[Matches]:
    """Opens matches; those that still run at the end are ended."""
    opened = Matches(executor)
    yield opened
    opened.end()


@dataclass
class Nodes:
    """Starts worker nodes on the database, and ends what a test left behind."""

    database_url: str
    folder: Path
    queue: str = field(default_factory=lambda: f"abbot.test.{uuid.uuid4().hex}")
    started: list[Node] = field(default_factory=list)
    brokers: set[str] = field(default_factory=set)

    def __call__(self, name: str, broker_url: str, **environment: str) -> Node:
        """A started node; `wait_until_up` when it has to take tasks."""
        settings = {
            "ABBOT_DATABASE_URL": self.database_url,
            "ABBOT_BROKER_URL": broker_url,
            "ABBOT_WORKER_CONCURRENCY": "2",
            "ABBOT_WORKER_QUEUE": self.queue,
            "ABBOT_DATA": str(self.folder / "data"),
            **environment,
        }
        node = Node(name, settings, self.folder / f"{name}.log")
        node.start()
        self.started.append(node)
        self.brokers.add(broker_url)
        return node

    def end(self) -> None:
        """End all of them at once."""
        for node in self.started:
            node.kill()

    def delete_queue(self, broker_url: str) -> None:
        """Leave nothing on a broker that others use too."""
        with contextlib.suppress(Exception), Connection(kombu_url(broker_url)) as connection:
            channel = connection.default_channel
            Queue(self.queue)(channel).delete()
            Exchange(self.queue)(channel).delete()


@contextlib.contextmanager
def running_nodes(scratch: Scratch, folder: Path) -> Iterator[Nodes]:
    """Starts worker nodes; those that still run at the end are ended."""
    scratch.forget_processes()
    nodes = Nodes(scratch.app_url, folder)
    try:
        yield nodes
    finally:
        nodes.end()
        shared = os.environ.get("ABBOT_TEST_BROKER_URL")
        if shared in nodes.brokers and shared is not None:
            nodes.delete_queue(shared)


@pytest.fixture
def nodes(scratch: Scratch, tmp_path: Path) -> Iterator[Nodes]:
    """Starts worker nodes; those that still run at the end are ended."""
    with running_nodes(scratch, tmp_path) as nodes:
        yield nodes


@pytest.fixture
def broker() -> Iterator[Valkey]:
    """A private broker that may be stopped and killed."""
    with valkey() as server:
        yield server


@pytest.fixture(scope="session")
def broker_url() -> Iterator[str]:
    """The broker to test on, ABBOT_TEST_BROKER_URL; a private one if there is none."""
    shared = os.environ.get("ABBOT_TEST_BROKER_URL")
    if shared is not None:
        yield shared
    else:
        with valkey() as server:
            yield server.url
