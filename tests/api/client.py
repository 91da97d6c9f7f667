"""The one HTTP client of the tests: what comes back must be what the document says.

Every answer is checked: its status and media type are documented for the operation, its body fits
the schema, has no member that the schema does not name, and it carries the headers that every
answer has. The test then looks at what it is about.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator, FormatChecker
from werkzeug.test import TestResponse

from api import documentation
from api.app import create_app

UNDOCUMENTED = {404, 405, 413, 429}
"""Statuses of paths and methods that do not exist, so that nothing can document them."""
ITSELF = ("/", "/openapi.json", "/openapi.yaml", "/docs", "/problems", "/metrics")
"""What the document does not describe: itself, pages, and what is for operators alone."""
PAGES = ("/docs/", "/problems/")


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document of the code under test."""
    return documentation.openapi(create_app())


@cache
def _strict_document() -> dict[str, Any]:
    """The document with every object closed, and events held to the types it knows."""
    strict = copy.deepcopy(document())
    for schema in strict["components"]["schemas"].values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    events = strict["components"]["schemas"]["GameEvent"]
    events["anyOf"] = [each for each in events["anyOf"] if "OtherEvent" not in each["$ref"]]
    return strict


@cache
def _validator(pointer: tuple[str, ...]) -> Draft202012Validator:
    strict = _strict_document()
    schema = strict
    for part in pointer:
        schema = schema[part]
    rooted = {"components": strict["components"], **schema}
    return Draft202012Validator(rooted, format_checker=FormatChecker())


@cache
def _paths() -> list[tuple[re.Pattern[str], str]]:
    patterns = []
    # Fixed parts before parameters: /seats/me is not a seat's number.
    for path in sorted(document()["paths"], key=lambda each: each.count("{")):
        regex = re.sub(r"\\\{[^/]+\\\}", "[^/]+", re.escape(path))
        patterns.append((re.compile(regex), path))
    return patterns


def template_of(path: str) -> str | None:
    """The path as the document has it; None for one that it has not."""
    return next((known for regex, known in _paths() if regex.fullmatch(path)), None)


def faults(pointer: tuple[str, ...], value: Any) -> list[str]:
    """How `value` does not fit the schema at `pointer`."""
    return [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}"
        for error in _validator(pointer).iter_errors(value)
    ]


def check(method: str, path: str, answer: TestResponse) -> None:
    """Hold an answer against the document."""
    template = template_of(path)
    assert answer.status_code != 500, answer.get_data(as_text=True)
    assert answer.headers["X-Request-Id"]
    assert "Authorization" in answer.headers["Vary"]
    if path == "/.well-known/jwks.json" and answer.status_code in (200, 304):
        assert answer.headers["Cache-Control"].startswith("public, ")
    else:
        assert answer.headers["Cache-Control"].startswith("private, no-cache")
    operations = document()["paths"].get(template, {})
    operation = operations.get("get" if method == "HEAD" else method.lower())
    if operation is None:
        itself = path in ITSELF or path.startswith(PAGES)
        if method != "OPTIONS" and (not itself or answer.status_code >= 400):
            assert itself or answer.status_code in UNDOCUMENTED
            _check_body(("components", "schemas", "Problem"), answer)
        return
    where = ("paths", template, "get" if method == "HEAD" else method.lower(), "responses")
    documented = operation["responses"].get(str(answer.status_code))
    assert documented is not None, f"{answer.status_code} is not documented for {template}"
    pointer = (*where, str(answer.status_code))
    if "$ref" in documented:
        pointer = ("components", "responses", documented["$ref"].rpartition("/")[2])
        documented = document()["components"]["responses"][pointer[-1]]
    for name in documented.get("headers", {}):
        if name != "Link" and not name.startswith("RateLimit"):
            assert name in answer.headers, f"{name} is missing"
    if method == "HEAD" or "content" not in documented:
        assert not answer.get_data()
    else:
        assert answer.mimetype in documented["content"], answer.mimetype
        _check_body((*pointer, "content", answer.mimetype, "schema"), answer)


def _check_body(pointer: tuple[str, ...], answer: TestResponse) -> None:
    for value in _values(answer):
        errors = faults(pointer, value)
        assert not errors, errors
        assert not list(_nulls(value)), "absent rather than null"


def _values(answer: TestResponse) -> list[Any]:
    text = answer.get_data(as_text=True)
    if answer.mimetype == "text/event-stream":
        return [text]
    if answer.mimetype == "application/x-ndjson":
        return [json.loads(line) for line in text.splitlines()]
    return [json.loads(text)]


def _nulls(value: Any) -> Iterator[None]:
    if value is None:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _nulls(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _nulls(inner)


@dataclass
class Client:
    """Sends requests as one player, or as nobody."""

    app: Flask
    token: str | None = None
    player_id: str = ""
    acts_for: str | None = None
    """The player for whom the token asks, which is an app's key."""
    flask: FlaskClient = field(init=False)

    def __post_init__(self) -> None:
        self.flask = self.app.test_client()

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        data: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        query: str | None = None,
        content_type: str | None = None,
        expect: int | None = None,
    ) -> TestResponse:
        """Send one request; `body` goes as JSON, `data` as it is."""
        sent = dict(headers or {})
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if self.acts_for is not None:
            sent.setdefault("Abbot-Player", self.acts_for)
        if body is not None:
            data, content_type = json.dumps(body), content_type or "application/json"
        answer = self.flask.open(
            path,
            method=method,
            data=data,
            content_type=content_type,
            headers=sent,
            query_string=query,
        )
        check(method, path, answer)
        if expect is not None:
            assert answer.status_code == expect, answer.get_data(as_text=True)
        return answer

    def get(self, path: str, **more: Any) -> TestResponse:
        return self.send("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> TestResponse:
        return self.send("POST", path, body, **more)

    def patch(self, path: str, body: Any = None, **more: Any) -> TestResponse:
        return self.send("PATCH", path, body, **more)

    def delete(self, path: str, **more: Any) -> TestResponse:
        return self.send("DELETE", path, **more)

    def register(self, name: str = "Anselm", *, sandbox: bool = False) -> Client:
        """A new player's client."""
        body = {"name": name, "sandbox": True} if sandbox else {"name": name}
        player = self.post("/v1/players", body, expect=201).get_json()
        return Client(self.app, player["token"], player["player_id"])

    def refused(self, answer: TestResponse, status: int, code: str) -> dict[str, Any]:
        """The problem of an answer, which must be this one."""
        problem: dict[str, Any] = answer.get_json()
        assert (answer.status_code, problem["code"]) == (status, code), problem
        return problem
