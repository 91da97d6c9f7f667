"""Idempotency-Key: the same request gets the same answer, and is carried out once."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.api.client import Client
from tests.api.tables import Table


def _same(first: TestResponse, second: TestResponse) -> None:
    assert first.status_code == second.status_code
    for name in ("ETag", "Location", "Content-Type", "Cache-Control", "Vary"):
        assert first.headers.get(name) == second.headers.get(name)
    assert _timeless(first.get_json()) == _timeless(second.get_json())


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(inner) for key, inner in value.items() if key != "remaining_ms"}
    if isinstance(value, list):
        return [_timeless(inner) for inner in value]
    return value


def _twice(client: Client, path: str, body: Any = None, *, key: str = "k-1") -> TestResponse:
    headers = {"Idempotency-Key": key}
    first = client.post(path, body, headers=headers)
    assert first.status_code < 300, first.get_data(as_text=True)
    _same(first, client.post(path, body, headers=headers))
    return first


def test_a_move(match: Table) -> None:
    client, move = match.mover(), match.choice()
    headers = {"Idempotency-Key": "a move"}
    client.refused(
        client.post(f"{match.url}/moves", move, headers=headers), 400, "malformed-request"
    )
    headers = {"Idempotency-Key": "a-move"}
    first = client.post(f"{match.url}/moves", move, headers=headers, expect=201)
    _same(first, client.post(f"{match.url}/moves", move, headers=headers))
    for _ in range(3):
        match.mover().post(f"{match.url}/moves", match.choice(), expect=201)
    version = match.game()["version"]
    _same(first, client.post(f"{match.url}/moves", move, headers=headers))
    assert match.game()["version"] == version


def test_the_order_of_names_does_not_matter(match: Table) -> None:
    client, move = match.mover(), match.choice()
    headers = {"Idempotency-Key": "order"}
    first = client.post(f"{match.url}/moves", move, headers=headers, expect=201)
    turned = dict(reversed(list(move.items())))
    _same(first, client.post(f"{match.url}/moves", turned, headers=headers))


def test_the_last_move_of_a_match(match: Table) -> None:
    client, move = match.mover(), None
    while match.game()["status"] == "active":
        client, move = match.mover(), match.choice()
        first = client.post(
            f"{match.url}/moves", move, headers={"Idempotency-Key": f"{match.game()['version']}"}
        )
        key = str(first.get_json()["events"][0]["version"] - 1)
    assert "secret" in first.get_json()["game"]["shuffle"]
    match.host.post(f"{match.url}/rematch", expect=201)
    _same(first, client.post(f"{match.url}/moves", move, headers={"Idempotency-Key": key}))


def test_every_change(anna: Client, bert: Client) -> None:
    opened = _twice(anna, "/v1/games", {"ruleset": "halleluja"})
    game_id = opened.get_json()["game_id"]
    table = Table(f"/v1/games/{game_id}", game_id, {0: anna, 1: bert})
    _twice(bert, f"{table.url}/seats", {"client_seed": "5e"})
    _twice(anna, f"{table.url}/seats", {"bot": "random"}, key="k-2")
    invite = _twice(anna, f"{table.url}/invites", key="k-3")
    assert invite.status_code == 201
    _twice(anna, f"{table.url}/start", key="k-4")
    _twice(anna, f"{table.url}/start", {}, key="k-5")
    _twice(anna, f"{table.url}/back", key="k-6")
    _twice(bert, f"{table.url}/resign", key="k-7")
    _twice(bert, f"{table.url}/resign", key="k-8")
    _twice(anna, f"{table.url}/resign", key="k-9")
    again = _twice(bert, f"{table.url}/rematch", key="k-10")
    _twice(bert, f"{table.url}/rematch", key="k-11")
    new_url = again.headers["Location"]
    _twice(anna, f"{table.url}/rematch", key="k-12")
    assert table.game()["rematch"] == again.get_json()["game_id"]
    assert anna.get(new_url, expect=200).get_json()["version"] == 3


def test_what_was_so_already_stays_answered(match: Table, bert: Client) -> None:
    headers = {"Idempotency-Key": "back-1"}
    first = bert.post(f"{match.url}/back", headers=headers, expect=200)
    match.mover().post(f"{match.url}/moves", match.choice(), expect=201)
    _same(first, bert.post(f"{match.url}/back", headers=headers))


@pytest.mark.parametrize("elsewhere", ["body", "path", "game", "creation"])
def test_a_key_is_for_one_request(match: Table, elsewhere: str) -> None:
    client, move = match.mover(), match.choice()
    headers = {"Idempotency-Key": "once"}
    client.post(f"{match.url}/moves", move, headers=headers, expect=201)
    other = Table.opened(client)
    path, body = {
        "body": (f"{match.url}/moves", {"type": "draw"}),
        "path": (f"{match.url}/back", None),
        "game": (f"{other.url}/start", None),
        "creation": ("/v1/games", {"ruleset": "halleluja"}),
    }[elsewhere]
    answer = client.post(path, body, headers=headers)
    client.refused(answer, 422, "idempotency-key-reused")


def test_a_key_is_for_one_token(anna: Client, bert: Client) -> None:
    headers = {"Idempotency-Key": "shared"}
    body = {"ruleset": "halleluja"}
    first = anna.post("/v1/games", body, headers=headers, expect=201).get_json()
    second = bert.post("/v1/games", body, headers=headers, expect=201).get_json()
    assert first["game_id"] != second["game_id"]


def test_a_refusal_is_not_kept(match: Table) -> None:
    headers = {"Idempotency-Key": "early"}
    late = match.other()
    seat = match.game(late)["you"]["seat"]
    answer = late.post(f"{match.url}/moves", {"type": "draw"}, headers=headers)
    late.refused(answer, 409, "not-your-turn")
    while match.game()["status"] == "active" and match.game()["turn"]["seat"] != seat:
        match.mover().post(f"{match.url}/moves", match.choice(), expect=201)
    if match.game()["status"] == "active":
        late.post(f"{match.url}/moves", match.choice(), headers=headers, expect=201)


def test_a_repeat_minds_no_condition(match: Table) -> None:
    client, move = match.mover(), match.choice()
    headers = {"Idempotency-Key": "cond", "If-Match": f'"{match.game()["version"]}"'}
    first = client.post(f"{match.url}/moves", move, headers=headers, expect=201)
    _same(first, client.post(f"{match.url}/moves", move, headers=headers))


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "ä", "a\tb"])
def test_keys_that_cannot_be(table: Table, key: str) -> None:
    answer = table.host.post(f"{table.url}/start", headers={"Idempotency-Key": key})
    table.host.refused(answer, 400, "malformed-request")


@pytest.mark.parametrize("key", ["x" * 255, '"quoted"', "a:b/c", "0"])
def test_keys_that_can(table: Table, key: str) -> None:
    table.host.post(f"{table.url}/start", headers={"Idempotency-Key": key}, expect=200)


def test_players_and_tokens_are_made_each_time(nobody: Client) -> None:
    headers = {"Idempotency-Key": "again"}
    first = nobody.post("/v1/players", {"name": "A"}, headers=headers, expect=201).get_json()
    second = nobody.post("/v1/players", {"name": "A"}, headers=headers, expect=201).get_json()
    assert first["player_id"] != second["player_id"]
