"""A database for these tests alone: they change records, which others then could not work with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from api.app import create_app
from api.services import Services
from tests.api.opened import services_on
from tests.databases import Scratch, scratch_database


@pytest.fixture(scope="session")
def scratch() -> Iterator[Scratch]:
    with scratch_database() as database:
        yield database


@pytest.fixture(scope="session")
def opened(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with services_on(scratch, tmp_path_factory.mktemp("keys")) as opened:
        yield opened


@pytest.fixture(scope="session")
def app(opened: Services) -> Flask:
    return create_app(opened=opened)
