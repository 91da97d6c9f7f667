"""Many requests at the same instant, on a real database."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from werkzeug.test import TestResponse

from tests.api.client import Client
from tests.api.tables import Table


def _at_once(actions: list[Callable[[], TestResponse]]) -> list[TestResponse]:
    barrier = threading.Barrier(len(actions))

    def run(action: Callable[[], TestResponse]) -> TestResponse:
        barrier.wait()
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(run, actions))


def _again(client: Client) -> Client:
    """The same player in another thread."""
    return Client(client.app, client.token, client.player_id)


def _refused(answer: TestResponse) -> tuple[int, str]:
    assert answer.status_code in (409, 422)
    return answer.status_code, answer.get_json()["code"]


def test_one_move_many_times(match: Table) -> None:
    mover, move = match.mover(), match.choice()
    before = match.game()["version"]
    clients = [_again(mover) for _ in range(16)]
    answers = _at_once([lambda one=one: one.post(f"{match.url}/moves", move) for one in clients])
    made = [answer for answer in answers if answer.status_code == 201]
    assert len(made) == 1
    # Who is late is told what whoever comes afterwards is told: the next turn may be his too.
    late = _refused(mover.post(f"{match.url}/moves", move))
    refused = [answer for answer in answers if answer not in made]
    assert {_refused(answer) for answer in refused} == {late}
    assert match.game()["version"] == before + len(made[0].get_json()["events"])


def test_one_move_many_times_under_one_key(match: Table) -> None:
    mover, move = match.mover(), match.choice()
    headers = {"Idempotency-Key": "race"}
    clients = [_again(mover) for _ in range(16)]
    answers = _at_once(
        [lambda one=one: one.post(f"{match.url}/moves", move, headers=headers) for one in clients]
    )
    assert {answer.status_code for answer in answers} == {201}
    bodies = [answer.get_json() for answer in answers]
    for body in bodies:
        body["game"].get("turn", {}).pop("remaining_ms", None)
    assert all(body == bodies[0] for body in bodies)


def test_one_table_under_one_key(anna: Client) -> None:
    headers = {"Idempotency-Key": "open"}
    clients = [_again(anna) for _ in range(8)]
    body = {"ruleset": "halleluja"}
    answers = _at_once(
        [lambda one=one: one.post("/v1/games", body, headers=headers) for one in clients]
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.get_json()["game_id"] for answer in answers}) == 1
    assert len(anna.get("/v1/games", query="mine=true").get_json()["items"]) == 1


def test_the_last_seat(table: Table, nobody: Client) -> None:
    table.host.post(f"{table.url}/seats", {"bot": "random"}, expect=201)
    guests = [nobody.register(f"Guest {number}") for number in range(20)]
    answers = _at_once([lambda guest=guest: guest.post(f"{table.url}/seats") for guest in guests])
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [201] + [409] * 19
    assert {answer.get_json().get("code") for answer in answers} == {None, "table-full"}
    assert len(table.game()["seats"]) == 4


def test_one_rematch(match: Table) -> None:
    match.host.post(f"{match.url}/resign", expect=200)
    clients = [_again(match.clients[number % 2]) for number in range(8)]
    answers = _at_once([lambda one=one: one.post(f"{match.url}/rematch") for one in clients])
    assert {answer.status_code for answer in answers} <= {200, 201}
    assert len({answer.get_json()["game_id"] for answer in answers}) == 1
    new = match.host.get(f"/v1/games/{answers[0].get_json()['game_id']}").get_json()
    assert sorted(seat["seat"] for seat in new["seats"]) == [0, 1]
