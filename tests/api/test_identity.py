"""Players, names and tokens."""

from __future__ import annotations

import re
import unicodedata

import pytest

from api import auth, me
from api.services import Services
from eventstore.feed import Feed
from eventstore.ids import uuid7
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch


def test_a_player_registers(nobody: Client) -> None:
    answer = nobody.post("/v1/players", {"name": "Anselm"}, expect=201)
    player = answer.get_json()
    assert player["name"] == "Anselm"
    assert player["scopes"] == ["play", "read"]
    assert re.fullmatch(r"abbot_[0-9A-Za-z]{43}", player["token"])
    assert player["player_id"][14] == "7"
    assert answer.headers["Location"] == "/v1/me"
    assert "no-store" in answer.headers["Cache-Control"]
    me = Client(nobody.app, player["token"]).get("/v1/me", expect=200).get_json()
    assert me == {key: value for key, value in player.items() if key != "token"}


def test_names_need_not_be_unique(nobody: Client) -> None:
    first, second = nobody.register("Anselm"), nobody.register("Anselm")
    assert first.player_id != second.player_id


@pytest.mark.parametrize(
    "name",
    [
        "A",
        "Брат Ансельм",
        "アンセルム",
        "أنسلم",
        "Anselm 👩‍🚀",
        "क्‍ष",
        "O'Neil <b>&amp;</b>",
        "🂡",
        "x" * 64,
        "null",
    ],
)
def test_names_that_people_have(nobody: Client, name: str) -> None:
    player = nobody.post("/v1/players", {"name": name}, expect=201).get_json()
    assert player["name"] == unicodedata.normalize("NFC", name)


def test_names_are_normalised(nobody: Client) -> None:
    name = "A\u0308" * 64
    player = nobody.post("/v1/players", {"name": f"  {name} "}, expect=201).get_json()
    assert player["name"] == "Ä" * 64


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "\u3000",
        "x" * 65,
        "a\tb",
        "a\nb",
        "a\u0000b",
        "a\u007fb",
        "a\u0085b",
        "a\u202eb",
        "\u2066a",
        "a\u200fb",
        "a\u2028b",
        "\ufeffa",
        "a\u00adb",
        "\u200d",
        "\u3164",
        "\u2800",
        "\u0301",
        "\ue000a",
        "\uffffa",
        "a\U000e0041",
    ],
)
def test_names_that_deceive(nobody: Client, name: str) -> None:
    problem = nobody.refused(nobody.post("/v1/players", {"name": name}), 422, "validation")
    assert [each["field"] for each in problem["errors"]] == ["name"]


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        "Bearer abbot_",
        f"Bearer abbot_{'0' * 43}",
        f"Bearer abbot_{'0' * 43} x",
        "Basic YTpi",
        "abbot_x",
        f"Token abbot_{'0' * 43}",
        "Bearer abbot_\u00e4",
        f"Bearer {'x' * 5000}",
    ],
)
def test_tokens_that_are_not_valid(nobody: Client, header: str) -> None:
    for path in ("/v1/me", "/v1/rulesets", "/v1/games"):
        answer = nobody.get(path, headers={"Authorization": header})
        nobody.refused(answer, 401, "unauthenticated")
        challenge = answer.headers["WWW-Authenticate"]
        assert challenge == 'Bearer realm="abbot", error="invalid_token"'


def test_two_tokens_are_no_token(anna: Client) -> None:
    answer = anna.flask.get(
        "/v1/me",
        headers=[("Authorization", f"Bearer {anna.token}")] * 2,
    )
    assert answer.status_code == 401


def test_no_token(nobody: Client) -> None:
    answer = nobody.get("/v1/me")
    nobody.refused(answer, 401, "unauthenticated")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="abbot"'
    nobody.refused(nobody.post("/v1/games", {"ruleset": "halleluja"}), 401, "unauthenticated")


def test_the_scheme_is_not_case_sensitive(anna: Client) -> None:
    anna.get("/v1/me", headers={"Authorization": f"bearer {anna.token}"}, expect=200)


def test_a_token_in_the_query_is_refused_and_not_told_back(anna: Client) -> None:
    answer = anna.get("/v1/me", query=f"access_token={anna.token}")
    anna.refused(answer, 422, "validation")
    assert str(anna.token) not in answer.get_data(as_text=True)


def test_registering_looks_at_no_token(nobody: Client) -> None:
    headers = {"Authorization": "Bearer stale"}
    nobody.post("/v1/players", {"name": "A"}, headers=headers, expect=201)


def test_tokens_are_made_listed_and_revoked(anna: Client) -> None:
    made = anna.post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()
    assert made["scopes"] == ["read"]
    listed = anna.get("/v1/me/tokens", expect=200).get_json()["items"]
    assert [each["scopes"] for each in listed] == [["read"], ["play", "read"]]
    assert all("token" not in each for each in listed)
    reader = Client(anna.app, made["token"])
    assert reader.get("/v1/me", expect=200).get_json()["player_id"] == anna.player_id
    anna.delete(f"/v1/me/tokens/{made['token_id']}", expect=204)
    reader.refused(reader.get("/v1/me"), 401, "unauthenticated")
    anna.delete(f"/v1/me/tokens/{made['token_id']}", expect=204)
    assert len(anna.get("/v1/me/tokens").get_json()["items"]) == 1


def test_a_token_can_revoke_itself(anna: Client) -> None:
    token_id = anna.get("/v1/me").get_json()["token_id"]
    anna.delete(f"/v1/me/tokens/{token_id}", expect=204)
    anna.refused(anna.get("/v1/me"), 401, "unauthenticated")


def test_nobody_revokes_anothers_token(anna: Client, bert: Client) -> None:
    token_id = anna.get("/v1/me").get_json()["token_id"]
    bert.refused(bert.delete(f"/v1/me/tokens/{token_id}"), 404, "not-found")
    anna.get("/v1/me", expect=200)


def test_a_token_has_the_scopes_of_the_one_that_asks(anna: Client) -> None:
    for body in (None, {}):
        made = anna.post("/v1/me/tokens", body, expect=201).get_json()
        assert made["scopes"] == ["play", "read"]


@pytest.mark.parametrize("scope", ["audit", "admin"])
def test_nobody_gives_more_than_they_have(anna: Client, scope: str) -> None:
    anna.refused(anna.post("/v1/me/tokens", {"scopes": [scope]}), 403, "forbidden")


@pytest.mark.parametrize("scopes", [[], ["fly"], "play", [1], None, ["play"] * 9])
def test_scopes_that_do_not_exist(anna: Client, scopes: object) -> None:
    anna.refused(anna.post("/v1/me/tokens", {"scopes": scopes}), 422, "validation")


def test_tokens_come_in_pages(anna: Client) -> None:
    for _ in range(4):
        anna.post("/v1/me/tokens", expect=201)
    seen, query = [], "limit=2"
    while query:
        answer = anna.get("/v1/me/tokens", query=query, expect=200)
        page = answer.get_json()
        seen += [each["token_id"] for each in page["items"]]
        query = f"limit=2&cursor={page['next_cursor']}" if "next_cursor" in page else ""
        assert ("Link" in answer.headers) is bool(query)
    assert len(set(seen)) == len(seen) == 5


def test_a_token_that_reads_changes_nothing(anna: Client, bert: Client, table: Table) -> None:
    made = anna.post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()
    reader = Client(anna.app, made["token"])
    token_id = made["token_id"]
    before = table.game()["version"]
    code = anna.post(f"{table.url}/invites", expect=201).get_json()["code"]
    for method, path, body in (
        ("POST", "/v1/games", {"ruleset": "halleluja"}),
        ("POST", "/v1/me/tokens", None),
        ("DELETE", f"/v1/me/tokens/{token_id}", None),
        ("PATCH", table.url, {"turn_seconds": 30}),
        ("POST", f"{table.url}/seats", {"bot": "random"}),
        ("PATCH", f"{table.url}/seats/me", {"ready": True}),
        ("DELETE", f"{table.url}/seats/me", None),
        ("DELETE", f"{table.url}/seats/1", None),
        ("POST", f"{table.url}/invites", None),
        ("DELETE", f"{table.url}/invites/{code}", None),
        ("POST", f"{table.url}/start", None),
        ("POST", f"{table.url}/resign", None),
        ("POST", f"{table.url}/back", None),
        ("POST", f"{table.url}/rematch", None),
        ("POST", f"{table.url}/moves", {"type": "draw"}),
    ):
        reader.refused(reader.send(method, path, body), 403, "forbidden")
    answer = reader.post(f"{table.url}/moves", {"type": "draw"}, query="dry_run=true")
    reader.refused(answer, 403, "forbidden")
    assert table.game()["version"] == before
    assert reader.get(table.url, expect=200).get_json()["you"] == {"seat": 0}
    reader.get(f"{table.url}/legal-moves", expect=200)


def test_a_token_ends_by_itself(anna: Client, scratch: Scratch) -> None:
    made = anna.post("/v1/me/tokens", {"expires_in": 3600}, expect=201).get_json()
    short = Client(anna.app, made["token"])
    assert short.get("/v1/me", expect=200).get_json()["expires_at"] == made["expires_at"]
    listed = anna.get("/v1/me/tokens", expect=200).get_json()["items"]
    assert [each.get("expires_at") for each in listed] == [made["expires_at"], None]
    # What it makes itself ends with it.
    for body in (None, {"expires_in": 7200}):
        child = short.post("/v1/me/tokens", body, expect=201).get_json()
        assert child["expires_at"] == made["expires_at"]
    sooner = short.post("/v1/me/tokens", {"expires_in": 60}, expect=201).get_json()
    assert sooner["expires_at"] < made["expires_at"]
    scratch.execute("UPDATE tokens SET expires_at = now() WHERE token_id = %s", (made["token_id"],))
    short.refused(short.get("/v1/me"), 401, "unauthenticated")
    assert len(anna.get("/v1/me/tokens").get_json()["items"]) == 4


@pytest.mark.parametrize("seconds", [0, -1, 1.5, "60", True, 366 * 24 * 3600 + 1])
def test_times_that_no_token_has(anna: Client, seconds: object) -> None:
    anna.refused(anna.post("/v1/me/tokens", {"expires_in": seconds}), 422, "validation")


def test_a_player_has_so_many_tokens(anna: Client, opened: Services) -> None:
    asking = anna.get("/v1/me").get_json()["token_id"]
    for _ in range(me.MOST_TOKENS - 1):
        issued = opened.players.issue(
            anna.player_id, auth.token_hash(auth.new_token()), ["read"], by=asking
        )
        assert issued is not None
    answer = anna.post("/v1/me/tokens")
    anna.refused(answer, 429, "rate-limited")
    assert answer.headers["Retry-After"] == "60"
    anna.delete(f"/v1/me/tokens/{issued.token_id}", expect=204)
    anna.post("/v1/me/tokens", expect=201)


def test_tokens_are_stored_hashed(anna: Client, scratch: Scratch, opened: Services) -> None:
    assert anna.token is not None
    assert opened.players.lookup(auth.token_hash(anna.token)) is not None
    rows = scratch.execute("SELECT tokens::text FROM tokens")
    assert rows
    assert all(anna.token not in str(row) for row in rows)


def test_tokens_are_all_different() -> None:
    assert len({auth.new_token() for _ in range(100)}) == 100


def test_a_players_results_are_for_everyone(
    anna: Client, bert: Client, nobody: Client, table: Table, opened: Services
) -> None:
    url = f"/v1/players/{anna.player_id}"
    before = nobody.get(url, expect=200)
    assert before.get_json() == {"player_id": anna.player_id, "name": "Anna", "results": []}
    table.start()
    bert.post(f"{table.url}/resign", expect=200)
    while Feed(opened.store.pool).sequence() != (0, 0):
        pass
    while opened.standings.step():
        pass
    answer = nobody.get(url, expect=200)
    counts = {"played": 1, "won": 1, "drawn": 0, "lost": 0, "resigned": 0, "abandoned": 0}
    assert answer.get_json()["results"] == [{"ruleset": "halleluja", **counts}]
    (lost,) = anna.get(f"/v1/players/{bert.player_id}").get_json()["results"]
    assert (lost["played"], lost["resigned"], lost["lost"]) == (1, 1, 0)
    assert answer.headers["ETag"] != before.headers["ETag"]
    nobody.get(url, headers={"If-None-Match": answer.headers["ETag"]}, expect=304)
    nobody.get(url.replace(url[-12:], url[-12:].upper()), expect=200)


def test_nobody_has_no_results(nobody: Client, anna: Client) -> None:
    for player in (uuid7(), "x", str(anna.player_id)[:-1]):
        nobody.refused(nobody.get(f"/v1/players/{player}"), 404, "not-found")
    nobody.refused(nobody.get(f"/v1/players/{anna.player_id}?x=1"), 422, "validation")
