"""How much one client may ask for and hold: requests, streams, tables."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from api import addresses, rates
from api.allowances import Allowances
from api.app import create_app
from api.places import Places
from api.problems import Problem
from api.services import Services
from eventstore.settings import Settings, SettingsError
from tests.api.client import Client
from tests.api.tables import Table
from tests.workers.servers import free_port

Make = Callable[..., Flask]
PROXIED = {"trusted_proxies": addresses.networks("127.0.0.1, 10.0.0.0/8")}


@pytest.fixture
def make(opened: Services, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes applications with other allowances, on a clock that stands still within a window."""
    monkeypatch.setattr(rates, "now", lambda: 1_800_000_000.5)

    def make(**allowances: Any) -> Flask:
        return create_app(opened=opened, allowances=Allowances(**allowances))

    return make


def from_(address: str) -> dict[str, str]:
    return {"X-Forwarded-For": address}


def test_a_token_has_so_many_requests(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(make(requests_per_token=3)).register()
    for left in (2, 1, 0):
        answer = client.get("/v1/me", expect=200)
        assert answer.headers["RateLimit-Policy"] == '"token";q=3;w=60'
        assert answer.headers["RateLimit"] == f'"token";r={left};t=60'
    answer = client.get("/v1/me")
    problem = client.refused(answer, 429, "rate-limited")
    assert answer.headers["Retry-After"] == "60"
    assert answer.headers["RateLimit"] == '"token";r=0;t=60'
    assert "3 requests" in problem["detail"]
    # Another token, another quota; and in the next window all of it is there again.
    client.register().get("/v1/me", expect=200)
    monkeypatch.setattr(rates, "now", lambda: 1_800_000_060.5)
    client.get("/v1/me", expect=200)


def test_a_refused_request_does_nothing(make: Make) -> None:
    client = Client(make(requests_per_token=1)).register()
    client.get("/v1/me", expect=200)
    client.refused(client.post("/v1/games", {"ruleset": "halleluja"}), 429, "rate-limited")
    patient = Client(make(), client.token)
    assert patient.get("/v1/games", query="mine=true").get_json()["items"] == []


def test_an_address_has_so_many_requests(make: Make) -> None:
    nobody = Client(make(requests_per_address=2, **PROXIED))
    here, there = from_("192.0.2.1"), from_("192.0.2.2")
    nobody.get("/v1/rulesets", headers=here, expect=200)
    answer = nobody.get("/v1/nowhere", headers=here, expect=404)
    assert answer.headers["RateLimit"] == '"address";r=0;t=60'
    for path in ("/v1/rulesets", "/v1/nowhere", "/openapi.json"):
        answer = nobody.get(path, headers=here)
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "60")
    # With a token too, and with one that is not valid; but not elsewhere.
    for token in ("Bearer abbot_" + "0" * 43, "Bearer x"):
        assert nobody.get("/v1/me", headers={**here, "Authorization": token}).status_code == 429
    nobody.get("/v1/rulesets", headers=there, expect=200)
    # Nor does the operator's own watch depend on it, or a browser's preflight.
    nobody.get("/healthz", headers=here, expect=200)


@pytest.mark.parametrize("token", ["Bearer abbot_" + "0" * 43, "Bearer x", "Basic x"])
@pytest.mark.parametrize("path", ["/v1/me", "/v1/rulesets", "/openapi.json"])
def test_guessing_tokens_counts(make: Make, token: str, path: str) -> None:
    nobody = Client(make(requests_per_address=2, **PROXIED))
    headers = {**from_("192.0.2.1"), "Authorization": token}
    statuses = [nobody.get(path, headers=headers).status_code for _ in range(3)]
    assert statuses[0] == statuses[1] != 429
    assert statuses[2] == 429


def test_a_token_counts_for_its_address_too(make: Make) -> None:
    client = Client(make(requests_per_address=3, **PROXIED))
    headers = from_("192.0.2.1")
    token = client.post("/v1/players", {"name": "A"}, headers=headers).get_json()["token"]
    player = Client(client.app, token)
    answer = player.get("/v1/me", headers=headers, expect=200)
    assert answer.headers["RateLimit"] == '"address";r=1;t=60, "token";r=5999;t=60'
    assert answer.headers["RateLimit-Policy"] == '"address";q=3;w=60, "token";q=6000;w=60'


def test_registrations_of_an_address(make: Make) -> None:
    nobody = Client(make(registrations_per_address=2, **PROXIED))
    headers = from_("192.0.2.1")
    nobody.refused(nobody.post("/v1/players", {"name": ""}, headers=headers), 422, "validation")
    for _ in range(2):
        nobody.post("/v1/players", {"name": "A"}, headers=headers, expect=201)
    answer = nobody.post("/v1/players", {"name": "A"}, headers=headers)
    problem = nobody.refused(answer, 429, "rate-limited")
    assert "2 players" in problem["detail"]
    assert 0 < int(answer.headers["Retry-After"]) <= 3600
    nobody.get("/v1/rulesets", headers=headers, expect=200)


def test_no_limits_at_all(make: Make) -> None:
    app = make(requests_per_token=0, requests_per_address=0, registrations_per_address=0, **PROXIED)
    client = Client(app).register()
    answer = client.get("/v1/me", headers=from_("192.0.2.1"), expect=200)
    assert "RateLimit" not in answer.headers


@pytest.mark.parametrize("listens", [False, True])
def test_a_store_that_is_away_or_silent_stops_nobody(make: Make, listens: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        # It takes connections, and never says a word.
        port = silent.getsockname()[1] if listens else free_port()
        client = Client(make(requests_per_token=2, store=f"redis://127.0.0.1:{port}/0")).register()
        client.get("/v1/me", expect=200)
        client.get("/v1/me", expect=200)
        # Meanwhile the process counts by itself.
        client.refused(client.get("/v1/me"), 429, "rate-limited")


def test_quotas_are_kept_under_simultaneous_requests(make: Make) -> None:
    app = make(requests_per_token=20)
    token = Client(app).register().token
    with ThreadPoolExecutor(8) as threads:
        statuses = list(
            threads.map(lambda _: Client(app, token).get("/v1/me").status_code, range(40))
        )
    assert sorted(statuses) == [200] * 20 + [429] * 20


@pytest.mark.parametrize(
    ("peer", "forwarded", "trusted", "client"),
    [
        ("192.0.2.1", [], "", "192.0.2.1"),
        ("127.0.0.1", [], "", None),
        ("::1", [], "", None),
        ("", [], "", None),
        # Nobody's word is taken but a trusted proxy's, and only the last word.
        ("192.0.2.1", ["198.51.100.9"], "", "192.0.2.1"),
        ("127.0.0.1", ["198.51.100.9"], "", None),
        ("127.0.0.1", ["198.51.100.9"], "127.0.0.1", "198.51.100.9"),
        ("10.0.0.1", ["203.0.113.7, 198.51.100.9"], "10.0.0.0/8", "198.51.100.9"),
        ("10.0.0.1", ["203.0.113.7", "198.51.100.9"], "10.0.0.0/8", "198.51.100.9"),
        ("10.0.0.1", ["203.0.113.7, 198.51.100.9, 10.2.3.4"], "10.0.0.0/8", "198.51.100.9"),
        ("10.0.0.1", ["127.0.0.1, 198.51.100.9"], "10.0.0.0/8", "198.51.100.9"),
        ("10.0.0.1", ["198.51.100.9:4711"], "10.0.0.0/8", "198.51.100.9"),
        ("10.0.0.1", ["nonsense"], "10.0.0.0/8", "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.0/8", "10.0.0.1"),
        ("10.0.0.1", ["1.2.3.4," * 5000], "10.0.0.0/8", "10.0.0.1"),
        # A whole network is one client in IPv6.
        ("2001:db8:1:2:3:4:5:6", [], "", "2001:db8:1:2::/64"),
        ("2001:db8::1", ["[2001:db8:9::7]:443"], "2001:db8::/64", "2001:db8:9::/64"),
        ("::ffff:192.0.2.1", [], "", "192.0.2.1"),
    ],
)  # fmt: skip
def test_where_a_request_comes_from(
    peer: str, forwarded: list[str], trusted: str, client: str | None
) -> None:
    assert addresses.client(peer, forwarded, addresses.networks(trusted)) == client


def test_settings_of_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABBOT_DATABASE_URL", "postgresql://x")
    monkeypatch.setenv("ABBOT_TRUSTED_PROXIES", "10.0.0.0/8, 192.0.2.1")
    monkeypatch.setenv("ABBOT_REQUESTS_PER_TOKEN", "7")
    allowances = Allowances.of(Settings.from_env())
    assert allowances == Allowances(
        requests_per_token=7, trusted_proxies=addresses.networks("10.0.0.0/8,192.0.2.1")
    )
    for name, value in (
        ("ABBOT_TRUSTED_PROXIES", "10.0.0.1/8"),
        ("ABBOT_TRUSTED_PROXIES", "proxy.example.org"),
        ("ABBOT_LIMITS_URL", "file:///x"),
        ("ABBOT_REQUESTS_PER_ADDRESS", "-1"),
    ):
        with monkeypatch.context() as context:
            context.setenv(name, value)
            with pytest.raises(SettingsError, match=name):
                Settings.from_env()


def test_places_of_an_address() -> None:
    places = Places(10, 1, 2)
    give_back = places.take(None, address="192.0.2.1", stream=True)
    places.take(None, address="192.0.2.1")
    with pytest.raises(Problem) as refused:
        places.take(None, address="192.0.2.1")
    assert (refused.value.code, refused.value.headers) == ("rate-limited", {"Retry-After": "5"})
    # Neither a player at that address, nor another address, nor this machine.
    places.take("player", address="192.0.2.1")
    places.take(None, address="192.0.2.2")
    places.take(None)
    give_back()
    give_back()
    places.take(None, address="192.0.2.1")
    places.take(None)
    assert (places.taken, places.streams) == (6, 0)
    with pytest.raises(Problem) as full:
        places.take(None, address="192.0.2.3")
    assert full.value.code == "unavailable"


# --- tables ---------------------------------------------------------------------------------------


def open_table(client: Client, **more: Any) -> Any:
    return client.post("/v1/games", {"ruleset": "halleluja"}, **more)


def test_a_player_has_so_many_lobbies(make: Make) -> None:
    client = Client(make(lobbies_per_player=2)).register()
    urls = []
    for n in range(2):
        opened_ = open_table(client, headers={"Idempotency-Key": f"key-{n}"}, expect=201)
        urls.append(opened_.headers["Location"])
    answer = open_table(client)
    problem = client.refused(answer, 429, "rate-limited")
    assert "host of 2 tables" in problem["detail"]
    assert answer.headers["Retry-After"] == "60"
    # What was done is told again.
    again = open_table(client, headers={"Idempotency-Key": "key-1"}, expect=201)
    assert again.headers["Location"] == urls[1]
    client.delete(f"{urls[0]}/seats/me", expect=200)
    open_table(client, expect=201)


def test_a_player_has_so_many_games(make: Make, opened: Services) -> None:
    app = make(games_per_player=2)
    host = Client(create_app(opened=opened)).register()
    guest = Client(app).register()
    tables = [Table.opened(host) for _ in range(3)]
    keyed = {"Idempotency-Key": "sit"}
    for table in tables[:2]:
        guest.post(f"{table.url}/seats", headers=keyed if table is tables[1] else {}, expect=201)
        table.clients[1] = guest
    guest.refused(guest.post(f"{tables[2].url}/seats"), 429, "rate-limited")
    guest.refused(open_table(guest), 429, "rate-limited")
    guest.post(f"{tables[1].url}/seats", headers=keyed, expect=201)
    # A game that is over leaves room, and its rematch takes it.
    tables[0].start()
    guest.post(f"{tables[0].url}/resign", expect=200)
    guest.post(f"{tables[0].url}/rematch", expect=201)
    guest.post(f"{tables[0].url}/rematch", expect=200)
    guest.refused(guest.post(f"{tables[2].url}/seats"), 429, "rate-limited")
    # Computer players, and other players, are not counted for the one who asks.
    host.post(f"{tables[2].url}/seats", {"bot": "random"}, expect=201)


def test_tables_asked_for_at_once(make: Make) -> None:
    app = make(lobbies_per_player=3)
    token = Client(app).register().token
    with ThreadPoolExecutor(6) as threads:
        statuses = list(
            threads.map(lambda _: open_table(Client(app, token)).status_code, range(12))
        )
    assert set(statuses) <= {201, 429}
    assert statuses.count(201) <= 3
    listed = Client(app, token).get("/v1/games", query="mine=true").get_json()["items"]
    assert len(listed) == statuses.count(201)


def test_the_browser_may_read_what_is_left(anna: Client) -> None:
    answer = anna.get("/v1/me", headers={"Origin": "https://app.example.org"}, expect=200)
    exposed = re.split(", *", answer.headers["Access-Control-Expose-Headers"])
    assert {"RateLimit", "RateLimit-Policy", "Retry-After"} <= set(exposed)
