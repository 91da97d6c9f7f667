"""Auditors: who makes them, what they see, and that each look of theirs is recorded."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import errors

from api.command import grant
from api.services import Services
from eventstore.database import Database
from eventstore.pool import open_pool
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch


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
