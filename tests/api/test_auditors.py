"""Auditors: who makes them, what they see, and that each look of theirs is recorded."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import errors
from werkzeug.test import TestResponse

from api import auth
from api.command import grant
from api.services import Services
from eventstore.database import Database
from eventstore.pool import open_pool
from tests.api.client import Client
from tests.api.listening import PATIENCE
from tests.api.tables import Table
from tests.databases import Scratch
from tests.workers.servers import wait_for


def make_auditor(opened: Services, client: Client) -> None:
    assert opened.players.change_scope(client.player_id, "audit", granted=True)


@pytest.fixture
def auditor(nobody: Client, opened: Services) -> Client:
    client = nobody.register("Clara")
    make_auditor(opened, client)
    return client


def looks(client: Client, table: Table) -> list[dict[str, Any]]:
    answer = client.get(f"{table.url}/looks", expect=200)
    items: list[dict[str, Any]] = answer.get_json()["items"]
    return items


def shown_hands(client: Client, table: Table) -> list[int]:
    return [seat["seat"] for seat in table.game(client)["seats"] if "hand" in seat]


def test_an_auditor_sees_every_card_and_each_look_is_recorded(
    match: Table, auditor: Client
) -> None:
    assert shown_hands(auditor, match) == [0, 1]
    events = auditor.get(f"{match.url}/events", expect=200).get_json()["items"]
    dealt = next(event for event in events if event["type"] == "round.dealt")
    assert set(dealt["data"]["hands"]) == {"0", "1"}
    assert dealt["data"]["undealt"]
    assert "secret" not in match.game(auditor)["shuffle"]
    match.other().post(f"{match.url}/moves", {"type": "draw"}, expect=409)
    attempts = auditor.get(f"{match.url}/attempts", expect=200).get_json()["items"]
    assert [each["code"] for each in attempts] == ["not-your-turn"]
    recorded = looks(auditor, match)
    operations = [look["operation"] for look in recorded]
    assert operations == ["listAttempts", "getGame", "listEvents", "getGame"]
    assert {look["player_id"] for look in recorded} == {auditor.player_id}
    assert {look["version"] for look in recorded} == {match.game()["version"]}
    # The seats know who looks; nobody else needs to.
    assert looks(match.host, match) == recorded
    stranger = auditor.register("Dora")
    stranger.refused(stranger.get(f"{match.url}/looks"), 403, "forbidden")


def test_where_nothing_is_hidden_there_is_no_look(table: Table, auditor: Client) -> None:
    table.game(auditor)
    assert looks(auditor, table) == []
    table.start()
    table.host.post(f"{table.url}/resign", expect=200)
    assert shown_hands(auditor, table) == [0, 1]
    assert looks(auditor, table) == []


def test_a_look_that_cannot_be_recorded_is_not_answered(
    match: Table,
    auditor: Client,
    opened: Services,
    scratch: Scratch,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open_pool(scratch.app_url, 1) as gone:
        pass
    monkeypatch.setattr(opened.looks, "database", Database(gone))
    for path in ("", "/events", "/attempts"):
        answer = auditor.get(f"{match.url}{path}")
        auditor.refused(answer, 503, "unavailable")


@pytest.mark.parametrize("kept", ["looks", "scope_changes"])
def test_looks_and_grants_can_only_be_added_to(
    match: Table, auditor: Client, scratch: Scratch, kept: str
) -> None:
    match.game(auditor)
    before = scratch.execute(f"SELECT * FROM {kept} ORDER BY 1, 2")
    assert before
    for url, refusal in (
        (scratch.app_url, errors.InsufficientPrivilege),
        (scratch.owner_url, errors.RestrictViolation),
    ):
        for statement in (f"DELETE FROM {kept}", f"TRUNCATE {kept}", f"UPDATE {kept} SET at=at"):
            with psycopg.connect(url) as connection, pytest.raises(refusal):
                connection.execute(statement.encode())
    assert scratch.execute(f"SELECT * FROM {kept} ORDER BY 1, 2") == before


def test_a_party_is_no_auditor(table: Table, bert: Client, opened: Services) -> None:
    former = bert.register("Former")
    former.post(f"{table.url}/seats", expect=201)
    former.delete(f"{table.url}/seats/me", expect=200)
    for client in (bert, former):
        make_auditor(opened, client)
    table.start()
    assert shown_hands(bert, table) == []
    assert table.game(bert)["you"]["seat"] == 1
    assert shown_hands(former, table) == []
    former.refused(former.get(f"{table.url}/looks"), 403, "forbidden")
    assert looks(bert, table) == []
    table.host.post(f"{table.url}/resign", expect=200)
    assert shown_hands(former, table) == [0, 1]


def test_an_admin_makes_auditors(
    anna: Client, bert: Client, nobody: Client, opened: Services
) -> None:
    url = f"/v1/players/{bert.player_id}/scopes"
    for client, status in ((nobody, 401), (anna, 403), (bert, 403)):
        assert client.patch(url, {"audit": True}).status_code == status
    assert opened.players.change_scope(anna.player_id, "admin", granted=True)
    reader = bert.post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()["token"]
    changed = anna.patch(url, {"audit": True}, expect=200).get_json()
    assert changed == {"player_id": bert.player_id, "audit": True, "tokens": 1}
    assert anna.patch(url, {"audit": True}, expect=200).get_json()["tokens"] == 0
    assert bert.get("/v1/me").get_json()["scopes"] == ["play", "read", "audit"]
    assert Client(anna.app, reader).get("/v1/me").get_json()["scopes"] == ["read"]
    bert.post("/v1/me/tokens", {"scopes": ["read", "audit"]}, expect=201)
    assert anna.patch(url, {"audit": False}, expect=200).get_json()["tokens"] == 2
    assert bert.get("/v1/me").get_json()["scopes"] == ["play", "read"]
    anna.refused(anna.patch(url, {"audit": "yes"}), 422, "validation")
    missing = "/v1/players/01900000-0000-7000-8000-000000000000/scopes"
    anna.refused(anna.patch(missing, {"audit": True}), 404, "not-found")


def test_nobody_grants_to_themselves(anna: Client, opened: Services) -> None:
    anna.refused(anna.post("/v1/me/tokens", {"scopes": ["audit"]}), 403, "forbidden")
    assert opened.players.change_scope(anna.player_id, "admin", granted=True)
    anna.refused(anna.post("/v1/me/tokens", {"scopes": ["audit"]}), 403, "forbidden")
    for audit in (True, False):
        answer = anna.patch(f"/v1/players/{anna.player_id}/scopes", {"audit": audit})
        anna.refused(answer, 403, "forbidden")
    assert anna.get("/v1/me").get_json()["scopes"] == ["play", "read", "admin"]


def test_a_tokens_id_is_no_players(anna: Client, bert: Client, opened: Services) -> None:
    assert opened.players.change_scope(anna.player_id, "admin", granted=True)
    for client in (anna, bert):
        me = client.get("/v1/me", expect=200).get_json()
        for audit in (True, False):
            answer = anna.patch(f"/v1/players/{me['token_id']}/scopes", {"audit": audit})
            anna.refused(answer, 404, "not-found")
        assert client.get("/v1/me", expect=200).get_json() == me


def test_a_sandbox_player_is_not_there_for_an_admin(
    anna: Client, nobody: Client, opened: Services
) -> None:
    assert opened.players.change_scope(anna.player_id, "admin", granted=True)
    other = nobody.register("Test", sandbox=True)
    for body in ({"audit": True}, {"audit": False}, {}):
        answer = anna.patch(f"/v1/players/{other.player_id}/scopes", body)
        anna.refused(answer, 404, "not-found")
    assert other.get("/v1/me").get_json()["scopes"] == ["play", "read"]


def test_a_player_of_an_app_is_no_auditor(
    anna: Client,
    opened: Services,
    match: Table,
) -> None:
    assert opened.players.change_scope(anna.player_id, "admin", granted=True)
    key = auth.new_key()
    opened.apps.create("App", auth.token_hash(key))
    itself = Client(anna.app, key)
    players = "/v1/apps/me/players"
    player_id = itself.post(players, {"name": "Gast"}, expect=201).get_json()["player_id"]
    gast = Client(anna.app, key, player_id, acts_for=player_id)
    url = f"/v1/players/{player_id}/scopes"
    # Before the app has acted for the player, after that, and with a token of the device's own.
    for ask in (
        lambda: None,
        lambda: gast.get("/v1/me", expect=200),
        lambda: itself.post(f"{players}/{player_id}/tokens", expect=201),
    ):
        ask()
        anna.refused(anna.patch(url, {"audit": True}), 403, "forbidden")
        unset = anna.patch(url, {"audit": False}, expect=200).get_json()
        assert unset == {"player_id": player_id, "audit": False, "tokens": 0}
    assert gast.get("/v1/me").get_json()["scopes"] == ["play", "read"]
    assert shown_hands(gast, match) == []


def test_the_operator_grants_nothing_to_an_apps_player(
    anna: Client,
    opened: Services,
    scratch: Scratch,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)
    key = auth.new_key()
    opened.apps.create("App", auth.token_hash(key))
    itself = Client(anna.app, key)
    made = itself.post("/v1/apps/me/players", {"name": "Gast"}, expect=201).get_json()
    gast = Client(anna.app, key, acts_for=made["player_id"])
    me = gast.get("/v1/me", expect=200).get_json()
    for scope in ("audit", "admin"):
        for who in (me["player_id"], me["token_id"]):
            assert grant.main([who, scope]) == 1
            assert "player of an app" in capsys.readouterr().err
    assert gast.get("/v1/me", expect=200).get_json() == me


def test_who_has_no_token_that_may_play_is_no_auditor(
    anna: Client, bert: Client, opened: Services
) -> None:
    assert opened.players.change_scope(anna.player_id, "admin", granted=True)
    reader = bert.post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()["token"]
    bert.delete(f"/v1/me/tokens/{bert.get('/v1/me').get_json()['token_id']}", expect=204)
    granted = anna.patch(f"/v1/players/{bert.player_id}/scopes", {"audit": True}, expect=200)
    assert granted.get_json() == {"player_id": bert.player_id, "audit": False, "tokens": 0}
    assert Client(anna.app, reader).get("/v1/me").get_json()["scopes"] == ["read"]


# What changes while a token is asked for, and what is then said.
_TAKEN = "UPDATE tokens SET scopes = array_remove(scopes, 'audit') WHERE player_id = %s"
_REVOKED = "UPDATE tokens SET revoked_at = now() WHERE player_id = %s"
_ERASED = "DELETE FROM players WHERE player_id = %s"


@pytest.mark.parametrize(
    ("change", "body", "status"),
    [
        (_TAKEN, {"scopes": ["play", "read", "audit"]}, 403),
        (_TAKEN, {"scopes": ["play", "read"]}, 201),
        (_TAKEN, {}, 201),
        (_REVOKED, {}, 401),
        (_ERASED, {}, 401),
    ],
)
def test_a_token_gets_what_the_one_that_asks_has_by_then(
    auditor: Client, scratch: Scratch, change: str, body: dict[str, Any], status: int
) -> None:
    answer = _meanwhile(scratch, auditor, change, lambda: auditor.post("/v1/me/tokens", body))
    assert answer.status_code == status
    if status == 201:
        made = answer.get_json()
        assert made["scopes"] == ["play", "read"]
        child = Client(auditor.app, made["token"])
        assert child.get("/v1/me", expect=200).get_json()["scopes"] == ["play", "read"]
    else:
        rows = scratch.execute("SELECT true FROM tokens WHERE player_id = %s", (auditor.player_id,))
        assert len(rows) <= 1


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (
            "UPDATE app_keys SET revoked_at = now() WHERE app_id ="
            " (SELECT app_id FROM players WHERE player_id = %s)",
            401,
        ),
        (_ERASED, 404),
    ],
)
def test_an_app_makes_a_token_only_while_its_key_counts(
    anna: Client, opened: Services, scratch: Scratch, change: str, status: int
) -> None:
    key = auth.new_key()
    opened.apps.create("App", auth.token_hash(key))
    itself = Client(anna.app, key)
    made = itself.post("/v1/apps/me/players", {"name": "Gast"}, expect=201).get_json()
    gast = Client(anna.app, key, made["player_id"])
    url = f"/v1/apps/me/players/{gast.player_id}/tokens"
    answer = _meanwhile(scratch, gast, change, lambda: itself.post(url))
    assert answer.status_code == status
    tokens = scratch.execute("SELECT true FROM tokens WHERE player_id = %s", (gast.player_id,))
    assert tokens == []


def _meanwhile(
    scratch: Scratch, client: Client, change: str, ask: Callable[[], TestResponse]
) -> TestResponse:
    """The answer to what is asked when `change` of the client's player is under way, and is stored
    only then."""
    with ThreadPoolExecutor(1) as thread, psycopg.connect(scratch.admin_url) as changing:
        changing.execute(
            "SELECT true FROM players WHERE player_id = %s FOR NO KEY UPDATE", (client.player_id,)
        )
        asked = thread.submit(ask)
        wait_for(lambda: scratch.blocked() == 1, PATIENCE, "it waits")
        changing.execute(change.encode(), (client.player_id,))
        changing.commit()
        return asked.result()


def test_the_operator_grants(
    anna: Client,
    scratch: Scratch,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", scratch.app_url)
    token = anna.get("/v1/me").get_json()["token_id"]
    assert grant.main([anna.player_id, "audit"]) == 0
    assert token in capsys.readouterr().out
    assert anna.get("/v1/me").get_json()["scopes"] == ["play", "read", "audit"]
    assert grant.main([token, "admin"]) == 0
    assert anna.get("/v1/me").get_json()["scopes"] == ["play", "read", "audit", "admin"]
    assert grant.main([anna.player_id, "admin", "--revoke"]) == 0
    assert grant.main([anna.player_id, "audit", "--revoke"]) == 0
    assert anna.get("/v1/me").get_json()["scopes"] == ["play", "read"]
    capsys.readouterr()
    assert grant.main([token, "audit", "--revoke"]) == 0
    assert "nothing to change" in capsys.readouterr().out
    for who in ("nobody", "01900000-0000-7000-8000-000000000000"):
        assert grant.main([who, "audit"]) == 1
    with pytest.raises(SystemExit):
        grant.main([token, "play"])
    rows = scratch.execute(
        "SELECT scope, granted, by_player_id FROM scope_changes WHERE player_id = %s ORDER BY at",
        (anna.player_id,),
    )
    assert rows == [
        ("audit", True, None),
        ("admin", True, None),
        ("admin", False, None),
        ("audit", False, None),
    ]
