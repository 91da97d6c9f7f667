"""Who sees what: private tables, invites, and other seats' cards."""

from __future__ import annotations

import json

import pytest

from api.services import Services
from tests.api.client import Client
from tests.api.tables import Table


@pytest.fixture
def private(anna: Client) -> Table:
    return Table.opened(anna, visibility="private")


@pytest.fixture
def stranger(nobody: Client) -> Client:
    return nobody.register("Carl")


def test_a_private_table_does_not_exist_for_others(
    private: Table, stranger: Client, nobody: Client
) -> None:
    url = private.url
    missing = "/v1/games/01900000-0000-7000-8000-000000000000"
    for client in (stranger, nobody):
        for path in ("", "/events"):
            answer = client.get(f"{url}{path}")
            client.refused(answer, 404, "not-found")
            assert answer.get_data() == client.get(f"{missing}{path}").get_data()
            assert "ETag" not in answer.headers
    for method, path, body in (
        ("GET", "/legal-moves", None),
        ("PATCH", "", {"turn_seconds": 30}),
        ("PATCH", "", {"turn_seconds": -1}),
        ("POST", "/seats", None),
        ("POST", "/seats", {"bot": "random"}),
        ("PATCH", "/seats/me", {"ready": True}),
        ("DELETE", "/seats/me", None),
        ("DELETE", "/seats/0", None),
        ("POST", "/invites", None),
        ("DELETE", "/invites/abc", None),
        ("POST", "/start", None),
        ("POST", "/resign", None),
        ("POST", "/back", None),
        ("POST", "/rematch", None),
        ("POST", "/moves", {"type": "draw"}),
    ):
        answer = stranger.send(method, f"{url}{path}", body)
        stranger.refused(answer, 404, "not-found")
        answer = stranger.send(method, f"{url}{path}", body, headers={"If-Match": '"1"'})
        stranger.refused(answer, 404, "not-found")
    answer = stranger.post(f"{url}/moves", {"type": "draw"}, query="dry_run=true")
    stranger.refused(answer, 404, "not-found")


def test_an_invite_shows_the_table_and_opens_it(private: Table, stranger: Client) -> None:
    answer = private.host.post(f"{private.url}/invites", expect=201)
    invite = answer.get_json()
    assert invite["game_id"] == private.game_id
    path, _, query = answer.headers["Location"].partition("?")
    for client in (stranger, Client(stranger.app)):
        client.get(path, query=query, expect=200)
        client.get(f"{path}/events", query=query, expect=200)
        client.refused(client.get(path, query="invite=wrong"), 404, "not-found")
    for body in (None, {}, {"invite": "wrong"}):
        answer = stranger.post(f"{private.url}/seats", body)
        stranger.refused(answer, 404, "not-found")
    stranger.post(f"{private.url}/seats", {"invite": invite["code"]}, expect=201)
    stranger.get(private.url, expect=200)


def test_an_invite_is_revoked(private: Table, stranger: Client) -> None:
    host, url = private.host, private.url
    code = host.post(f"{url}/invites", expect=201).get_json()["code"]
    other = host.post(f"{url}/invites", expect=201).get_json()["code"]
    assert code != other
    stranger.refused(stranger.delete(f"{url}/invites/{code}"), 404, "not-found")
    host.delete(f"{url}/invites/{code}", expect=204)
    host.delete(f"{url}/invites/{code}", expect=204)
    host.refused(host.delete(f"{url}/invites/{code}x"), 404, "not-found")
    stranger.refused(stranger.get(url, query=f"invite={code}"), 404, "not-found")
    answer = stranger.post(f"{url}/seats", {"invite": code})
    stranger.refused(answer, 404, "not-found")
    stranger.get(url, query=f"invite={other}", expect=200)


def test_a_guest_invites_nobody(private: Table, stranger: Client) -> None:
    code = private.host.post(f"{private.url}/invites", expect=201).get_json()["code"]
    stranger.post(f"{private.url}/seats", {"invite": code}, expect=201)
    stranger.refused(stranger.post(f"{private.url}/invites"), 403, "forbidden")
    answer = stranger.delete(f"{private.url}/invites/{code}")
    stranger.refused(answer, 403, "forbidden")


@pytest.mark.parametrize("query", ["invite=", f"invite={'x' * 65}", "invite=a&invite=b"])
def test_invites_that_cannot_be(table: Table, query: str, nobody: Client) -> None:
    nobody.refused(nobody.get(table.url, query=query), 422, "validation")


def test_an_auditor_sees_private_tables(private: Table, stranger: Client, opened: Services) -> None:
    assert opened.players.change_scope(stranger.player_id, "audit", granted=True)
    made = stranger.post("/v1/me/tokens", {"scopes": ["read", "audit"]}, expect=201).get_json()
    auditor = Client(stranger.app, made["token"])
    seen = auditor.get(private.url, expect=200).get_json()
    assert "you" not in seen
    ids = [each["game_id"] for each in auditor.get("/v1/games").get_json()["items"]]
    assert private.game_id in ids


def test_lists_show_no_private_tables(private: Table, stranger: Client, nobody: Client) -> None:
    for client in (stranger, nobody):
        items = client.get("/v1/games", expect=200).get_json()["items"]
        assert private.game_id not in [each["game_id"] for each in items]
    items = private.host.get("/v1/games", expect=200).get_json()["items"]
    assert private.game_id in [each["game_id"] for each in items]


def test_spectators_see_open_cards_only(match: Table, nobody: Client) -> None:
    hands = {seat: match.game(client)["you"]["hand"] for seat, client in match.clients.items()}
    seen = nobody.get(match.url, expect=200).get_json()
    assert "you" not in seen
    assert [seat["hand_size"] for seat in seen["seats"]] == [5, 5]
    for client, own in ((nobody, []), (match.clients[0], hands[0]), (match.clients[1], hands[1])):
        hidden = {card for cards in hands.values() for card in cards} - set(own)
        for path in ("", "/events"):
            text = client.get(f"{match.url}{path}", expect=200).get_data(as_text=True)
            shown = [card for card in hidden if f'"{card}"' in text]
            assert shown == [], (path, shown)
            assert '"secret"' not in text
            assert '"salt"' not in text
            assert '"undealt"' not in text


def test_a_seat_sees_what_it_draws(match: Table, nobody: Client) -> None:
    client = match.other()
    body = {"type": "exclaim", "word": "mau"}
    made = client.post(f"{match.url}/moves", body, expect=201).get_json()
    drawn = made["events"][1]
    assert len(drawn["data"]["cards"]) == drawn["data"]["count"] == 3
    for other in (match.mover(), nobody):
        events = other.get(f"{match.url}/events", expect=200).get_json()["items"]
        assert "cards" not in events[-1]["data"]
        assert events[-1]["hash"] == drawn["hash"]


def test_everything_is_open_in_the_end(match: Table, nobody: Client) -> None:
    match.host.post(f"{match.url}/resign", expect=200)
    seen = nobody.get(match.url, expect=200).get_json()
    assert all(len(seat["hand"]) == seat["hand_size"] for seat in seen["seats"])
    assert "secret" in seen["shuffle"]
    events = nobody.get(f"{match.url}/events", expect=200).get_json()["items"]
    dealt = next(event for event in events if event["type"] == "round.dealt")
    assert set(dealt["data"]["hands"]) == {"0", "1"}
    assert dealt["data"]["undealt"]
    assert dealt["data"]["salt"]


def test_a_refusal_gives_no_card_away(match: Table) -> None:
    client = match.other()
    own = set(match.game(client)["you"]["hand"])
    others = set(match.game(match.mover())["you"]["hand"]) - own
    for card in sorted(others):
        answer = client.post(f"{match.url}/moves", {"type": "play", "card": card})
        problem = client.refused(answer, 409, "not-your-turn")
        text = json.dumps({**problem, "facts": problem.get("facts")})
        assert card not in text
