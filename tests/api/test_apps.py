"""Apps: registered by an operator or an admin, they register players and act for them alone."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from api import auth
from api.addresses import networks
from api.allowances import Allowances
from api.app import create_app
from api.command import app as command
from api.services import Services
from eventstore.ids import uuid7
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch


def registered_app(app: Flask, opened: Services, name: str = "App") -> tuple[Client, str]:
    """A new app's client, and its id."""
    key = auth.new_key()
    return Client(app, key), opened.apps.create(name, auth.token_hash(key)).app_id


@pytest.fixture
def caller(app: Flask, opened: Services) -> Client:
    """An app, which names no player."""
    return registered_app(app, opened)[0]


def player_of(caller: Client, name: str = "Gast", **more: Any) -> Client:
    """A new player of the app, for whom it acts."""
    body = {"name": name, **more}
    player = caller.post("/v1/apps/me/players", body, expect=201).get_json()
    return Client(caller.app, caller.token, player["player_id"], acts_for=player["player_id"])


def test_an_app_registers_players_and_plays_for_them(caller: Client, anna: Client) -> None:
    gast = player_of(caller)
    me = gast.get("/v1/me", expect=200).get_json()
    app_id = caller.get("/v1/apps/me", expect=200).get_json()["app_id"]
    assert (me["player_id"], me["name"]) == (gast.player_id, "Gast")
    assert (me["scopes"], me["app_id"]) == (["play", "read"], app_id)
    other = player_of(caller, "Other")
    table = Table.opened(gast)
    for client in (other, anna):
        client.post(f"{table.url}/seats", expect=201)
        table.clients[len(table.clients)] = client
    table.start()
    assert {each["player"]["name"] for each in table.game(anna)["seats"]} == {
        "Gast",
        "Other",
        "Anna",
    }
    # Of one app, but each sees their own hand alone.
    for seat, client in ((0, gast), (1, other)):
        you = table.game(client)["you"]
        assert you["seat"] == seat
        assert len(you["hand"]) == 5
    mover = table.mover()
    move = mover.get(f"{table.url}/legal-moves", expect=200).get_json()["legal_moves"][0]["move"]
    mover.post(f"{table.url}/moves", move, expect=201)
    # By its key alone it sees what anyone sees.
    assert "you" not in table.game(caller)
    assert caller.get("/v1/games", expect=200).get_json()["items"]


def test_idempotency_keys_of_players_are_apart(caller: Client) -> None:
    one, two = player_of(caller), player_of(caller)
    headers = {"Idempotency-Key": "same"}
    body = {"ruleset": "halleluja"}
    games = [
        client.post("/v1/games", body, headers=headers, expect=201).get_json()["game_id"]
        for client in (one, two, one)
    ]
    assert games[0] == games[2] != games[1]


def test_an_app_acts_only_for_its_own_players(
    caller: Client, anna: Client, app: Flask, opened: Services
) -> None:
    rival, _ = registered_app(app, opened, "Rival")
    foreign = player_of(rival)
    for player_id in (foreign.player_id, anna.player_id, uuid7()):
        headers = {"Abbot-Player": player_id}
        for method, path in (("GET", "/v1/me"), ("POST", "/v1/games"), ("GET", "/v1/games")):
            answer = caller.send(method, path, headers=headers)
            caller.refused(answer, 403, "forbidden")
        for method, path in (("GET", ""), ("POST", "/tokens")):
            answer = caller.send(method, f"/v1/apps/me/players/{player_id}{path}")
            caller.refused(answer, 404, "not-found")
    assert caller.get("/v1/apps/me/players", expect=200).get_json()["items"] == []


@pytest.mark.parametrize("named", [None, "", "x", "me", "0" * 36])
def test_an_app_says_for_whom_it_asks(caller: Client, named: str | None) -> None:
    headers = {} if named is None else {"Abbot-Player": named}
    caller.refused(caller.get("/v1/me", headers=headers), 400, "malformed-request")


def test_a_players_token_names_no_player(anna: Client, bert: Client) -> None:
    for player_id in (anna.player_id, bert.player_id):
        answer = anna.get("/v1/me", headers={"Abbot-Player": player_id})
        anna.refused(answer, 400, "malformed-request")


def test_what_is_for_apps_is_for_apps(anna: Client, nobody: Client, caller: Client) -> None:
    for method, path in (
        ("GET", "/v1/apps/me"),
        ("GET", "/v1/apps/me/players"),
        ("POST", "/v1/apps/me/players"),
        ("GET", f"/v1/apps/me/players/{anna.player_id}"),
        ("POST", f"/v1/apps/me/players/{anna.player_id}/tokens"),
    ):
        nobody.refused(nobody.send(method, path), 401, "unauthenticated")
        anna.refused(anna.send(method, path), 403, "forbidden")
    gast = player_of(caller)
    gast.refused(gast.post("/v1/me/tokens"), 403, "forbidden")
    gast.refused(gast.post("/v1/apps", {"name": "x"}), 403, "forbidden")


def test_one_player_for_each_reference(caller: Client, app: Flask, opened: Services) -> None:
    body = {"name": "Gast", "reference": "user-1"}
    url = "/v1/apps/me/players"

    def ask(_: int) -> tuple[int, str]:
        answer = Client(app, caller.token).post(url, body)
        return answer.status_code, answer.get_json()["player_id"]

    with ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(ask, range(10)))
    assert sorted(status for status, _ in answers) == [200] * 9 + [201]
    (player_id,) = {player_id for _, player_id in answers}
    again = caller.post(url, {"name": "Else", "reference": "user-1"}, expect=200).get_json()
    assert (again["player_id"], again["name"]) == (player_id, "Gast")
    found = caller.get(url, query="reference=user-1", expect=200).get_json()["items"]
    assert found == [again]
    assert caller.get(f"{url}/{player_id}", expect=200).get_json() == again
    assert caller.get(url, query="reference=user-2").get_json()["items"] == []
    # Another app calls its players as it likes, and without a reference all are new.
    rival, _ = registered_app(app, opened, "Rival")
    assert rival.post(url, body, expect=201).get_json()["player_id"] != player_id
    assert player_of(caller).player_id != player_of(caller).player_id
    for reference in ("", "x" * 201, "a b", "ä", 7):
        answer = caller.post(url, {"name": "Gast", "reference": reference})
        caller.refused(answer, 422, "validation")


def test_players_of_an_app_come_in_pages(caller: Client) -> None:
    players = [player_of(caller, f"P{n}").player_id for n in range(5)]
    seen, query = [], "limit=2"
    while query:
        page = caller.get("/v1/apps/me/players", query=query, expect=200).get_json()
        seen += [each["player_id"] for each in page["items"]]
        query = f"limit=2&cursor={page['next_cursor']}" if "next_cursor" in page else ""
    assert seen == players[::-1]


def test_a_device_gets_a_token_of_its_own(
    caller: Client, app: Flask, opened: Services, scratch: Scratch
) -> None:
    gast = player_of(caller)
    url = f"/v1/apps/me/players/{gast.player_id}/tokens"
    made = caller.post(url, expect=201)
    assert "no-store" in made.headers["Cache-Control"]
    token = made.get_json()
    device = Client(app, token["token"])
    me = device.get("/v1/me", expect=200).get_json()
    assert (me["player_id"], me["expires_at"]) == (gast.player_id, token["expires_at"])
    reader = caller.post(url, {"scopes": ["read"], "expires_in": 60}, expect=201).get_json()
    assert reader["scopes"] == ["read"]
    for scopes in (["audit"], ["admin"], []):
        caller.refused(caller.post(url, {"scopes": scopes}), 422, "validation")
    # The player sees who asked for them, and what the app does itself is no token of theirs.
    listed = device.get("/v1/me/tokens", expect=200).get_json()["items"]
    app_id = caller.get("/v1/apps/me").get_json()["app_id"]
    assert [each["token_id"] for each in listed] == [reader["token_id"], token["token_id"]]
    assert {each["app_id"] for each in listed} == {app_id}
    acting = gast.get("/v1/me", expect=200).get_json()["token_id"]
    device.refused(device.delete(f"/v1/me/tokens/{acting}"), 404, "not-found")
    # The device's own word counts as well.
    device.delete(f"/v1/me/tokens/{reader['token_id']}", expect=204)
    scratch.execute("UPDATE tokens SET expires_at = now() WHERE token_id = %s", (me["token_id"],))
    device.refused(device.get("/v1/me"), 401, "unauthenticated")
    gast.get("/v1/me", expect=200)


def test_a_key_that_is_revoked_ends_at_once(app: Flask, opened: Services) -> None:
    caller, app_id = registered_app(app, opened)
    key = auth.new_key()
    assert opened.apps.add_key(app_id, auth.token_hash(key))
    gast = player_of(caller)
    device = Client(
        app,
        caller.post(f"/v1/apps/me/players/{gast.player_id}/tokens").get_json()["token"],
    )
    key_id = caller.get("/v1/apps/me", expect=200).get_json()["key_id"]
    gast.get("/v1/me", expect=200)
    assert opened.apps.revoke(key_id)
    caller.refused(caller.get("/v1/apps/me"), 401, "unauthenticated")
    gast.refused(gast.get("/v1/me"), 401, "unauthenticated")
    # The app goes on under its other key, for the same player, and so do devices.
    other = Client(app, key, acts_for=gast.player_id)
    other.get("/v1/me", expect=200)
    device.get("/v1/me", expect=200)
    assert opened.apps.revoke(app_id)
    for client in (other, device):
        client.refused(client.get("/v1/me"), 401, "unauthenticated")
    assert opened.apps.add_key(app_id, auth.token_hash(auth.new_key())) is None
    # The player is still there, and what was played.
    Client(app).get(f"/v1/players/{gast.player_id}", expect=200)


def test_an_admin_registers_apps(
    anna: Client, bert: Client, nobody: Client, opened: Services
) -> None:
    assert opened.players.change_scope(anna.player_id, "admin", granted=True)
    body = {"name": "Card Table"}
    bert.refused(bert.post("/v1/apps", body), 403, "forbidden")
    nobody.refused(nobody.post("/v1/apps", body), 401, "unauthenticated")
    anna.refused(anna.post("/v1/apps", {"name": "\u202e"}), 422, "validation")
    made = anna.post("/v1/apps", body, expect=201).get_json()
    assert re.fullmatch(r"abbot_app_[0-9A-Za-z]{43}", made["key"])
    caller = Client(anna.app, made["key"])
    shown = caller.get("/v1/apps/me", expect=200).get_json()
    assert shown == {name: made[name] for name in ("app_id", "name", "key_id")}
    bert.refused(bert.delete(f"/v1/apps/{made['app_id']}"), 403, "forbidden")
    anna.refused(anna.delete(f"/v1/apps/{uuid7()}"), 404, "not-found")
    for _ in range(2):
        anna.delete(f"/v1/apps/{made['app_id']}", expect=204)
    caller.refused(caller.get("/v1/apps/me"), 401, "unauthenticated")


def test_the_operator_registers_apps(
    app: Flask,
    scratch: Scratch,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)

    def run(*arguments: str, code: int = 0) -> str:
        assert command.main([*arguments]) == code
        return "".join(capsys.readouterr())

    shown = run("create", "Card Table")
    (key,) = re.findall(r"abbot_app_\w{43}", shown)
    app_id, key_id = re.findall(r"[0-9a-f-]{36}", shown)
    assert Client(app, key).get("/v1/apps/me", expect=200).get_json() == {
        "app_id": app_id,
        "name": "Card Table",
        "key_id": key_id,
    }
    (second,) = re.findall(r"abbot_app_\w{43}", run("key", app_id))
    listed = run("list")
    assert listed.count(app_id) == 2
    assert key not in listed
    assert f"{app_id}  Card Table  key {key_id} of " in listed
    tests_id = re.findall(r"[0-9a-f-]{36}", run("create", "Card Table", "--sandbox"))[0]
    assert f"{tests_id}  Card Table  (sandbox)  key " in run("list")
    run("revoke", key_id)
    assert Client(app, key).get("/v1/apps/me").status_code == 401
    Client(app, second).get("/v1/apps/me", expect=200)
    run("revoke", app_id)
    assert Client(app, second).get("/v1/apps/me").status_code == 401
    for arguments in (("key", app_id), ("revoke", uuid7()), ("revoke", "x"), ("create", " ")):
        run(*arguments, code=1)


def test_keys_are_stored_hashed(caller: Client, scratch: Scratch) -> None:
    assert caller.token is not None
    rows = scratch.execute("SELECT k::text FROM app_keys k UNION ALL SELECT t::text FROM tokens t")
    assert rows
    assert all(caller.token not in str(row) for row in rows)


def test_an_app_is_counted_by_its_key_alone(opened: Services) -> None:
    allowed = Allowances(
        requests_per_address=2, requests_per_app=4, trusted_proxies=networks("127.0.0.1")
    )
    caller, _ = registered_app(create_app(opened=opened, allowances=allowed), opened)
    headers = {"X-Forwarded-For": "192.0.2.50"}
    for left in (3, 2, 1, 0):
        answer = caller.get("/v1/apps/me", headers=headers, expect=200)
        assert answer.headers["RateLimit"].startswith(f'"app";r={left};t=')
    caller.refused(caller.get("/v1/apps/me", headers=headers), 429, "rate-limited")
