"""The history as pages and as lines."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from domain.canonical import canonical
from tests.api.client import Client
from tests.api.tables import Table

LINES = {"Accept": "application/x-ndjson"}


@pytest.fixture
def history(match: Table) -> list[dict[str, Any]]:
    """All events of a match that has gone on for a while, as a spectator sees them."""
    for _ in range(6):
        if match.game()["status"] == "active":
            match.mover().post(f"{match.url}/moves", match.choice(), expect=201)
    return _lines(Client(match.host.app), match)


def _lines(client: Client, table: Table, query: str = "") -> list[dict[str, Any]]:
    """The events; the signed head, which ends every export, is looked at elsewhere."""
    answer = client.get(f"{table.url}/events", headers=LINES, query=query, expect=200)
    assert answer.content_type == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.get_data().splitlines()]
    assert lines.pop()["type"] == "export.signed"
    return lines


def test_pages(match: Table, history: list[dict[str, Any]], nobody: Client) -> None:
    seen: list[dict[str, Any]] = []
    path, query = f"{match.url}/events", "limit=4"
    while path:
        answer = nobody.get(path, query=query, expect=200)
        page = answer.get_json()
        seen += page["items"]
        head = history[-1]
        assert page["head"] == {"version": head["version"], "hash": head["hash"]}
        link = answer.headers.get("Link", "")
        assert bool(link) is ("next_cursor" in page)
        path, _, query = link.partition(">")[0].lstrip("<").partition("?")
        if link:
            assert link.endswith('>; rel="next"')
            assert page["next_cursor"] == str(seen[-1]["version"])
    assert seen == history
    assert [event["version"] for event in seen] == list(range(1, len(seen) + 1))


def test_going_on(match: Table, history: list[dict[str, Any]], nobody: Client) -> None:
    url = f"{match.url}/events"
    assert nobody.get(url, query="after=3").get_json()["items"] == history[3:]
    assert nobody.get(url, query="after=3&limit=1").get_json()["items"] == history[3:4]
    assert _lines(nobody, match, "after=3") == history[3:]
    assert _lines(nobody, match, "after=3&limit=2") == history[3:5]
    for after in (len(history), len(history) + 1, 2**31 - 1):
        page = nobody.get(url, query=f"after={after}", expect=200).get_json()
        assert page["items"] == []
        assert "next_cursor" not in page
        assert _lines(nobody, match, f"after={after}") == []


@pytest.mark.parametrize(
    "query",
    ["after=-1", "after=x", "after=", "after=1.0", f"after={2**31}", "limit=0", "limit=1001",
     "cursor=1", "wait=31", "wait=-1", "wait=1.5", "wait="],
)  # fmt: skip
def test_parameters_that_cannot_be(table: Table, nobody: Client, query: str) -> None:
    nobody.refused(nobody.get(f"{table.url}/events", query=query), 422, "validation")


def test_lines_end_with_a_line_feed(match: Table) -> None:
    body = match.host.get(f"{match.url}/events", headers=LINES, expect=200).get_data()
    assert body.endswith(b"}\n")
    assert b"\r" not in body


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("application/x-ndjson", "application/x-ndjson"),
        ("application/json, application/x-ndjson;q=0.5", "application/json"),
        ("application/json;q=0.5, application/x-ndjson", "application/x-ndjson"),
        ("*/*", "application/json"),
        ("application/x-ndjson;q=0, */*", "application/json"),
    ],
)
def test_the_form_is_chosen_by_accept(table: Table, accept: str, media_type: str) -> None:
    answer = table.host.get(f"{table.url}/events", headers={"Accept": accept}, expect=200)
    assert answer.mimetype == media_type


def test_the_chain_can_be_checked_in_the_end(match: Table, nobody: Client) -> None:
    live = _lines(nobody, match)
    match.host.post(f"{match.url}/resign", expect=200)
    after = _lines(nobody, match)
    assert [event["hash"] for event in after][: len(live)] == [event["hash"] for event in live]
    before = "00" * 32
    for event in after:
        assert event.pop("prev_hash") == before
        own = event.pop("hash")
        assert hashlib.sha256(bytes.fromhex(before) + canonical(event)).hexdigest() == own
        before = own


def test_no_game_no_events(nobody: Client) -> None:
    missing = "/v1/games/01900000-0000-7000-8000-000000000000/events"
    nobody.refused(nobody.get(missing), 404, "not-found")
    nobody.refused(nobody.get(missing, headers=LINES), 404, "not-found")
