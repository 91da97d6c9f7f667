"""The sandbox is a world of its own. Who may call what in it, and that nothing of one world is
there for callers of the other, is in `test_access_page`; here is what comes on top of that."""

from __future__ import annotations

from typing import Any

from flask import Flask

from api import auth
from api.services import Services
from domain import randomness
from domain.sandbox import secret_of
from eventstore.feed import Feed
from eventstore.verifying import check_export
from tests.api.client import Client
from tests.api.tables import Table


def _match(host: Client, guest: Client, ruleset: str = "halleluja", **settings: Any) -> Table:
    table = Table.opened(host, ruleset, **settings)
    guest.post(f"{table.url}/seats", expect=201)
    table.clients[1] = guest
    table.start()
    return table


def _ids(client: Client, query: str = "") -> list[str]:
    items = client.get("/v1/games", query=query, expect=200).get_json()["items"]
    return [item["game_id"] for item in items]


def test_who_one_is(carla: Client, anna: Client) -> None:
    assert carla.get("/v1/me", expect=200).get_json()["sandbox"] is True
    assert "sandbox" not in anna.get("/v1/me", expect=200).get_json()
    made = carla.post("/v1/me/tokens", {"scopes": ["play"]}, expect=201).get_json()
    other = Client(carla.app, made["token"], carla.player_id)
    assert other.get("/v1/me", expect=200).get_json()["sandbox"] is True
    registered = carla.post("/v1/players", {"name": "E", "sandbox": False}, expect=201)
    assert "sandbox" not in registered.get_json()
    carla.refused(carla.post("/v1/players", {"name": "E", "sandbox": 1}), 422, "validation")


def test_an_app_of_the_sandbox_has_sandbox_players_only(app: Flask, opened: Services) -> None:
    key = auth.new_key()
    opened.apps.create("Tests", auth.token_hash(key), sandbox=True)
    itself = Client(app, key)
    assert itself.get("/v1/apps/me", expect=200).get_json()["sandbox"] is True
    body = {"name": "Gast", "reference": "one"}
    player = itself.post("/v1/apps/me/players", body, expect=201).get_json()
    again = itself.post("/v1/apps/me/players", body, expect=200).get_json()
    assert again == player
    gast = Client(app, key, player["player_id"], acts_for=player["player_id"])
    assert gast.get("/v1/me", expect=200).get_json()["sandbox"] is True
    table = Table.opened(gast)
    assert table.game()["sandbox"] is True
    assert table.game(itself)["game_id"] == table.game_id
    path = f"/v1/apps/me/players/{player['player_id']}/tokens"
    own = Client(app, itself.post(path, {}, expect=201).get_json()["token"])
    assert own.get("/v1/me", expect=200).get_json()["sandbox"] is True


def test_an_admin_registers_an_app_of_the_sandbox(anna: Client, opened: Services) -> None:
    opened.players.change_scope(anna.player_id, "admin", granted=True)
    made = anna.post("/v1/apps", {"name": "Tests", "sandbox": True}, expect=201).get_json()
    assert made["sandbox"] is True
    real = anna.post("/v1/apps", {"name": "Real"}, expect=201).get_json()
    assert "sandbox" not in real


def test_a_sandbox_game_says_so_everywhere(carla: Client, dora: Client) -> None:
    table = _match(carla, dora, deal="first-steps")
    game = table.game()
    assert (game["sandbox"], game["deal"]) == (True, "first-steps")
    assert game["clock"]["ahead_ms"] == 0
    (item,) = carla.get("/v1/games", query="mine=true", expect=200).get_json()["items"]
    assert item["sandbox"] is True
    first = carla.get(f"{table.url}/events", query="limit=1").get_json()["items"][0]
    assert first["data"]["sandbox"] == {"deal": "first-steps"}


def test_a_real_game_says_nothing_of_it(match: Table) -> None:
    assert not {"sandbox", "deal", "clock"} & set(match.game())
    item = match.host.get("/v1/games", query="mine=true", expect=200).get_json()["items"][0]
    assert "sandbox" not in item
    first = match.host.get(f"{match.url}/events", query="limit=1").get_json()["items"][0]
    assert "sandbox" not in first["data"]


def test_a_name_deals_the_same_to_anyone(carla: Client, dora: Client, nobody: Client) -> None:
    def dealt(*players: Client, **settings: Any) -> Any:
        table = _match(*players, **settings)
        game = table.game()
        return game["turn"]["seat"], game["you"]["hand"], table.game(table.clients[1])["you"]

    eva = nobody.register("Eva", sandbox=True)
    for ruleset in ("halleluja", "vallelujah"):
        one = dealt(carla, dora, ruleset=ruleset, deal="first-steps")
        assert dealt(eva, carla, ruleset=ruleset, deal="first-steps") == one
        assert dealt(carla, dora, ruleset=ruleset, deal="second-steps") != one
    # Who gives no name gets one, which deals the same again.
    table = _match(carla, dora)
    name = table.game()["deal"]
    again = _match(carla, dora, deal=name)
    assert again.game()["you"]["hand"] == table.game()["you"]["hand"]
    assert _match(carla, dora).game()["deal"] != name


def test_what_is_no_name(carla: Client) -> None:
    for name in ("", "Upper", "-", "a" * 65, "ä", 5):
        answer = carla.post("/v1/games", {"ruleset": "halleluja", "deal": name})
        problem = carla.refused(answer, 422, "validation")
        assert problem["errors"][0]["field"] == "deal"


def test_real_games_are_not_dealt_by_name(anna: Client, opened: Services) -> None:
    before = _ids(anna, "mine=true")
    answer = anna.post("/v1/games", {"ruleset": "halleluja", "deal": "first-steps"})
    anna.refused(answer, 403, "forbidden")
    assert _ids(anna, "mine=true") == before
    game = Table.opened(anna).game()
    loaded = opened.store.load(game["game_id"])
    assert loaded is not None
    assert loaded.secret != secret_of(game["game_id"])
    assert randomness.commitment(loaded.secret, game["game_id"]) == game["shuffle"]["commitment"]


def test_lists_show_ones_own_world(
    carla: Client, dora: Client, match: Table, nobody: Client, opened: Services
) -> None:
    real = match
    anna, bert = match.clients.values()
    unreal = _match(carla, dora)
    opened.players.change_scope(anna.player_id, "audit", granted=True)
    opened.players.change_scope(dora.player_id, "audit", granted=True)
    for client in (anna, bert, nobody):
        for query in ("", "status=active", "ruleset=halleluja", "status=active&ruleset=halleluja"):
            listed = _ids(client, query)
            assert real.game_id in listed
            assert unreal.game_id not in listed
    for client in (carla, dora):
        for query in ("", "status=active", "ruleset=halleluja", "status=active&ruleset=halleluja"):
            listed = _ids(client, query)
            assert unreal.game_id in listed
            assert real.game_id not in listed
    assert _ids(unreal.mover(), "turn=me") == [unreal.game_id]
    assert _ids(real.mover(), "turn=me") == [real.game_id]


def test_an_invite_opens_no_other_world(carla: Client, anna: Client, nobody: Client) -> None:
    for host, guest in ((carla, anna), (anna, carla)):
        table = Table.opened(host, visibility="private")
        code = host.post(f"{table.url}/invites", expect=201).get_json()["code"]
        guest.refused(guest.get(table.url, query=f"invite={code}"), 404, "not-found")
        guest.refused(guest.post(f"{table.url}/seats", {"invite": code}), 404, "not-found")
        if host is carla:
            nobody.refused(nobody.get(table.url, query=f"invite={code}"), 404, "not-found")
        assert len(table.game()["seats"]) == 1


def test_a_ticket_opens_the_stream_for_whom_it_stands(carla: Client, nobody: Client) -> None:
    table = Table.opened(carla)
    ticket = carla.post(f"{table.url}/stream-tickets", expect=201).get_json()["ticket"]
    nobody.get(f"{table.url}/stream", query=f"ticket={ticket}", expect=200)
    nobody.refused(nobody.get(f"{table.url}/stream"), 404, "not-found")


def test_a_position_that_was_seen_before_is_no_way_in(
    carla: Client, anna: Client, nobody: Client
) -> None:
    table = Table.opened(carla)
    etag = carla.get(table.url, expect=200).headers["ETag"]
    for client in (anna, nobody):
        for headers in ({}, {"If-None-Match": etag}, {"If-None-Match": "*"}):
            answer = client.get(table.url, headers=headers)
            client.refused(answer, 404, "not-found")
            assert "ETag" not in answer.headers


def test_a_rematch_stays_in_its_world(carla: Client, dora: Client) -> None:
    table = _match(carla, dora, deal="first-steps")
    dora.post(f"{table.url}/resign", expect=200)
    again = carla.post(f"{table.url}/rematch", expect=201).get_json()
    assert (again["sandbox"], again["deal"]) == (True, "first-steps")
    assert again["game_id"] != table.game_id


def test_results_are_of_real_matches_alone(carla: Client, dora: Client, opened: Services) -> None:
    table = _match(carla, dora)
    dora.post(f"{table.url}/resign", expect=200)
    feed = Feed(opened.store.pool)
    while feed.sequence() != (0, 0):
        pass
    while opened.standings.step():
        pass
    profile = carla.get(f"/v1/players/{dora.player_id}", expect=200).get_json()
    assert profile["results"] == []


def test_its_record_is_exported_and_audited(carla: Client, dora: Client) -> None:
    table = _match(carla, dora, deal="first-steps")
    dora.post(f"{table.url}/resign", expect=200)
    headers = {"Accept": "application/x-ndjson"}
    export = carla.get(f"{table.url}/events", headers=headers, expect=200).get_data()
    jwks = carla.get("/.well-known/jwks.json", expect=200).get_json()
    report = check_export(export, jwks=jwks)
    assert report.sandbox
    assert all(check.ok for check in report.checks), report.checks
    audit = carla.get(f"{table.url}/audit", expect=200).get_json()
    assert audit["ok"] is True
