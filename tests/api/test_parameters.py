"""Every operation of the document: no parameter and no member of a body is ever ignored.

What is wrong with a request is refused by its name. A new operation and a new parameter are tested
without being named here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.api.asking import Reply, ask
from tests.api.client import document
from tests.api.fuzzing import world
from tests.api.fuzzing.world import World
from tests.api.server import Server, serving
from tests.databases import Scratch

METHODS = ("get", "post", "patch", "delete")
FIXED = {"version": "1", "seat": "1", "ruleset": "halleluja"}
UNKNOWN = "nonsense"
Operation = dict[str, Any]


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("parameters")
    with serving(scratch, folder, ABBOT_WEBHOOKS="anywhere") as server:
        yield server


@pytest.fixture(scope="module")
def known(server: Server, scratch: Scratch) -> World:
    return world.made(scratch, server.port, each=1)


def operations() -> list[Any]:
    return [
        pytest.param(method, path, item[method], id=item[method]["operationId"])
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item
    ]


def send(
    server: Server, known: World, method: str, path: str, operation: Operation, **more: Any
) -> Reply:
    """A request of whoever may make it, about what there is."""

    def filled(match: re.Match[str]) -> str:
        name = match[1]
        # How another seat saw a game can be asked for once it is over.
        game = known.over[0] if operation["operationId"] == "getState" else known.disputed
        if operation["operationId"] in world.CLOCKED:
            game = known.sandboxed
        fixed = {**FIXED, "game_id": game}
        return known.value(path, name) or fixed[name]

    query = more.pop("query", "")
    where = re.sub(r"{([^}]+)}", filled, path) + (f"?{query}" if query else "")
    body = {} if "requestBody" in operation else None
    return ask(
        server.port, method.upper(), where, more.get("body", body), token=caller(known, operation)
    )


def caller(known: World, operation: Operation) -> str | None:
    return world.caller(known, operation) if operation["security"] else None


def named(reply: Reply) -> set[str]:
    """The names of what a refusal says is wrong."""
    assert (reply.status, reply.code) == (422, "validation"), reply
    return {error["field"] for error in reply.body["errors"]}


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    found: dict[str, Any] = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return found


@pytest.mark.parametrize(("method", "path", "operation"), operations())
def test_a_parameter_that_is_unknown_or_comes_twice(
    server: Server, known: World, method: str, path: str, operation: Operation
) -> None:
    queries = [f"{UNKNOWN}=1", f"{UNKNOWN}", f"%00{UNKNOWN}=1"]
    for query in queries:
        assert any(UNKNOWN in name for name in named(send(server, known, method, path, operation,
                                                          query=query))), query  # fmt: skip
    for name, schema in _queries(operation):
        right = _right(schema)
        for query in (f"{name}={right}&{name}={right}", f"{name.upper()}={right}"):
            told = named(send(server, known, method, path, operation, query=query))
            assert {name, name.upper()} & told, query


@pytest.mark.parametrize(("method", "path", "operation"), operations())
def test_a_parameter_with_a_value_that_cannot_be(
    server: Server, known: World, method: str, path: str, operation: Operation
) -> None:
    for name, schema in _queries(operation):
        for value in _wrong_texts(schema):
            reply = send(server, known, method, path, operation, query=f"{name}={value}")
            assert name in named(reply), (name, value)


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    [each for each in operations() if "requestBody" in each.values[2]],
)
def test_a_member_of_a_body_that_is_unknown_or_cannot_be(
    server: Server, known: World, method: str, path: str, operation: Operation
) -> None:
    content = operation["requestBody"]["content"]["application/json"]
    right = content.get("example") or {}
    for body, wrong in _wrong_bodies(resolved(content["schema"]), right):
        reply = send(server, known, method, path, operation, body=body)
        if wrong == "deal":
            # Who may not name one is told that first.
            assert reply.code == "forbidden"
            continue
        told = named(reply)
        assert any(name == wrong or name.startswith(f"{wrong}.") for name in told), (body, told)


UNSEEN = ("\x00", "\u202e", "\U000e0001", "\x1b", "\ue000")
"""What nobody can see: a control, turned writing, a tag, an escape, a private character."""


@pytest.mark.parametrize(("method", "path", "operation"), operations())
def test_a_parameter_with_what_nobody_can_see(
    server: Server, known: World, method: str, path: str, operation: Operation
) -> None:
    for name, schema in _queries(operation):
        if schema["type"] != "string":
            continue
        for unseen in UNSEEN:
            query = f"{name}={quote(f'x{unseen}x')}"
            assert name in named(send(server, known, method, path, operation, query=query)), query
        # Half a surrogate pair, which no UTF-8 is.
        half = send(server, known, method, path, operation, query=f"{name}=x%ED%A0%80x")
        assert half.status == 400


@pytest.mark.parametrize(
    ("method", "path", "operation"),
    [each for each in operations() if "requestBody" in each.values[2]],
)
def test_a_member_of_a_body_with_what_nobody_can_see(
    server: Server, known: World, method: str, path: str, operation: Operation
) -> None:
    content = operation["requestBody"]["content"]["application/json"]
    right = content.get("example") or {}
    for name, put in _strings(resolved(content["schema"])):
        for unseen in UNSEEN:
            body = {**right, **put(f"x{unseen}x")}
            reply = send(server, known, method, path, operation, body=body)
            if name == "deal":
                # Who may not name one is told that first.
                assert reply.code == "forbidden"
                continue
            assert any(told == name or told.startswith(f"{name}.") for told in named(reply)), body
        half = send(server, known, method, path, operation, body={**right, **put("x\ud800x")})
        assert (half.status, half.code) == (400, "malformed-json")


def _strings(
    schema: dict[str, Any],
) -> Iterator[tuple[str, Callable[[str], dict[str, Any]]]]:
    """The names of the strings in a body, and how to put a text there."""
    for name, given in schema.get("properties", {}).items():
        inner = resolved(given)
        if inner["type"] == "string":
            yield name, lambda text, name=name: {name: text}  # type: ignore[misc]
        elif inner["type"] == "array" and resolved(inner["items"])["type"] == "string":
            yield name, lambda text, name=name: {name: [text]}  # type: ignore[misc]
        elif inner["type"] == "object":
            for deeper, put in _strings(inner):
                yield (
                    f"{name}.{deeper}",
                    lambda text, name=name, put=put: {name: put(text)},  # type: ignore[misc]
                )


def _queries(operation: Operation) -> list[tuple[str, dict[str, Any]]]:
    parameters = [each for each in operation["parameters"] if each.get("in") == "query"]
    return [(each["name"], each["schema"]) for each in parameters]


def _right(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kinds = {"boolean": "false", "integer": schema.get("minimum", 0)}
    return kinds.get(schema["type"], "x" * schema.get("minLength", 1))


def _wrong_texts(schema: dict[str, Any]) -> Iterator[str]:
    """Values in a query that do not fit."""
    yield ""
    if "enum" in schema:
        yield from (UNKNOWN, schema["enum"][0].upper(), f"{schema['enum'][0]},x")
    elif schema["type"] == "boolean":
        yield from ("yes", "True", "1")
    elif schema["type"] == "integer":
        yield from ("x", "1.5", "+1", "0x1", "1e0", "%D9%A1")
        yield from (str(schema["minimum"] - 1), str(schema["maximum"] + 1), "9" * 30)
    elif "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)


def _wrong_bodies(
    schema: dict[str, Any], right: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Bodies with one thing wrong in each, and the name of that."""
    yield {**right, UNKNOWN: 1}, UNKNOWN
    for name in schema.get("required", ()):
        yield {each: value for each, value in right.items() if each != name}, name
    for name, given in schema.get("properties", {}).items():
        inner = resolved(given)
        yield {**right, name.upper(): _right_value(inner)}, name.upper()
        for value in _wrong_values(inner):
            yield {**right, name: value}, name
        for body, wrong in _wrong_bodies(inner, {}) if inner["type"] == "object" else ():
            yield {**right, name: body}, f"{name}.{wrong}"


def _right_value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    return {"integer": 1, "boolean": True, "array": [], "object": {}}.get(schema["type"], "x")


def _wrong_values(schema: dict[str, Any]) -> Iterator[Any]:
    """JSON values that do not fit."""
    kind = schema["type"]
    samples = {"string": "1", "integer": 1, "boolean": True, "array": [[]], "object": {}}
    yield from (sample for other, sample in samples.items() if other != kind)
    yield None
    if "enum" in schema:
        yield UNKNOWN
    if "minimum" in schema:
        yield schema["minimum"] - 1
    if "maximum" in schema:
        yield schema["maximum"] + 1
        yield 0.5
    if "maxLength" in schema:
        yield "x" * (schema["maxLength"] + 1)
    if schema.get("minLength"):
        yield ""
    if kind == "array":
        items = resolved(schema["items"])
        yield [next(_wrong_values(items))]
        if "enum" in items:
            yield [UNKNOWN]
        if "maxItems" in schema:
            yield [_right_value(items)] * (schema["maxItems"] + 1)
        if schema.get("minItems"):
            yield []
