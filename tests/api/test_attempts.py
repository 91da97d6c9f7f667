"""Refused moves: which are kept, what they tell, and that they cost nobody anything."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from api.services import Services
from eventstore import attempts
from eventstore.executor import Executor
from eventstore.settings import ROOT
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch


def kept(client: Client, table: Table, **more: Any) -> list[dict[str, Any]]:
    answer = client.get(f"{table.url}/attempts", expect=200, **more)
    items: list[dict[str, Any]] = answer.get_json()["items"]
    return items


def refuse(table: Table, client: Client, **body: Any) -> dict[str, Any]:
    """A move that is refused; the problem."""
    answer = client.post(f"{table.url}/moves", body)
    assert answer.status_code in (409, 422), answer.get_data(as_text=True)
    problem: dict[str, Any] = answer.get_json()
    return problem


def test_a_refused_move_is_kept_as_it_was_sent(match: Table) -> None:
    client = match.other()
    seen = match.game(client)
    card = seen["you"]["hand"][0]
    body = {"type": "play", "card": card, "round": 1, "turn": 1, "call": "amen"}
    problem = refuse(match, client, **body)
    (attempt,) = kept(client, match)
    assert attempt == {
        "attempt_id": problem["attempt_id"],
        "seat": seen["you"]["seat"],
        "player_id": client.player_id,
        "at": attempt["at"],
        "version": seen["version"],
        "due_at": seen["turn"]["due_at"],
        "move": body,
        "code": "not-your-turn",
        "rule": problem["rule"],
        "detail": problem["detail"],
    }
    assert attempt["at"] < attempt["due_at"]
    assert match.game()["version"] == seen["version"]


def test_a_late_move_is_kept_with_the_deadline_that_it_missed(
    match: Table, scratch: Scratch
) -> None:
    client = match.mover()
    before = match.game(client)
    scratch.advance(100)
    problem = refuse(match, client, type="draw", round=1, turn=before["turn"]["number"])
    assert problem["code"] == "turn-expired"
    (attempt,) = kept(client, match)
    assert attempt["due_at"] == before["turn"]["due_at"] < attempt["at"]
    assert attempt["version"] == problem["version"] > before["version"]
    # The expiry is found in the record now, and tells the same of a move that comes later still.
    assert refuse(match, client, type="draw", round=1, turn=1)["code"] == "turn-expired"
    latest, _ = kept(client, match)
    assert latest["due_at"] == attempt["due_at"]


def test_which_refusals_are_kept(match: Table, nobody: Client) -> None:
    mover, other = match.mover(), match.other()
    refuse(match, other, type="draw")
    refuse(match, mover, type="keep")
    refuse(match, mover, type="draw", turn=7)
    assert [each["code"] for each in kept(other, match)] == ["not-your-turn"]
    assert [each["code"] for each in kept(mover, match)] == ["stale-turn", "illegal-move"]
    # No moves of theirs, no moves at all, or never judged.
    stranger = nobody.register("Carl")
    stranger.post(f"{match.url}/moves", {"type": "draw"}, expect=403)
    mover.post(f"{match.url}/moves", {"type": "play", "card": "Z-rose"}, expect=422)
    mover.post(f"{match.url}/moves", {"type": "fly"}, expect=422)
    mover.post(f"{match.url}/moves", {"type": "keep"}, query="dry_run=true", expect=422)
    headers = {"If-Match": '"1"'}
    mover.post(f"{match.url}/moves", {"type": "keep"}, headers=headers, expect=412)
    assert len(kept(mover, match)) == 2
    assert kept(stranger, match) == []
    match.host.post(f"{match.url}/resign", expect=200)
    assert refuse(match, match.clients[1], type="draw")["code"] == "game-not-active"
    assert kept(match.clients[1], match)[0]["code"] == "game-not-active"


def test_attempts_are_ones_own(match: Table, nobody: Client) -> None:
    refuse(match, match.other(), type="draw")
    assert kept(match.mover(), match) == []
    nobody.get(f"{match.url}/attempts", expect=401)
    for client in (match.mover(), nobody.register("Carl")):
        assert kept(client, match) == []


def test_pages_of_attempts(match: Table) -> None:
    client = match.other()
    for word in range(5):
        refuse(match, client, type="draw", turn=word + 2)
    first = client.get(f"{match.url}/attempts", query="limit=2", expect=200)
    cursor = first.get_json()["next_cursor"]
    assert f"cursor={cursor}" in first.headers["Link"]
    rest = kept(client, match, query=f"cursor={cursor}")
    turns = [each["move"]["turn"] for each in first.get_json()["items"] + rest]
    assert turns == [6, 5, 4, 3, 2]
    client.refused(client.get(f"{match.url}/attempts", query="cursor=x"), 422, "validation")


def test_the_oldest_of_a_seat_go(
    match: Table, monkeypatch: pytest.MonkeyPatch, scratch: Scratch
) -> None:
    monkeypatch.setattr(attempts, "_ADD", attempts._ADD.replace("OFFSET 99", "OFFSET 2"))
    mover, other = match.mover(), match.other()
    refuse(match, mover, type="keep")
    for turn in range(2, 8):
        refuse(match, other, type="draw", turn=turn)
    assert [each["move"]["turn"] for each in kept(other, match)] == [7, 6, 5]
    assert len(kept(mover, match)) == 1
    assert f"newest {attempts.MOST} of each seat" in (ROOT / "openapi.yaml").read_text("utf-8")


def test_old_attempts_are_forgotten(match: Table, opened: Services, scratch: Scratch) -> None:
    client = match.other()
    refuse(match, client, type="draw")
    opened.attempts.purge(1000)
    assert len(kept(client, match)) == 1
    scratch.advance(attempts.KEEP.total_seconds())
    refuse(match, match.mover(), type="draw", turn=99)
    opened.attempts.purge(1000)
    assert kept(client, match) == []
    assert scratch.execute("SELECT count(*) FROM attempts WHERE at < now()") == [(0,)]


def test_a_move_is_refused_all_the_same_when_that_cannot_be_kept(
    match: Table, scratch: Scratch, caplog: pytest.LogCaptureFixture
) -> None:
    scratch.execute("ALTER TABLE attempts RENAME TO mislaid")
    try:
        with caplog.at_level(logging.WARNING, "eventstore.attempts"):
            problem = refuse(match, match.other(), type="draw")
    finally:
        scratch.execute("ALTER TABLE mislaid RENAME TO attempts")
    assert problem["code"] == "not-your-turn"
    assert "attempt_id" not in problem
    (record,) = caplog.records
    assert match.game_id in record.getMessage()
    assert "42P01" in record.getMessage()


def test_a_refusal_costs_one_more_statement(
    match: Table, opened: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements: list[str] = []
    database = opened.store.database

    def counted(run: Any) -> Any:
        def statement(asked: Any, parameters: Any) -> Any:
            statements.append(getattr(asked, "name", asked))
            return run(asked, parameters)

        return statement

    for name in ("once", "ask"):
        monkeypatch.setattr(database, name, counted(getattr(database, name)))
    executor: Executor = opened.executor
    assert executor.attempts.database is database
    client = match.other()
    statements.clear()
    refuse(match, client, type="draw")
    assert sum("INTO attempts" in statement for statement in statements) == 1
    of_game = [s for s in statements if "token" not in s and "players" not in s]
    assert len(of_game) == 2, "the load, and the attempt"
    assert of_game[0] == "abbot_tail"
