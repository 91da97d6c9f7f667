"""The document breaks no client of the last one that was released."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from api.command import openapi
from api.compatibility import breaking_changes
from tests.api.client import document

RELEASED = sorted((openapi.PATH.parent / "docs" / "api").glob("openapi-*.yaml"))


def read(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    return loaded


@pytest.fixture
def changed() -> dict[str, Any]:
    return copy.deepcopy(document())


def test_there_is_a_released_document() -> None:
    assert RELEASED


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_nothing_that_was_released_is_broken(path: Path) -> None:
    assert breaking_changes(read(path), document()) == []


def _game(document: dict[str, Any]) -> dict[str, Any]:
    game: dict[str, Any] = document["paths"]["/v1/games/{game_id}"]["get"]
    return game


def _new_game(document: dict[str, Any]) -> dict[str, Any]:
    schema: dict[str, Any] = document["components"]["schemas"]["NewGame"]
    return schema


def _schema(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: document["components"]["schemas"][name]


BREAKING: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "path": (lambda d: d["paths"].pop("/v1/me"), "GET /v1/me: the operation is gone"),
    "operation": (lambda d: d["paths"]["/v1/games"].pop("post"), "POST /v1/games: the operation"),
    "operation id": (lambda d: _game(d).update(operationId="readGame"), "its id was getGame"),
    "status": (lambda d: _game(d)["responses"].pop("404"), "404: the status is gone"),
    "new success": (
        lambda d: _game(d)["responses"].update({"202": {"description": ""}}),
        "202: a success",
    ),
    "security": (lambda d: _game(d).update(security=[{"token": []}]), "as nobody"),
    "answer's header": (
        lambda d: _game(d)["responses"]["200"]["headers"].pop("ETag"),
        "the header ETag is gone",
    ),
    "answer's property": (
        lambda d: _schema("Game")(d)["properties"].pop("turn"),
        "Game (given).turn: is gone",
    ),
    "inner property": (
        lambda d: _schema("TurnState")(d)["properties"].pop("due_at"),
        "TurnState (given).due_at: is gone",
    ),
    "property that may be absent": (
        lambda d: _schema("Game")(d)["required"].remove("seats"),
        "Game (given).seats: may be absent now",
    ),
    "answer's type": (
        lambda d: _schema("Game")(d)["properties"]["version"].update(type="string"),
        "Game (given).version: its type was integer",
    ),
    "event variant": (
        lambda d: _schema("GameEvent")(d)["anyOf"].pop(3),
        "no longer one of its variants",
    ),
    "request's property": (
        lambda d: _new_game(d)["properties"].pop("visibility"),
        "NewGame (sent).visibility: is gone",
    ),
    "request's new duty": (
        lambda d: _new_game(d)["required"].append("max_seats"),
        "NewGame (sent).max_seats: is required now",
    ),
    "request's values": (
        lambda d: _new_game(d)["properties"]["visibility"].update(enum=["public"]),
        "NewGame (sent).visibility: its values were",
    ),
    "request's bound": (
        lambda d: _new_game(d)["properties"]["turn_seconds"].update(minimum=3600),
        "NewGame (sent).turn_seconds: its minimum was",
    ),
    "body": (
        lambda d: d["paths"]["/v1/me/tokens"]["post"]["requestBody"].update(required=True),
        "a body is required now",
    ),
    "parameter": (
        lambda d: _game(d)["parameters"].pop(0),
        "the parameter is gone",
    ),
    "new duty in the query": (
        lambda d: _game(d)["parameters"].append(
            {"in": "query", "name": "as", "required": True, "schema": {"type": "string"}}
        ),
        "query as: a new parameter is required",
    ),
    "webhook": (lambda d: d["webhooks"].pop("game.over"), "webhook game.over: it is gone"),
    "header of a webhook": (
        lambda d: d["webhooks"]["ping"]["post"]["parameters"].pop(),
        "webhook ping: the header webhook-signature is gone",
    ),
    "what a webhook is told": (
        lambda d: _schema("TurnBegunMessageData")(d)["properties"].pop("turn"),
        "TurnBegunMessageData (given).turn: is gone",
    ),
    "values of an answer": (
        lambda d: _schema("CardPlayedEventType")(d).update(enum=["card.played", "card.laid"]),
        "CardPlayedEventType (given): its values were card.played",
    ),
}


@pytest.mark.parametrize("name", BREAKING)
def test_what_breaks_is_found(changed: dict[str, Any], name: str) -> None:
    change, told = BREAKING[name]
    change(changed)
    found = breaking_changes(document(), changed)
    assert any(told in each for each in found), found


def test_what_only_adds_breaks_nothing(changed: dict[str, Any]) -> None:
    schemas = changed["components"]["schemas"]
    changed["paths"]["/v1/news"] = {"get": {"operationId": "listNews", "responses": {}}}
    schemas["Game"]["properties"]["mood"] = {"type": "string"}
    schemas["Game"]["required"].append("mood")
    schemas["NewGame"]["properties"]["mood"] = {"type": "string"}
    schemas["NewGame"]["properties"]["visibility"]["enum"].append("friends")
    schemas["NewGame"]["properties"]["turn_seconds"]["minimum"] -= 1
    schemas["GameEvent"]["anyOf"].insert(0, {"type": "object"})
    _game(changed)["parameters"].append({"in": "query", "name": "as", "schema": {"type": "string"}})
    assert breaking_changes(document(), changed) == []


def test_the_same_breaks_nothing() -> None:
    assert breaking_changes(document(), document()) == []


def test_the_command_compares(tmp_path: Path, changed: dict[str, Any], capsys: Any) -> None:
    changed["paths"]["/v1/news"] = {
        "get": {"operationId": "listNews", "security": [], "responses": {}}
    }
    path = tmp_path / "newer.yaml"
    path.write_text(yaml.safe_dump(changed), "utf-8")
    assert openapi.main(["--against", str(path)]) == 1
    assert "GET /v1/news: the operation is gone" in capsys.readouterr().err
    assert openapi.main(["--against", str(openapi.PATH)]) == 0
