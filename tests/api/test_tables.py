"""Tables in the lobby: opening, joining, settings, leaving, the start."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.tables import Table


def test_a_table_is_opened(anna: Client) -> None:
    answer = anna.post("/v1/games", {"ruleset": "halleluja"}, expect=201)
    game = answer.get_json()
    assert answer.headers["Location"] == f"/v1/games/{game['game_id']}"
    assert answer.headers["ETag"] == '"2"'
    assert game["status"] == "lobby"
    assert game["version"] == game["head"]["version"] == 2
    assert (game["turn_seconds"], game["max_seats"], game["visibility"]) == (60, 4, "public")
    assert game["host"] == 0
    assert game["seats"] == [
        {
            "seat": 0,
            "player": {"player_id": anna.player_id, "name": "Anna"},
            "status": "ready",
        }
    ]
    assert game["you"] == {"seat": 0}
    assert set(game["shuffle"]) == {"commitment"}
    assert game["options"]["rounds_to_win"] == 1
    assert not {"round", "turn", "table", "result", "rematch"} & set(game)
    assert anna.get(answer.headers["Location"], expect=200).get_json() == game


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"ruleset": "poker"}, "ruleset"),
        ({"ruleset": 1}, "ruleset"),
        ({"turn_seconds": 2}, "turn_seconds"),
        ({"turn_seconds": 14 * 86400 + 1}, "turn_seconds"),
        ({"max_seats": 1}, "max_seats"),
        ({"max_seats": 5}, "max_seats"),
        ({"max_seats": 7, "ruleset": "vallelujah"}, "max_seats"),
        ({"visibility": "secret"}, "visibility"),
        ({"options": []}, "options"),
        ({"options": {"fly": True}}, "options.fly"),
        ({"options": {"lead_all": True}}, "options.lead_all"),
        ({"options": {"mitre_wild": True}, "ruleset": "vallelujah"}, "options.mitre_wild"),
        ({"options": {"rounds_to_win": 0}}, "options.rounds_to_win"),
        ({"options": {"rounds_to_win": 10}}, "options.rounds_to_win"),
        ({"options": {"away_after": 101}}, "options.away_after"),
        ({"options": {"pause_seconds": 61}}, "options.pause_seconds"),
        ({"seats": 3}, "seats"),
    ],
)
def test_tables_that_cannot_be(anna: Client, settings: dict[str, Any], field: str) -> None:
    answer = anna.post("/v1/games", {"ruleset": "halleluja", **settings})
    problem = anna.refused(answer, 422, "validation")
    assert [each["field"] for each in problem["errors"]] == [field]


def test_a_ruleset_is_needed(anna: Client) -> None:
    problem = anna.refused(anna.post("/v1/games", {}), 422, "validation")
    assert [each["field"] for each in problem["errors"]] == ["ruleset"]


def test_joining(table: Table, bert: Client, anna: Client) -> None:
    game = table.game(bert)
    assert game["you"] == {"seat": 1}
    assert [seat["status"] for seat in game["seats"]] == ["ready", "ready"]
    bert.refused(bert.post(f"{table.url}/seats"), 409, "already-seated")
    for seat in (2, 3):
        answer = anna.register(f"Guest {seat}").post(f"{table.url}/seats", expect=201)
        assert answer.get_json()["you"]["seat"] == seat
        assert answer.headers["Location"] == table.url
    late = anna.register("Late")
    problem = late.refused(late.post(f"{table.url}/seats"), 409, "table-full")
    assert problem["version"] == 5


def test_seeds(table: Table, bert: Client) -> None:
    for seed in ("", "5", "5E", "xx", "0x5e", "5e" * 33, 5, "5e ", "\uff15e"):
        answer = bert.patch(f"{table.url}/seats/me", {"client_seed": seed})
        bert.refused(answer, 422, "validation")
    first = bert.patch(f"{table.url}/seats/me", {"client_seed": "5e" * 32}, expect=200)
    again = bert.patch(f"{table.url}/seats/me", {"client_seed": "5e" * 32}, expect=200)
    assert first.get_json() == again.get_json()
    events = bert.get(f"{table.url}/events").get_json()["items"]
    assert [event["type"] for event in events][-1] == "seat.seeded"


def test_bots(table: Table, anna: Client, bert: Client) -> None:
    answer = anna.post(f"{table.url}/seats", {"bot": "random"}, expect=201)
    assert answer.get_json()["seats"][2] == {"seat": 2, "bot": "random", "status": "ready"}
    bert.refused(bert.post(f"{table.url}/seats", {"bot": "random"}), 403, "forbidden")
    for body in ({"bot": "human"}, {"bot": None}, {"bot": "random", "client_seed": "5e"}):
        anna.refused(anna.post(f"{table.url}/seats", body), 422, "validation")


def test_the_host_changes_the_table(table: Table, anna: Client, bert: Client) -> None:
    change = {"turn_seconds": 30, "options": {"mitre_wild": True}}
    game = anna.patch(table.url, change, expect=200).get_json()
    assert game["turn_seconds"] == 30
    assert game["options"]["mitre_wild"] is True
    assert game["options"]["rounds_to_win"] == 1
    assert [seat["status"] for seat in game["seats"]] == ["ready", "seated"]
    version = game["version"]
    assert anna.patch(table.url, change, expect=200).get_json()["version"] == version
    problem = anna.refused(anna.post(f"{table.url}/start"), 409, "not-ready")
    assert problem["facts"] == {"waiting": [1]}
    bert.patch(f"{table.url}/seats/me", {"ready": True}, expect=200)
    bert.patch(f"{table.url}/seats/me", {"ready": True}, expect=200)
    anna.post(f"{table.url}/start", expect=200)
    anna.refused(anna.patch(table.url, {"turn_seconds": 40}), 409, "not-in-lobby")


def test_nobody_becomes_unready(table: Table, bert: Client) -> None:
    bert.refused(bert.patch(f"{table.url}/seats/me", {"ready": False}), 422, "validation")


def test_a_table_cannot_shrink_below_its_seats(table: Table, anna: Client) -> None:
    anna.post(f"{table.url}/seats", {"bot": "random"}, expect=201)
    problem = anna.refused(anna.patch(table.url, {"max_seats": 2}), 422, "validation")
    assert [each["field"] for each in problem["errors"]] == ["max_seats"]


def test_only_the_host_changes_the_table(table: Table, bert: Client) -> None:
    bert.refused(bert.patch(table.url, {"turn_seconds": 30}), 403, "forbidden")
    bert.refused(bert.post(f"{table.url}/start"), 403, "forbidden")
    bert.refused(bert.delete(f"{table.url}/seats/0"), 403, "forbidden")
    bert.refused(bert.post(f"{table.url}/invites"), 403, "forbidden")


def test_a_host_who_leaves_hands_the_table_on(table: Table, anna: Client, bert: Client) -> None:
    game = anna.delete(f"{table.url}/seats/me", expect=200).get_json()
    assert game["host"] == 1
    assert "you" not in game
    again = anna.delete(f"{table.url}/seats/me", expect=200).get_json()
    assert again["version"] == game["version"]
    game = bert.delete(f"{table.url}/seats/me", expect=200).get_json()
    assert game["status"] == "cancelled"
    assert game["result"] == {"outcome": "cancelled", "reason": "empty"}
    assert "host" not in game or game["seats"] == []
    bert.refused(bert.post(f"{table.url}/seats"), 409, "not-in-lobby")


def test_who_is_removed_stays_out(table: Table, anna: Client, bert: Client) -> None:
    game = anna.delete(f"{table.url}/seats/1", expect=200).get_json()
    assert len(game["seats"]) == 1
    bert.refused(bert.post(f"{table.url}/seats"), 403, "forbidden")
    bert.refused(bert.post(f"{table.url}/seats", {"client_seed": "no"}), 403, "forbidden")
    again = anna.delete(f"{table.url}/seats/1", expect=200).get_json()
    assert again["version"] == game["version"]


def test_the_start_needs_enough_seats(anna: Client) -> None:
    table = Table.opened(anna)
    problem = anna.refused(anna.post(f"{table.url}/start"), 409, "not-enough-seats")
    assert problem["facts"] == {"seats": 1, "least": 2}
    assert problem["version"] == 2


def test_the_start(table: Table, anna: Client, bert: Client) -> None:
    game = anna.post(f"{table.url}/start", expect=200).get_json()
    assert game["status"] == "active"
    assert game["round"]["number"] == game["turn"]["number"] == 1
    assert 60_000 < game["turn"]["remaining_ms"] <= 65_000
    assert len(game["you"]["hand"]) == 5
    assert [seat["hand_size"] for seat in game["seats"]] == [5, 5]
    assert game["table"]["draw_pile"] == 21
    again = anna.post(f"{table.url}/start", expect=200).get_json()
    assert again["version"] == game["version"]
    bert.refused(bert.delete(f"{table.url}/seats/me"), 409, "not-in-lobby")
    bert.refused(bert.post(f"{table.url}/seats"), 409, "not-in-lobby")


@pytest.mark.parametrize("body", [{"now": True}, {"": 1}])
def test_the_start_takes_nothing(table: Table, anna: Client, body: dict[str, Any]) -> None:
    for action in ("start", "resign", "back", "rematch", "invites"):
        anna.refused(anna.post(f"{table.url}/{action}", body), 422, "validation")


def test_an_empty_body_is_an_empty_object(table: Table, anna: Client) -> None:
    anna.post(f"{table.url}/start", data="", content_type="text/plain", expect=200)
    anna.post(f"{table.url}/start", {}, expect=200)


def test_rulesets(nobody: Client) -> None:
    rulesets = nobody.get("/v1/rulesets", expect=200).get_json()["items"]
    assert [each["ruleset"] for each in rulesets] == ["halleluja", "vallelujah"]
    for each in rulesets:
        assert nobody.get(f"/v1/rulesets/{each['ruleset']}", expect=200).get_json() == each
        assert len(set(each["cards"])) == len(each["cards"])
        assert all(rule["wording"] and rule["source"] for rule in each["rules"])
    nobody.refused(nobody.get("/v1/rulesets/poker"), 404, "not-found")
