"""Replay: the game at any version, as it could be seen then."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from tests.api.client import Client
from tests.api.tables import Table


def _state(client: Client, table: Table, version: int, query: str = "") -> dict[str, Any]:
    answer = client.get(f"{table.url}/states/{version}", query=query, expect=200)
    shown: dict[str, Any] = answer.get_json()
    return shown


def _plain(game: dict[str, Any]) -> dict[str, Any]:
    """What does not depend on when it was asked for."""
    shown = dict(game)
    if "turn" in shown:
        shown["turn"] = {k: v for k, v in shown["turn"].items() if k != "remaining_ms"}
    return shown


@pytest.fixture
def seen(match: Table) -> list[dict[int | None, dict[str, Any]]]:
    """The whole match: after each move the game as each seat and a spectator see it."""
    nobody = Client(match.host.app)
    watched = []
    for _ in range(2000):
        views = {seat: match.game(client) for seat, client in match.clients.items()}
        watched.append({None: match.game(nobody), **views})
        if watched[-1][None]["status"] != "active":
            return watched
        if len(watched) > 12:
            match.host.post(f"{match.url}/resign", expect=200)
        else:
            match.mover().post(f"{match.url}/moves", match.choice(), expect=201)
    raise AssertionError("the match does not end")


def test_a_finished_match_can_be_seen_as_each_seat_saw_it(
    match: Table, nobody: Client, seen: list[dict[int | None, dict[str, Any]]]
) -> None:
    for views in seen:
        for seat in match.clients:
            version = views[seat]["version"]
            assert _plain(_state(nobody, match, version, f"seat={seat}")) == _plain(views[seat])


def test_every_hand_is_open_once_it_is_over(
    match: Table, nobody: Client, seen: list[dict[int | None, dict[str, Any]]]
) -> None:
    for views in seen:
        state = _state(nobody, match, views[None]["version"])
        for seat in match.clients:
            assert state["seats"][seat]["hand"] == views[seat]["you"]["hand"]
        assert state["head"] == views[None]["head"]
        assert "you" not in state
        if state["status"] == "active":
            assert "secret" not in state["shuffle"]
    mine = _state(match.clients[1], match, seen[0][None]["version"])
    assert mine["you"]["hand"] == mine["seats"][1]["hand"]


def test_while_it_runs_a_seat_sees_what_it_saw(match: Table, nobody: Client) -> None:
    watched = []
    for _ in range(4):
        watched.append({seat: match.game(client) for seat, client in match.clients.items()})
        match.mover().post(f"{match.url}/moves", match.choice(), expect=201)
    for views in watched:
        for seat, client in match.clients.items():
            version = views[seat]["version"]
            assert _plain(_state(client, match, version)) == _plain(views[seat])
            spectated = _state(nobody, match, version)
            assert "you" not in spectated
            assert all("hand" not in each for each in spectated["seats"])


def test_the_lobby_too(match: Table, nobody: Client) -> None:
    first = _state(nobody, match, 1)
    assert (first["status"], first["version"], first["seats"]) == ("lobby", 1, [])
    assert len(_state(nobody, match, 2)["seats"]) == 1


def test_versions_that_are_not_there(match: Table, nobody: Client) -> None:
    head = match.game()["version"]
    for version in (0, head + 1, 2**31, 10**9, "-1", "01", "x", "1.0", "1" * 40):
        nobody.refused(nobody.get(f"{match.url}/states/{version}"), 404, "not-found")
    missing = "/v1/games/01900000-0000-7000-8000-000000000000/states/1"
    nobody.refused(nobody.get(missing), 404, "not-found")


def test_another_seat_before_the_end(match: Table, nobody: Client) -> None:
    for query in ("seat=0", "seat=x", "seat=9"):
        for client in (nobody, match.clients[1]):
            answer = client.get(f"{match.url}/states/3", query=query)
            client.refused(answer, 403, "forbidden")


def test_seats_that_are_none(match: Table, nobody: Client) -> None:
    match.host.post(f"{match.url}/resign", expect=200)
    for query in ("seat=9", "seat=x", "seat=", "seat=3", "seat=0&seat=1", "sea=1"):
        nobody.refused(nobody.get(f"{match.url}/states/5", query=query), 422, "validation")
    # Seat 1 was not taken yet.
    nobody.refused(nobody.get(f"{match.url}/states/2", query="seat=1"), 422, "validation")


def test_a_private_match_stays_private(anna: Client, bert: Client, nobody: Client) -> None:
    table = Table.opened(anna, visibility="private")
    for client in (bert, nobody):
        client.refused(client.get(f"{table.url}/states/1"), 404, "not-found")
    anna.get(f"{table.url}/states/1", expect=200)


def test_it_has_a_tag_that_tells_the_views_apart(match: Table, nobody: Client) -> None:
    version = match.game()["version"]
    path = f"{match.url}/states/{version}"
    tags = {client.get(path).headers["ETag"] for client in (nobody, *match.clients.values())}
    assert len(tags) == 3
    tag = nobody.get(path).headers["ETag"]
    assert nobody.get(path, headers={"If-None-Match": tag}).status_code == 304
    match.host.post(f"{match.url}/resign", expect=200)
    assert nobody.get(path, headers={"If-None-Match": tag}).status_code == 200


def test_a_tag_says_no_more_than_what_it_is_of(match: Table, nobody: Client) -> None:
    """Tags are the version, or made of the very bytes that their reader has."""
    for _ in range(3):
        match.mover().post(f"{match.url}/moves", match.choice(), expect=201)
    version = match.game()["version"]
    for client in (nobody, *match.clients.values()):
        assert client.get(match.url).headers["ETag"] == f'"{version}"'
        assert client.get(f"{match.url}/events").headers["ETag"] == f'"{version}"'
        answer = client.get(f"{match.url}/states/{version}")
        digest = hashlib.sha256(answer.get_data()).hexdigest()
        assert answer.headers["ETag"] == f'"{digest[:32]}"'
