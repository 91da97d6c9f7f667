"""Moves over HTTP: made, judged, refused, late."""

from __future__ import annotations

from typing import Any

import pytest

from domain.registry import RULESETS
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch

CARDS = RULESETS["halleluja"].cards


def test_a_move(match: Table) -> None:
    client, move = match.mover(), match.choice()
    before = match.game(client)
    answer = client.post(f"{match.url}/moves", move, expect=201)
    made = answer.get_json()
    versions = [event["version"] for event in made["events"]]
    assert versions == list(range(before["version"] + 1, made["game"]["version"] + 1))
    assert answer.headers["ETag"] == f'"{made["game"]["version"]}"'
    path, _, query = answer.headers["Location"].partition("?")
    assert client.get(path, query=query, expect=200).get_json()["items"] == made["events"]
    now = match.game(client)
    for game in (now, made["game"]):
        game["turn"].pop("remaining_ms")
    assert made["game"] == now
    first = made["events"][0]
    assert first["by"] == {
        "kind": "player",
        "seat": before["you"]["seat"],
        "player_id": client.player_id,
    }


def test_legal_moves_are_listed_for_the_seat_to_move(match: Table) -> None:
    mover, other = match.mover(), match.other()
    listed = mover.get(f"{match.url}/legal-moves", expect=200)
    wordings = {rule.id: rule.wording for rule in RULESETS["halleluja"].rules}
    assert listed.headers["ETag"] == f'"{listed.get_json()["version"]}"'
    assert listed.get_json()["legal_moves"] == match.game(mover)["you"]["legal_moves"]
    for entry in listed.get_json()["legal_moves"]:
        assert (entry["move"]["round"], entry["move"]["turn"]) == (1, 1)
        answer = mover.post(f"{match.url}/moves", entry["move"], query="dry_run=true", expect=200)
        judged = answer.get_json()
        assert judged["legal"] is True
        assert judged["rules"] == entry["rules"]
        assert judged["rule"] == entry["rules"][0]
        assert judged["wording"] == wordings[judged["rule"]]
        assert judged["detail"]
        assert judged["facts"].get("card") == entry["move"].get("card")
    assert other.get(f"{match.url}/legal-moves").get_json()["legal_moves"] == []


def test_a_dry_run_changes_nothing(match: Table) -> None:
    client = match.mover()
    before = client.get(f"{match.url}/events").get_json()
    body = match.choice()
    key = {"Idempotency-Key": "dry-1"}
    client.post(f"{match.url}/moves", body, query="dry_run=true", headers=key, expect=200)
    assert client.get(f"{match.url}/events").get_json() == before
    client.post(f"{match.url}/moves", body, query="dry_run=false", headers=key, expect=201)


def _illegal(match: Table, client: Client) -> dict[str, Any]:
    hand = match.game(client)["you"]["hand"]
    return {"type": "play", "card": next(card for card in CARDS if card not in hand)}


@pytest.mark.parametrize("query", ["", "dry_run=true"])
def test_an_illegal_move(match: Table, query: str) -> None:
    client = match.mover()
    answer = client.post(f"{match.url}/moves", _illegal(match, client), query=query)
    problem = client.refused(answer, 422, "illegal-move")
    assert problem["type"] == "/problems/illegal-move"
    wordings = {rule.id: rule.wording for rule in RULESETS["halleluja"].rules}
    assert problem["wording"] == wordings[problem["rule"]]
    assert problem["detail"]
    game = match.game(client)
    assert problem["legal_moves"] == game["you"]["legal_moves"]
    assert problem["version"] == game["version"]


@pytest.mark.parametrize("query", ["", "dry_run=true"])
def test_not_your_turn(match: Table, query: str) -> None:
    client = match.other()
    answer = client.post(f"{match.url}/moves", {"type": "draw"}, query=query)
    problem = client.refused(answer, 409, "not-your-turn")
    assert problem["rule"] == "table.turn-order"
    assert problem["legal_moves"] == []
    assert problem["version"] == match.game()["version"]


@pytest.mark.parametrize("query", ["", "dry_run=true"])
def test_a_stale_turn(match: Table, query: str) -> None:
    client, move = match.mover(), match.choice()
    for change in ({"turn": 2}, {"round": 2}, {"turn": 999_999}):
        answer = client.post(f"{match.url}/moves", {**move, **change}, query=query)
        problem = client.refused(answer, 409, "stale-turn")
        assert problem["rule"] == "table.turn-named"


def test_the_same_move_again(match: Table) -> None:
    client, move = match.mover(), match.choice()
    client.post(f"{match.url}/moves", move, expect=201)
    answer = client.post(f"{match.url}/moves", move)
    # After a drawn card that fits the turn goes on, and to draw again in it is not legal.
    refusals = (409, 422) if move["type"] == "draw" else (409,)
    assert answer.status_code in refusals


@pytest.mark.parametrize(
    "move",
    [
        {},
        {"type": None},
        {"type": "fly"},
        {"type": "play"},
        {"type": "play", "card": "Z-rose"},
        {"type": "play", "card": ["A-rose"]},
        {"type": "play", "card": "A-rose", "wish": "oak"},
        {"type": "play", "card": "A-rose", "call": "hurrah"},
        {"type": "draw", "card": "A-rose"},
        {"type": "exclaim", "word": "amen"},
        {"type": "lead", "units": ["crimson-9"]},
        {"type": "draw", "round": "1"},
        {"type": "draw", "turn": 0},
        {"type": "draw", "turn": 1.5},
        {"type": "draw", "seat": 0},
        {"type": "draw\u0000"},
    ],
)
def test_what_is_no_move(match: Table, move: dict[str, Any]) -> None:
    client = match.mover()
    problem = client.refused(client.post(f"{match.url}/moves", move), 422, "validation")
    assert problem["errors"]


@pytest.mark.parametrize("units", [None, "crimson-9", [], [9], ["x"], ["crimson-9"] * 60, {}])
def test_what_are_no_units(anna: Client, bert: Client, units: object) -> None:
    table = Table.opened(anna, "vallelujah")
    bert.post(f"{table.url}/seats", expect=201)
    table.clients[1] = bert
    table.start()
    client = table.mover()
    move = {"type": "lead", "units": units}
    client.refused(client.post(f"{table.url}/moves", move), 422, "validation")


def test_a_body_is_needed(match: Table) -> None:
    client = match.mover()
    client.refused(client.post(f"{match.url}/moves"), 400, "malformed-json")


def test_before_the_start_and_after_the_end(table: Table, anna: Client, bert: Client) -> None:
    url = table.url
    problem = anna.refused(anna.post(f"{url}/moves", {"type": "draw"}), 409, "game-not-active")
    assert problem["rule"] == "table.over"
    assert problem["legal_moves"] == []
    assert problem["facts"] == {"status": "lobby"}
    for action in ("resign", "back"):
        anna.refused(anna.post(f"{url}/{action}"), 409, "game-not-active")
    anna.refused(anna.post(f"{url}/rematch"), 409, "game-not-over")
    table.start()
    anna.post(f"{url}/resign", expect=200)
    bert.refused(bert.post(f"{url}/moves", {"type": "draw"}), 409, "game-not-active")
    assert bert.get(f"{url}/legal-moves").get_json()["legal_moves"] == []


def test_strangers_do_not_play(match: Table, nobody: Client) -> None:
    stranger = nobody.register("Carl")
    for method, path in (
        ("GET", "legal-moves"),
        ("POST", "resign"),
        ("POST", "back"),
        ("POST", "rematch"),
        ("POST", "start"),
    ):
        stranger.refused(stranger.send(method, f"{match.url}/{path}"), 403, "forbidden")
    answer = stranger.post(f"{match.url}/moves", {"type": "draw"})
    stranger.refused(answer, 403, "forbidden")
    nobody.refused(nobody.get(f"{match.url}/legal-moves"), 401, "unauthenticated")


def test_resigning(anna: Client, bert: Client) -> None:
    table = Table.opened(anna)
    bert.post(f"{table.url}/seats", expect=201)
    table.clients[1] = bert
    carl = anna.register("Carl")
    carl.post(f"{table.url}/seats", expect=201)
    table.clients[2] = carl
    table.start()
    game = bert.post(f"{table.url}/resign", expect=200).get_json()
    assert game["seats"][1]["status"] == "resigned"
    again = bert.post(f"{table.url}/resign", expect=200).get_json()
    assert again["version"] == game["version"]
    answer = bert.post(f"{table.url}/moves", {"type": "fly"})
    problem = bert.refused(answer, 403, "forbidden")
    assert problem["rule"] == "table.resigning"
    assert bert.get(f"{table.url}/legal-moves", expect=200).get_json()["legal_moves"] == []
    game = carl.post(f"{table.url}/resign", expect=200).get_json()
    assert game["result"]["winner"] == 0
    assert game["result"]["reason"] == "resignations"


def test_an_exclamation_at_any_time(match: Table) -> None:
    client = match.other()
    move = {"type": "exclaim", "word": "mau"}
    judged = client.post(f"{match.url}/moves", move, query="dry_run=true", expect=200).get_json()
    assert judged["legal"] is True
    assert judged["rules"]
    before = match.game(client)
    made = client.post(f"{match.url}/moves", move, expect=201).get_json()
    assert [event["type"] for event in made["events"]] == ["word.exclaimed", "cards.drawn"]
    assert len(made["game"]["you"]["hand"]) == 8
    assert made["game"]["turn"]["number"] == before["turn"]["number"]


@pytest.mark.parametrize("query", ["", "dry_run=true"])
def test_a_late_move(match: Table, scratch: Scratch, query: str) -> None:
    client, move = match.mover(), match.choice()
    seat = match.game(client)["you"]["seat"]
    scratch.advance(100)
    seen = match.game(client)
    assert seen["turn"]["remaining_ms"] == 0
    answer = client.post(f"{match.url}/moves", move, query=query)
    problem = client.refused(answer, 409, "turn-expired")
    assert problem["rule"] == "table.turn-timer"
    types = [event["type"] for event in client.get(f"{match.url}/events").get_json()["items"]]
    assert ("turn.expired" in types) is (query == "")
    again = client.post(f"{match.url}/moves", move)
    client.refused(again, 409, "turn-expired")
    types = [event["type"] for event in client.get(f"{match.url}/events").get_json()["items"]]
    assert types.count("turn.expired") == 1
    assert match.game()["turn"]["seat"] in (0, 1)
    assert seat in (0, 1)


def test_a_late_move_that_names_no_turn(match: Table, scratch: Scratch) -> None:
    client, move = match.mover(), match.choice()
    del move["round"], move["turn"]
    scratch.advance(100)
    answer = client.post(f"{match.url}/moves", move)
    client.refused(answer, 409, "turn-expired")


def test_a_late_move_that_names_no_turn_after_the_expiry(
    anna: Client, bert: Client, scratch: Scratch
) -> None:
    """The answer is the same when somebody else found the expiry before the move came."""
    table = Table.opened(anna, "vallelujah")  # where a turn always passes to the other seat
    bert.post(f"{table.url}/seats", expect=201)
    table.clients[1] = bert
    table.start()
    client, other, move = table.mover(), table.other(), table.choice()
    del move["round"], move["turn"]
    scratch.advance(100)
    other.post(f"{table.url}/back", expect=200)
    assert table.mover() is other
    client.refused(client.post(f"{table.url}/moves", move), 409, "turn-expired")


def test_a_dry_run_foretells_nothing(match: Table, scratch: Scratch) -> None:
    """What the automatic pick of an overdue turn will be is not told before it is recorded."""
    mover, other = match.mover(), match.other()
    before = match.game(other)
    scratch.advance(100)
    for client, code in ((mover, "turn-expired"), (other, "not-your-turn")):
        answer = client.post(f"{match.url}/moves", match.choice(), query="dry_run=true")
        problem = client.refused(answer, 409, code)
        assert problem["version"] == before["version"]
    assert match.game(other)["version"] == before["version"]


def test_away_and_back(anna: Client, bert: Client, scratch: Scratch) -> None:
    table = Table.opened(anna, options={"away_after": 1})
    bert.post(f"{table.url}/seats", expect=201)
    table.clients[1] = bert
    table.start()
    client = table.mover()
    seat = table.game(client)["you"]["seat"]
    scratch.advance(100)
    client.refused(client.post(f"{table.url}/moves", table.choice()), 409, "turn-expired")
    assert table.game()["seats"][seat]["status"] == "away"
    game = client.post(f"{table.url}/back", expect=200).get_json()
    assert game["seats"][seat]["status"] == "active"
    again = client.post(f"{table.url}/back", expect=200).get_json()
    assert again["version"] == game["version"]
