"""The test clock: a sandbox game's time is its host's, and what comes due happens at its time."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from api import auth, clock
from api.services import Services
from domain.game import Game
from domain.times import to_micros
from eventstore import clocks
from eventstore.auditing import Auditor
from eventstore.verifying import check_export
from tests.api.client import Client
from tests.api.tables import Table

DAY = 24 * 3600


@pytest.fixture
def slow(carla: Client, dora: Client) -> Table:
    """A match of two in which a turn has 14 days."""
    return _match(carla, dora, turn_seconds=14 * DAY)


def _match(host: Client, *guests: Client, bots: tuple[str, ...] = (), **settings: Any) -> Table:
    settings = {"ruleset": "halleluja", "deal": "first-steps", **settings}
    table = Table.opened(host, **settings)
    for guest in guests:
        guest.post(f"{table.url}/seats", expect=201)
        table.clients[len(table.clients)] = guest
    for bot in bots:
        host.post(f"{table.url}/seats", {"bot": bot}, expect=201)
    table.start()
    return table


def _advance(table: Table, seconds: int, **more: Any) -> dict[str, Any]:
    body = {"advance_seconds": seconds}
    game: dict[str, Any] = table.host.post(
        f"{table.url}/clock", body, expect=200, **more
    ).get_json()
    return game


def _events(table: Table) -> list[dict[str, Any]]:
    headers = {"Accept": "application/x-ndjson"}
    lines = table.host.get(f"{table.url}/events", headers=headers, expect=200).get_data()
    return [json.loads(line) for line in lines.splitlines()][:-1]


def _types(table: Table) -> list[str]:
    return [event["type"] for event in _events(table)]


def _is_right(table: Table, opened: Services) -> None:
    """What is stored of the game, and what its players have of it."""
    audited = Auditor(opened.store.pool).game(table.game_id)
    assert audited is not None
    assert audited.wrong == []
    for client in table.clients.values():
        headers = {"Accept": "application/x-ndjson"}
        export = client.get(f"{table.url}/events", headers=headers, expect=200).get_data()
        report = check_export(export, jwks=client.get("/.well-known/jwks.json").get_json())
        assert report.ok, report.first_wrong


def test_fourteen_days_in_one_call(slow: Table, opened: Services) -> None:
    first = slow.game()
    late = slow.mover()
    move = slow.choice()
    left = first["turn"]["remaining_ms"]
    assert left > 14 * DAY * 1000
    game = _advance(slow, 14 * DAY + 10)
    assert (game["turn"]["number"], game["turn"]["seat"]) == (2, 1 - first["turn"]["seat"])
    assert game["clock"]["ahead_ms"] == (14 * DAY + 10) * 1000
    expired = next(event for event in _events(slow) if event["type"] == "turn.expired")
    due = first["turn"]["due_at"]
    assert expired["data"]["due_at"] == due
    assert 0 < to_micros(expired["at"]) - to_micros(due) < 3_600_000_000
    problem = late.refused(late.post(f"{slow.url}/moves", move), 409, "turn-expired")
    assert problem["rule"]
    _is_right(slow, opened)


def test_all_times_are_the_games(slow: Table, opened: Services) -> None:
    before = slow.game()
    after = _advance(slow, 10 * DAY)
    assert after["turn"]["due_at"] == before["turn"]["due_at"]
    moved = before["turn"]["remaining_ms"] - after["turn"]["remaining_ms"]
    assert 0 <= moved - 10 * DAY * 1000 < 3_600_000
    past = to_micros(after["clock"]["now"]) - to_micros(before["clock"]["now"])
    assert 0 <= past - 10 * DAY * 1_000_000 < 3_600_000_000
    seen = slow.game()
    assert seen["clock"]["ahead_ms"] == 10 * DAY * 1000
    left = to_micros(seen["turn"]["due_at"]) - to_micros(seen["clock"]["now"])
    assert seen["turn"]["remaining_ms"] == left // 1000
    (item,) = slow.host.get("/v1/games", query="mine=true", expect=200).get_json()["items"]
    assert item["turn"]["due_at"] == after["turn"]["due_at"]
    made = slow.mover().post(f"{slow.url}/moves", slow.choice(), expect=201).get_json()
    assert to_micros(made["events"][0]["at"]) >= to_micros(after["clock"]["now"])
    assert made["game"]["clock"]["now"] == made["events"][-1]["at"]
    _is_right(slow, opened)


def test_a_ticket_ends_in_real_time(slow: Table) -> None:
    real = slow.game()["clock"]["now"]
    _advance(slow, 10 * DAY)
    made = slow.host.post(f"{slow.url}/stream-tickets", expect=201).get_json()
    assert to_micros(made["expires_at"]) - to_micros(real) < DAY * 1_000_000


def test_what_comes_due_on_the_way_happens_at_its_time(
    carla: Client, dora: Client, opened: Services
) -> None:
    """Two turns each, then nobody is there any more, and the match is given up."""
    table = _match(carla, dora, turn_seconds=60)
    game = _advance(table, 14 * DAY)
    assert (game["status"], game["result"]["outcome"]) == ("abandoned", "abandoned")
    events = _events(table)
    expired = [event for event in events if event["type"] == "turn.expired"]
    assert len(expired) == 4
    for event in expired:
        late = to_micros(event["at"]) - to_micros(event["data"]["due_at"])
        assert 0 < late < 60_000_000
    # The clock stands where the match ended.
    assert game["clock"]["ahead_ms"] < 10 * 60 * 1000
    _is_right(table, opened)
    carla.refused(carla.post(f"{table.url}/clock", {"advance_seconds": 1}), 409, "game-not-active")


def test_a_short_way_lets_nothing_happen(carla: Client, dora: Client, opened: Services) -> None:
    table = _match(carla, dora, turn_seconds=300)
    before = _types(table)
    for seconds in (1, 100, 199):
        _advance(table, seconds)
    assert _types(table) == [*before, *["clock.advanced"] * 3]
    assert table.game()["clock"]["ahead_ms"] == 300_000
    # The first turn of a round has the pause besides.
    _advance(table, 10)
    assert "turn.expired" in _types(table)
    _is_right(table, opened)


def test_computer_players_move_meanwhile(carla: Client, opened: Services) -> None:
    table = _match(carla, bots=("random", "greedy"), turn_seconds=3600, ruleset="vallelujah")
    game = _advance(table, 60)
    assert game["turn"]["seat"] == 0
    mine = next(event for event in _events(table) if event["type"] == "round.dealt")
    moves = [event for event in _events(table) if event["by"]["kind"] == "bot"]
    assert bool(moves) == (mine["data"]["turn"]["seat"] != 0)
    table.host.post(f"{table.url}/moves", table.choice(), expect=201)
    game = _advance(table, 60)
    assert game["turn"]["seat"] == 0
    assert [event for event in _events(table) if event["by"]["kind"] == "bot"] != moves
    assert "turn.expired" not in _types(table)
    _is_right(table, opened)


def test_it_plays_the_same_again(carla: Client) -> None:
    def played(steps: tuple[int, ...]) -> list[Any]:
        table = _match(carla, bots=("random", "greedy"), turn_seconds=3600, ruleset="vallelujah")
        for _ in range(5):
            for seconds in steps:
                _advance(table, seconds)
            table.host.post(f"{table.url}/moves", table.choice(), expect=201)
        return [
            {name: e["data"].get(name) for name in ("seat", "units", "captured")}
            for e in _events(table)
            if e["type"].startswith(("battalion.", "arena."))
        ]

    first = played((20,))
    assert len(first) >= 10
    # However often the clock is moved.
    assert played((5, 5, 10)) == first


def test_one_call_settles_so_many_turns_at_most(
    carla: Client, dora: Client, opened: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert clocks.MOST_SETTLED == 100
    monkeypatch.setattr(clocks, "MOST_SETTLED", 10)
    table = _match(
        carla, dora, turn_seconds=3, ruleset="vallelujah",
        options={"away_after": 100, "rounds_to_win": 9},
    )  # fmt: skip
    headers = {"Idempotency-Key": "far"}
    game = _advance(table, 30 * DAY, headers=headers)
    assert game["status"] == "active"
    assert 0 < game["clock"]["ahead_ms"] < DAY * 1000
    assert 9 <= _types(table).count("turn.expired") <= 11
    # Sent again it goes on.
    again = _advance(table, 30 * DAY, headers=headers)
    assert again["version"] > game["version"]
    _is_right(table, opened)


def test_one_at_a_time(
    carla: Client, dora: Client, nobody: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, enough = threading.Event(), threading.Event()
    choose = clock.choose_move

    def thinks(game: Game, seat: int) -> dict[str, Any]:
        began.set()
        assert enough.wait(60)
        return choose(game, seat)

    def again(client: Client) -> Client:
        return Client(client.app, client.token, client.player_id)

    def by_a_bot(host: Client, deal: str) -> Table:
        """It is a computer player's turn."""
        table = _match(host, bots=("random",), turn_seconds=3600, ruleset="vallelujah", deal=deal)
        if table.game()["turn"]["seat"] == 0:
            host.post(f"{table.url}/moves", table.choice(), expect=201)
        return table

    table, other = by_a_bot(carla, "first-steps"), _match(dora, carla, turn_seconds=3600)
    own = _match(carla, dora, turn_seconds=3600)
    body = {"advance_seconds": 60}
    monkeypatch.setattr(clock, "choose_move", thinks)
    with ThreadPoolExecutor(1) as thread:
        first = thread.submit(again(carla).post, f"{table.url}/clock", body)
        try:
            assert began.wait(60)
            refused = carla.post(f"{own.url}/clock", body)
            carla.refused(refused, 429, "rate-limited")
            assert refused.headers["Retry-After"] == "1"
            assert own.game()["clock"]["ahead_ms"] == 0
            # Others are not kept waiting.
            _advance(other, 60)
        finally:
            enough.set()
        assert first.result().status_code == 200
    _advance(own, 60)


def test_the_same_request_moves_it_once(slow: Table) -> None:
    headers = {"Idempotency-Key": "once"}
    first = _advance(slow, 20 * DAY, headers=headers)
    later = slow.mover().post(f"{slow.url}/moves", slow.choice(), expect=201).get_json()["game"]
    again = _advance(slow, 20 * DAY, headers=headers)
    for game in (first, again):
        del game["turn"]["remaining_ms"], game["clock"]["now"]
    assert again == first
    assert slow.game()["version"] == later["version"]
    other = slow.host.post(f"{slow.url}/clock", {"advance_seconds": 1}, headers=headers)
    slow.host.refused(other, 422, "idempotency-key-reused")


def test_whose_it_is(slow: Table, dora: Client, anna: Client, nobody: Client) -> None:
    body = {"advance_seconds": 60}
    stranger = nobody.register("Eva", sandbox=True)
    for client in (dora, stranger):
        client.refused(client.post(f"{slow.url}/clock", body), 403, "forbidden")
    anna.refused(anna.post(f"{slow.url}/clock", body), 404, "not-found")
    token = slow.host.post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()["token"]
    reader = Client(slow.host.app, token)
    reader.refused(reader.post(f"{slow.url}/clock", body), 403, "forbidden")
    assert slow.game()["clock"]["ahead_ms"] == 0


def test_an_app_moves_it_for_its_player(app: Flask, opened: Services) -> None:
    key = auth.new_key()
    opened.apps.create("Tests", auth.token_hash(key), sandbox=True)
    clients = []
    for name in ("One", "Two"):
        made = Client(app, key).post("/v1/apps/me/players", {"name": name}, expect=201).get_json()
        clients.append(Client(app, key, made["player_id"], acts_for=made["player_id"]))
    table = _match(*clients, turn_seconds=14 * DAY)
    assert _advance(table, 15 * DAY)["turn"]["number"] == 2


def test_a_real_game_has_none(match: Table, opened: Services) -> None:
    for seconds in (1, DAY):
        answer = match.host.post(f"{match.url}/clock", {"advance_seconds": seconds})
        match.host.refused(answer, 403, "forbidden")
    assert "clock.advanced" not in _types(match)


def test_what_cannot_be_asked_for(slow: Table, carla: Client) -> None:
    for wrong in (0, -5, 1.5, "60", 30 * DAY + 1):
        answer = carla.post(f"{slow.url}/clock", {"advance_seconds": wrong})
        carla.refused(answer, 422, "validation")
    for body in ({}, {"advance_seconds": 5, "back": True}):
        carla.refused(carla.post(f"{slow.url}/clock", body), 422, "validation")
    body = {"advance_seconds": 60}
    failed = carla.post(f"{slow.url}/clock", body, headers={"If-Match": '"1"'})
    carla.refused(failed, 412, "precondition-failed")
    lobby = Table.opened(carla)
    carla.refused(carla.post(f"{lobby.url}/clock", body), 409, "game-not-active")
    assert slow.game()["clock"]["ahead_ms"] == 0


def test_it_goes_a_year_ahead_and_no_further(carla: Client, dora: Client, nobody: Client) -> None:
    eva = nobody.register("Eva", sandbox=True)
    table = _match(
        carla, dora, eva, turn_seconds=14 * DAY, ruleset="vallelujah", options={"away_after": 100}
    )
    for _ in range(12):
        _advance(table, 30 * DAY)
    problem = carla.refused(
        carla.post(f"{table.url}/clock", {"advance_seconds": 7 * DAY}), 422, "validation"
    )
    assert problem["errors"][0]["field"] == "advance_seconds"
    assert _advance(table, 6 * DAY)["clock"]["ahead_ms"] == 366 * DAY * 1000


def test_everyone_sees_it_move(slow: Table, dora: Client) -> None:
    version = slow.game()["version"]
    _advance(slow, 15 * DAY)
    items = dora.get(f"{slow.url}/events", query=f"after={version}").get_json()["items"]
    assert items[0]["type"] == "clock.advanced"
    assert items[0]["by"]["player_id"] == slow.host.player_id
    then = dora.get(f"{slow.url}/states/{version + 1}", expect=200).get_json()
    assert then["clock"]["ahead_ms"] == items[0]["data"]["ahead_ms"]
    before = dora.get(f"{slow.url}/states/{version}", expect=200).get_json()
    assert before["clock"]["ahead_ms"] == 0


def test_spectators_see_it_as_late_as_the_host_has_set(
    carla: Client, dora: Client, nobody: Client, opened: Services
) -> None:
    table = _match(carla, dora, turn_seconds=600, spectator_delay_seconds=300)
    eva = nobody.register("Eva", sandbox=True)
    table.mover().post(f"{table.url}/moves", table.choice(), expect=201)
    moved = table.game()["version"]
    assert table.game(eva)["version"] < moved
    # By the game's clock it is long ago then.
    _advance(table, 400)
    assert table.game(eva)["version"] > moved
    _is_right(table, opened)


def test_a_late_move_is_disputed_by_the_games_clock(slow: Table) -> None:
    late, move = slow.mover(), slow.choice()
    _advance(slow, 15 * DAY)
    attempt = late.refused(late.post(f"{slow.url}/moves", move), 409, "turn-expired")["attempt_id"]
    kept = late.get(f"{slow.url}/attempts", expect=200).get_json()["items"][0]
    assert kept["attempt_id"] == attempt
    assert to_micros(kept["at"]) > to_micros(kept["due_at"])
    body = {"attempt_id": attempt, "claim": "time", "statement": "I was in time."}
    finding = late.post(f"{slow.url}/disputes", body, expect=201).get_json()["finding"]
    assert finding["outcome"] == "dismissed"
