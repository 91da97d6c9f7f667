"""The application on a real database, whose clock the tests can move."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog
from flask import Flask

from api import services
from api.app import create_app
from api.live import Bounds
from eventstore.destinations import Destinations
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))


def names(host: str, port: int) -> list[str]:
    """What names mean in the tests, in which nothing is looked up."""
    if host.endswith("private.example.com"):
        return ["93.184.215.14", "10.0.0.8"]
    if host.endswith(".example.com"):
        return ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"]
    raise OSError("no such name")


@pytest.fixture(scope="session")
def opened(
    scratch: Scratch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[services.Services]:
    with open_pool(scratch.clocked_url, 10) as pool:
        # In one thread there is nobody who could end a long wait or stream.
        bounds = Bounds(wait_seconds=0.1, stream_seconds=0.1)
        yield services.over(
            Store(pool),
            tmp_path_factory.mktemp("keys"),
            bounds=bounds,
            destinations=Destinations(resolve=names),
        )


@pytest.fixture(scope="session")
def app(opened: services.Services) -> Flask:
    return create_app(opened=opened)


@pytest.fixture
def nobody(app: Flask) -> Client:
    """A client without a token."""
    return Client(app)


@pytest.fixture
def anna(nobody: Client) -> Client:
    return nobody.register("Anna")


@pytest.fixture
def bert(nobody: Client) -> Client:
    return nobody.register("Bert")


@pytest.fixture
def table(anna: Client, bert: Client) -> Table:
    """Anna's table of Halleluja, with Bert seated."""
    table = Table.opened(anna)
    bert.post(f"{table.url}/seats", expect=201)
    table.clients[1] = bert
    return table


@pytest.fixture
def match(table: Table) -> Table:
    """The same table, with the match begun."""
    table.start()
    return table
