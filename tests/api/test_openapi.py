"""The document: fresh, valid, complete, and plain enough for generators."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
import yaml
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.command import openapi
from api.problems import KINDS, MEDIA_TYPE
from api.schemas.events import component_name
from domain.events import CATALOGUE, PUBLIC
from domain.webhooks import PING, SUBJECTS, message, messages, ping_message
from tests.api.client import ITSELF, PAGES, Client, document, faults
from tests.domain.games import RandomGame
from tests.domain.verification.records import play_out

METHODS = ("get", "post", "put", "patch", "delete")
# Words that some target language keeps for itself, or that its standard library makes its own.
TAKEN = {
    "Type", "Result", "Error", "Object", "String", "Array", "Date", "Event", "Function", "Class",
    "Enum", "Protocol", "Any", "Nothing", "Unit", "Self", "Optional", "Data", "Set", "Map", "List",
    "Record", "Option", "Actor", "Task", "Symbol", "Number", "Boolean", "Request", "Response",
}  # fmt: skip
WITHOUT_EXAMPLE = {"internal", "method-not-allowed", "rate-limited", "turn-expired"}
"""Codes that need a fault, a wait or a path without an operation."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def schemas() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = document()["components"]["schemas"]
    return found


def test_the_file_is_fresh() -> None:
    assert openapi.PATH.read_text("utf-8") == openapi.text(), "run ./abbot openapi"


def test_check_tells_a_stale_file(tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "openapi.yaml"
    assert openapi.main(["--check", "--output", str(path)]) == 1
    assert "stale" in capsys.readouterr().err
    assert openapi.main(["--output", str(path)]) == 0
    assert openapi.main(["--check", "--output", str(path)]) == 0


def test_it_is_valid_openapi_3_1() -> None:
    assert document()["openapi"].startswith("3.1")
    assert list(OpenAPIV31SpecValidator(document()).iter_errors()) == []


def test_it_is_served_as_json_and_yaml(nobody: Client) -> None:
    as_json = nobody.get("/openapi.json", expect=200)
    as_yaml = nobody.get("/openapi.yaml", expect=200)
    assert as_json.get_json() == document()
    assert yaml.safe_load(as_yaml.get_data()) == document()
    etag = {"If-None-Match": as_yaml.headers["ETag"]}
    nobody.get("/openapi.yaml", headers=etag, expect=304)


def test_every_route_is_documented(app: Flask) -> None:
    documented = {(path, method) for path, method, _ in operations()}
    routes = {
        (_template(rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule not in ITSELF and not rule.rule.startswith(PAGES)
    }
    assert routes == documented


def _template(rule: str) -> str:
    parts = (
        f"{{{part[1:-1].split(':')[1]}}}" if part.startswith("<") else part
        for part in rule.split("/")
    )
    return "/".join(parts)


def test_every_operation_says_what_it_is() -> None:
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids)
    for path, method, operation in operations():
        assert operation["summary"], (method, path)
        assert operation["description"], (method, path)
        assert operation["tags"], (method, path)
        assert "security" in operation, (method, path)
        for parameter in operation.get("parameters", []):
            assert _resolved(parameter).get("description"), (method, path, parameter)


def test_every_status_has_its_schema() -> None:
    for path, method, operation in operations():
        for status, response in operation["responses"].items():
            resolved = _resolved(response)
            assert resolved["description"]
            if status in ("204", "304"):
                assert "content" not in resolved
            else:
                assert resolved["content"], (method, path, status)
                assert all(media["schema"] for media in resolved["content"].values())


def test_every_error_is_documented_as_a_problem() -> None:
    for path, method, operation in operations():
        errors = [status for status in operation["responses"] if status >= "400"]
        assert errors
        for status in errors:
            content = _resolved(operation["responses"][status])["content"]
            assert list(content) == [MEDIA_TYPE], (method, path, status)
            assert content[MEDIA_TYPE]["schema"] == {"$ref": "#/components/schemas/Problem"}


def test_codes_and_types_are_open_strings() -> None:
    code = schemas()["Problem"]["properties"]["code"]
    assert code["type"] == "string"
    assert "enum" not in code
    assert all(f"`{each}`" in code["description"] for each in KINDS)
    assert "enum" not in schemas()["Game"]["properties"]["status"]


def test_the_move_is_one_flat_object() -> None:
    move = schemas()["Move"]
    assert move["required"] == ["type"]
    assert move["additionalProperties"] is False
    assert not {"oneOf", "anyOf", "allOf", "discriminator"} & set(move)
    assert set(_resolved(move["properties"]["type"])["enum"]) == {
        "play", "draw", "keep", "exclaim", "lead", "beat", "take",
    }  # fmt: skip


@pytest.mark.parametrize("event_type", CATALOGUE)
def test_every_event_type_has_a_component(event_type: str) -> None:
    name = f"{component_name(event_type)}Event"
    variant = schemas()[name]
    assert _resolved(variant["properties"]["type"])["enum"] == [event_type]
    data = schemas()[variant["properties"]["data"]["$ref"].rpartition("/")[2]]
    listed = {field.name: field for field in CATALOGUE[event_type].fields}
    assert set(data["properties"]) == set(listed)
    always = {name for name, each in listed.items() if each.required and each.visibility == PUBLIC}
    assert set(data.get("required", ())) == always


def test_the_union_of_events_has_a_discriminator() -> None:
    union = schemas()["GameEvent"]
    names = [each["$ref"].rpartition("/")[2] for each in union["anyOf"]]
    assert names[-1] == "OtherEvent"
    assert "enum" not in schemas()["OtherEvent"]["properties"]["type"]
    assert union["discriminator"]["propertyName"] == "type"
    mapping = union["discriminator"]["mapping"]
    assert set(mapping) == set(CATALOGUE)
    assert [value.rpartition("/")[2] for value in mapping.values()] == names[:-1]


def test_no_schema_is_empty() -> None:
    for name, schema in schemas().items():
        told = schema.get("properties") or schema.get("anyOf") or schema.get("enum")
        assert told or name == "EmptyObject", name
        assert schema["description"], name
        for field, inner in schema.get("properties", {}).items():
            assert set(inner) & {"type", "$ref", "oneOf"}, (name, field)
            described = schemas().get(inner.get("$ref", "").rpartition("/")[2], inner)
            assert described.get("description"), (name, field)


def test_names_do_not_collide_with_languages() -> None:
    for name in schemas():
        assert name.isidentifier()
        assert name not in TAKEN
        assert not keyword.iskeyword(name.lower()) or len(name) > 6, name
        assert not hasattr(builtins, name)


def test_requests_are_closed_and_answers_open() -> None:
    for path, method, operation in operations():
        for media in operation.get("requestBody", {}).get("content", {}).values():
            schema = schemas()[media["schema"]["$ref"].rpartition("/")[2]]
            assert schema["additionalProperties"] is False, (method, path)
    assert "additionalProperties" not in schemas()["Game"]


def _resolved(value: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in value:
        return value
    resolved: Any = document()
    for part in value["$ref"].removeprefix("#/").split("/"):
        resolved = resolved[part]
    return resolved


def test_every_answer_has_the_request_id() -> None:
    for path, method, operation in operations():
        item = document()["paths"][path]
        sent = [_resolved(each) for each in (*item["parameters"], *operation["parameters"])]
        assert [each["name"] for each in sent].count("X-Request-Id") == 1
        for status, response in operation["responses"].items():
            assert "X-Request-Id" in _resolved(response)["headers"], (method, path, status)


def test_patterns_are_anchored_and_free_of_what_only_python_knows() -> None:
    for pattern in _patterns(document()):
        assert pattern.startswith("^"), pattern
        assert not re.search(r"\\[AZ]|\(\?[aiLmsux#P<]", pattern), pattern


def _patterns(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("pattern"), str):
            yield value["pattern"]
        for inner in value.values():
            yield from _patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _patterns(inner)


def test_what_is_created_links_to_what_can_be_done_with_it() -> None:
    links = {each["operationId"]: _links(each, "201") for _, _, each in operations()}
    assert {"getGame", "takeSeat", "startGame", "makeMove", "listEvents"} <= set(
        links["createGame"]
    )
    assert "getDispute" in links["fileDispute"]
    assert "revokeToken" in links["createToken"]


def test_answers_link_to_what_comes_next() -> None:
    by_id = {each["operationId"]: each for _, _, each in operations()}
    legal = _links(by_id["listLegalMoves"], "200")
    assert legal["makeMove"]["requestBody"] == "$response.body#/legal_moves/0/move"
    assert _links(by_id["getGame"], "200")["listEvents"]["parameters"] == {
        "game_id": "$response.body#/game_id",
        "after": "$response.body#/version",
    }
    assert _links(by_id["rematch"], "200") == _links(by_id["rematch"], "201") != {}
    for name, operation in by_id.items():
        page = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
        if "next_cursor" in _resolved(page.get("schema", {})).get("properties", {}):
            assert name in _links(operation, "200"), name


def test_links_name_parameters_that_exist_and_places_that_are_there() -> None:
    by_id = {each["operationId"]: (path, each) for path, _, each in operations()}
    for source, operation in by_id.values():
        for status, answer in operation["responses"].items():
            media = answer.get("content", {}).get("application/json", {})
            for name, link in _links(operation, status).items():
                assert link["operationId"] == name
                path, target = by_id[name]
                needed = set(re.findall(r"{([^}]+)}", path))
                declared = {_resolved(each)["name"] for each in target["parameters"]}
                assert needed <= set(link["parameters"]) <= {*needed, *declared}
                places = [*link["parameters"].values()]
                places += [link["requestBody"]] if "requestBody" in link else []
                for place in places:
                    if place.startswith("$request.path."):
                        assert f"{{{place.removeprefix('$request.path.')}}}" in source
                    else:
                        assert _at(media["example"], place), (name, place)


def _at(value: Any, place: str) -> Any:
    """What a runtime expression finds in the body of an answer; a list's next page need not be."""
    pointer = place.removeprefix("$response.body#/")
    if pointer == "next_cursor":
        return pointer
    for part in pointer.split("/"):
        value = value[int(part) if part.isdecimal() else part]
    return value


def _links(operation: dict[str, Any], status: str) -> dict[str, Any]:
    answer = operation["responses"].get(status, {})
    return {name: _resolved(link) for name, link in answer.get("links", {}).items()}


def test_no_type_has_its_values_in_place() -> None:
    for name, schema in schemas().items():
        assert "enum" not in schema.get("properties", {}).get("type", {}), name


def test_no_component_is_unused() -> None:
    text = openapi.text()
    for kind, components in document()["components"].items():
        if kind != "securitySchemes":
            for name in components:
                assert f"'#/components/{kind}/{name}'" in text, (kind, name)


def _answers() -> list[tuple[str, str, str, dict[str, Any], tuple[str, ...]]]:
    found = []
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            for status, answer in operation["responses"].items():
                for media, content in answer.get("content", {}).items():
                    pointer = ("paths", path, method, "responses", status, "content", media)
                    found.append((operation["operationId"], status, media, content, pointer))
    return found


def test_every_answer_has_an_example_that_fits_its_schema() -> None:
    assert len(_answers()) > 30
    for operation, status, media, content, pointer in _answers():
        assert "example" in content, (operation, status, media, "see tests/api/examples.py")
        wrong = faults((*pointer, "schema"), content["example"])
        assert not wrong, (operation, status, wrong)


def test_every_body_has_an_example_that_fits_its_schema() -> None:
    for path, item in document()["paths"].items():
        for method, operation in item.items():
            if method == "parameters" or "requestBody" not in operation:
                continue
            ((media, content),) = operation["requestBody"]["content"].items()
            if not document()["components"]["schemas"][_name(content["schema"])].get("properties"):
                continue
            pointer = ("paths", path, method, "requestBody", "content", media, "schema")
            assert "example" in content, (operation["operationId"], "see tests/api/examples.py")
            assert not faults(pointer, content["example"])


def test_every_message_of_webhooks_is_described() -> None:
    sent = document()["webhooks"]
    assert set(sent) == {*SUBJECTS, PING}
    ids = {operation["operationId"] for _, _, operation in operations()}
    for type_, item in sent.items():
        ((method, call),) = item.items()
        assert method == "post"
        assert call["summary"]
        assert call["description"]
        assert call["operationId"] not in ids
        assert call["security"] == []
        headers = [_resolved(each) for each in call["parameters"]]
        assert [each["name"] for each in headers] == [
            "webhook-id", "webhook-timestamp", "webhook-signature"
        ]  # fmt: skip
        assert all(each["required"] and each["in"] == "header" for each in headers)
        content = call["requestBody"]["content"]["application/json"]
        assert set(content["schema"]) == {"$ref"}
        pointer = ("webhooks", type_, "post", "requestBody", "content", "application/json")
        assert not faults((*pointer, "schema"), content["example"])
        assert content["example"]["type"] == type_


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_every_message_of_a_match_fits_its_schema(ruleset: str) -> None:
    events = play_out(RandomGame(ruleset, 3, {}, seed="messages"))
    seen = set()
    for event in events:
        for type_ in messages(event, 1):
            pointer = ("webhooks", type_, "post", "requestBody", "content", "application/json")
            wrong = faults((*pointer, "schema"), message(type_, event, 1, str(UUID(int=7))))
            assert not wrong, (type_, event.type, wrong)
            seen.add(type_)
    assert seen == set(SUBJECTS)
    told = ping_message(str(UUID(int=8)), events[0].at)
    pointer = ("webhooks", PING, "post", "requestBody", "content", "application/json", "schema")
    assert not faults(pointer, told)


def _name(schema: dict[str, str]) -> str:
    return schema["$ref"].rpartition("/")[2]


def test_every_problem_has_an_example() -> None:
    shown = {}
    for answer in document()["components"]["responses"].values():
        for code, example in answer["content"]["application/problem+json"]["examples"].items():
            assert example["value"]["code"] == code
            assert not faults(("components", "schemas", "Problem"), example["value"])
            shown[code] = example["value"]
    assert set(KINDS) - set(shown) <= WITHOUT_EXAMPLE
    assert all(KINDS[code].status == example["status"] for code, example in shown.items())
