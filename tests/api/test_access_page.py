"""docs/access.md: who may call what, cell by cell, and every operation is in it.

Each request carries a query parameter that no operation knows. Who may make the call is told so
(422); who may not is told that first (401, 403, 404). So nothing is changed by asking.
"""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from api import auth
from api.services import Services
from eventstore.settings import ROOT
from tests.api.client import Client, document
from tests.api.tables import Table

PAGE = (ROOT / "docs" / "access.md").read_text("utf-8")
COLUMNS = (
    "nobody",
    "`read` token of a seat",
    "stranger",
    "seat",
    "host",
    "auditor",
    "admin",
    "app",
    "app for a seat",
    "another app for it",
)
METHODS = ("get", "post", "patch", "delete")
FOR_ADMINS = ("PATCH /players/{player_id}/scopes", "POST /apps", "DELETE /apps/{app_id}")
People = tuple[dict[str, Client], dict[str, str]]


def _rows() -> list[list[str]]:
    lines = [line.strip("| ") for line in PAGE.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    assert tuple(rows[0][1:]) == COLUMNS
    return rows[2:]


def _operations() -> set[str]:
    return {
        f"`{method.upper()} {path.removeprefix('/v1')}`"
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item and path.startswith("/v1/")
    }


def test_every_operation_is_in_the_table_once() -> None:
    named = [row[0] for row in _rows()]
    assert sorted(named) == sorted(_operations())


@pytest.fixture(scope="module")
def people(app: Flask, opened: Services) -> People:
    """One of each kind, about a running private match; and what stands for its path parameters."""
    return _people(app, opened)


@pytest.fixture(scope="module")
def sandbox(app: Flask, opened: Services) -> People:
    """The same in the sandbox."""
    return _people(app, opened, sandbox=True)


def _people(
    app: Flask, opened: Services, *, sandbox: bool = False, visibility: str = "private"
) -> People:
    nobody = Client(app)
    made = {"nobody": nobody}
    for name in ("stranger", "host", "seat", "auditor", "admin"):
        made[name] = nobody.register(name, sandbox=sandbox)
    for name in ("auditor", "admin"):
        scope = {"auditor": "audit"}.get(name, name)
        assert opened.players.change_scope(made[name].player_id, scope, granted=True)
    keys = [auth.new_key(), auth.new_key()]
    for key in keys:
        opened.apps.create("App", auth.token_hash(key), sandbox=sandbox)
    made["app"] = Client(app, keys[0])
    player = made["app"].post("/v1/apps/me/players", {"name": "P"}, expect=201).get_json()
    player_id = player["player_id"]
    made["app for a seat"] = Client(app, keys[0], player_id, acts_for=player_id)
    made["another app for it"] = Client(app, keys[1], player_id, acts_for=player_id)
    table = Table.opened(made["host"], visibility=visibility, max_seats=4)
    code = made["host"].post(f"{table.url}/invites", expect=201).get_json()["code"]
    for name in ("seat", "app for a seat"):
        made[name].post(f"{table.url}/seats", {"invite": code}, expect=201)
    for seat, name in enumerate(("host", "seat", "app for a seat")):
        table.clients[seat] = made[name]
    token = made["seat"].post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()
    made["`read` token of a seat"] = Client(app, token["token"])
    table.start()
    body = {"version": 1, "statement": "By a seat."}
    dispute = made["seat"].post(f"{table.url}/disputes", body, expect=201).get_json()
    url = {"url": "https://bots.example.com/abbot"}
    webhook = made["seat"].post("/v1/me/webhooks", url, expect=201).get_json()["webhook_id"]
    app_webhook = made["app"].post("/v1/apps/me/webhooks", url, expect=201).get_json()["webhook_id"]
    app_ping = made["app"].post(f"/v1/apps/me/webhooks/{app_webhook}/ping", expect=201).get_json()
    values = {
        "app's webhook_id": app_webhook,
        "app's delivery_id": app_ping["delivery_id"],
        "game_id": table.game_id,
        "player_id": player_id,
        "token_id": token["token_id"],
        "app_id": opened.apps.list()[-1][0],
        "dispute_id": dispute["dispute_id"],
        "webhook_id": webhook,
        "delivery_id": made["seat"]
        .post(f"/v1/me/webhooks/{webhook}/ping")
        .get_json()["delivery_id"],
        "seat": "1",
        "version": "1",
        "code": code,
        "ruleset": "halleluja",
    }
    return made, values


@pytest.mark.parametrize("row", _rows(), ids=lambda row: str(row[0]).strip("`"))
def test_who_may_call_what(row: list[str], people: People) -> None:
    clients, values = people
    method, path = row[0].strip("`").split(" ")
    found = {column: _may(clients[column], method, path, values) for column in COLUMNS}
    assert found == dict(zip(COLUMNS, row[1:], strict=True))


@pytest.mark.parametrize("row", _rows(), ids=lambda row: str(row[0]).strip("`"))
def test_the_same_holds_within_the_sandbox_where_nobody_is_an_admin(
    row: list[str], sandbox: People
) -> None:
    clients, values = sandbox
    method, path = row[0].strip("`").split(" ")
    expected = dict(zip(COLUMNS, row[1:], strict=True))
    if f"{method} {path}" in FOR_ADMINS:
        expected["admin"] = "403"
    if path.endswith("/clock"):
        expected["host"] = "yes"
    # Nobody and a key without a player are of no sandbox, so they see none of it.
    own = [column for column in COLUMNS if column != "nobody"]
    found = {column: _may(clients[column], method, path, values) for column in own}
    assert found == {column: expected[column] for column in own}


@pytest.fixture(scope="module", params=["public", "private"])
def worlds(request: Any, app: Flask, opened: Services) -> list[People]:
    """The real world and the sandbox, with a match in each."""
    return [
        _people(app, opened, sandbox=sandbox, visibility=request.param) for sandbox in (False, True)
    ]


@pytest.mark.parametrize(
    "row",
    [row for row in _rows() if "{game_id}" in row[0]],
    ids=lambda row: str(row[0]).strip("`"),
)
@pytest.mark.parametrize("here", [0, 1], ids=["real", "sandbox"])
def test_a_game_of_the_other_world_is_not_there(
    row: list[str], here: int, worlds: list[People]
) -> None:
    clients, own = worlds[here]
    values = {**worlds[1 - here][1], "player_id": own["player_id"]}
    method, path = row[0].strip("`").split(" ")
    for column, cell in zip(COLUMNS, row[1:], strict=True):
        if column == "nobody" and here:
            continue  # Without a token one is in the real world.
        known = cell in ("400", "401") or column == "another app for it"
        found = _may(clients[column], method, path, values)
        assert found == (cell if known else "404"), column


@pytest.mark.parametrize("here", [0, 1], ids=["real", "sandbox"])
def test_a_player_of_the_other_world_is_not_there(here: int, worlds: list[People]) -> None:
    clients, values = worlds[here]
    path = "/players/{player_id}"
    for column in ("stranger", "seat", "auditor", "admin", "app"):
        assert _may(clients[column], "GET", path, worlds[1 - here][1]) == "404", column
        assert _may(clients[column], "GET", path, values) == "yes", column


def _may(client: Client, method: str, path: str, values: dict[str, str]) -> str:
    body: Any = {} if method in ("POST", "PATCH") and _takes_body(method, path) else None
    if path.startswith("/apps/me/webhooks"):
        own = {name: values[f"app's {name}"] for name in ("webhook_id", "delivery_id")}
        values = values | own
    answer = client.send(method, "/v1" + path.format_map(values), body, query="nonsense=1")
    if answer.status_code == 422:
        return "yes"
    assert answer.status_code in (400, 401, 403, 404), answer.get_data(as_text=True)
    return str(answer.status_code)


def _takes_body(method: str, path: str) -> bool:
    return "requestBody" in document()["paths"]["/v1" + path][method.lower()]
