"""Requests made up from the document: none ends in a 5xx or in an undocumented answer."""

from __future__ import annotations

import os
from typing import Any

import hypothesis
import pytest
import schemathesis
from flask import Flask
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from tests.api.client import Client, document
from tests.api.tables import Table

CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    unsupported_method,
)
EXAMPLES = int(os.environ.get("ABBOT_FUZZ_EXAMPLES", "12"))
schema = schemathesis.openapi.from_dict(document())


@pytest.fixture(scope="module")
def fuzzed(app: Flask) -> tuple[Client, Table]:
    """A player with a table that fuzzing may hit."""
    player = Client(app).register("Fuzz")
    return player, Table.opened(player)


@schema.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_made_up_requests(case: Any, app: Flask, fuzzed: tuple[Client, Table]) -> None:
    player, table = fuzzed
    if "game_id" in (case.path_parameters or {}):
        case.path_parameters["game_id"] = table.game_id
    response = case.call(app=app, headers={"Authorization": f"Bearer {player.token}"})
    case.validate_response(response, checks=CHECKS)
