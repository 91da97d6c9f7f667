"""The application on a real database, whose clock the tests can move."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog
from flask import Flask

from api import services
from api.app import create_app
from tests.api.client import Client
from tests.api.opened import services_on
from tests.api.tables import Table
from tests.databases import Scratch


@pytest.fixture(scope="session", autouse=True)
def _quiet() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))


@pytest.fixture(scope="session")
def opened(
    scratch: Scratch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[services.Services]:
    with services_on(scratch, tmp_path_factory.mktemp("keys")) as opened:
        yield opened


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
def carla(nobody: Client) -> Client:
    """A player of the sandbox, as Dora."""
    return nobody.register("Carla", sandbox=True)


@pytest.fixture
def dora(nobody: Client) -> Client:
    return nobody.register("Dora", sandbox=True)


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
