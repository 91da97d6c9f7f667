"""An operation that is to go says so (RFC 9745), in the document and in each answer."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from flask import Flask

from api import documentation, problems, responses
from api.auth import Access
from api.operation import Answer, Call, Deprecation, operation
from api.schemas.games import EmptyObject

SINCE = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
SUNSET = datetime.datetime(2031, 1, 1, tzinfo=datetime.UTC)
SEE = "https://abbot.test/changelog#old"


@pytest.fixture
def app() -> Flask:
    app = Flask(__name__)
    problems.register(app)
    api = documentation.create_api(app)
    blueprint = documentation.Blueprint("old", __name__, description="Old.")

    @blueprint.route("/old", methods=["GET"])
    @operation(
        "getOld",
        access=Access.OPEN,
        answers={200: Answer("It.", EmptyObject, ("ETag",))},
        deprecated=Deprecation(SINCE, SUNSET, SEE),
    )
    def get_old(call: Call) -> Any:
        """Get what is old."""
        call.validate()
        return responses.tagged({})

    api.register_blueprint(blueprint)
    return app


@pytest.mark.parametrize(("query", "status"), [("", 200), ("?unknown=1", 422)])
def test_each_answer_says_so(app: Flask, query: str, status: int) -> None:
    answer = app.test_client().get(f"/old{query}")
    assert answer.status_code == status
    assert answer.headers["Deprecation"] == f"@{int(SINCE.timestamp())}"
    assert answer.headers["Sunset"] == "Wed, 01 Jan 2031 00:00:00 GMT"
    assert answer.headers["Link"] == f'<{SEE}>; rel="deprecation"; type="text/html"'


def test_the_document_says_so(app: Flask) -> None:
    old = documentation.openapi(app)["paths"]["/old"]["get"]
    assert old["deprecated"] is True
    assert {"Deprecation", "Sunset", "Link", "ETag"} <= set(old["responses"]["200"]["headers"])
