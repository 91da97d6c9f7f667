"""Lists of tables and games."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.tables import Table


def _ids(client: Client, query: str) -> list[str]:
    items = client.get("/v1/games", query=query, expect=200).get_json()["items"]
    return [item["game_id"] for item in items]


def test_an_item(match: Table, anna: Client) -> None:
    item = anna.get("/v1/games", query="mine=true", expect=200).get_json()["items"][0]
    game = match.game()
    for name in ("game_id", "ruleset", "ruleset_version", "status", "version", "visibility",
                 "options", "turn_seconds", "max_seats", "host"):  # fmt: skip
        assert item[name] == game[name]
    assert item["turn"] == {"seat": game["turn"]["seat"], "due_at": game["turn"]["due_at"]}
    assert [seat["player"] for seat in item["seats"]] == [seat["player"] for seat in game["seats"]]
    assert [seat["status"] for seat in item["seats"]] == ["active", "active"]


def test_filters(anna: Client, match: Table) -> None:
    other = Table.opened(anna, "vallelujah")
    assert _ids(anna, "mine=true") == [other.game_id, match.game_id]
    assert _ids(anna, "mine=true&status=lobby") == [other.game_id]
    assert _ids(anna, "mine=true&status=active") == [match.game_id]
    assert _ids(anna, "mine=true&ruleset=vallelujah") == [other.game_id]
    assert _ids(anna, "mine=true&ruleset=halleluja&status=lobby") == []
    assert match.game_id in _ids(anna, "mine=false&status=active")


def test_my_turn(match: Table) -> None:
    mover, other = match.mover(), match.other()
    assert _ids(mover, "turn=me") == [match.game_id]
    assert _ids(other, "turn=me") == []


def test_what_is_mine_needs_a_token(nobody: Client) -> None:
    for query in ("mine=true", "turn=me"):
        nobody.refused(nobody.get("/v1/games", query=query), 401, "unauthenticated")
    nobody.get("/v1/games", query="mine=false", expect=200)


def test_pages(anna: Client) -> None:
    made = [Table.opened(anna).game_id for _ in range(5)]
    seen: list[str] = []
    path, query = "/v1/games", "mine=true&limit=2"
    while path:
        answer = anna.get(path, query=query, expect=200)
        page: dict[str, Any] = answer.get_json()
        seen += [item["game_id"] for item in page["items"]]
        assert len(page["items"]) <= 2
        link = answer.headers.get("Link", "")
        assert bool(link) is ("next_cursor" in page)
        path, _, query = link.partition(">")[0].lstrip("<").partition("?")
        Table.opened(anna)  # a page does not shift when games are opened meanwhile
    assert seen == made[::-1]


@pytest.mark.parametrize(
    "query",
    [
        "cursor=",
        "cursor=x",
        "cursor=%00",
        "cursor=%C3%A4",
        f"cursor={'A' * 22}",
        f"cursor={'A' * 23}",
        f"cursor={'A' * 5000}",
        "cursor=01900000-0000-7000-8000-000000000000",
        "cursor=AZAAAAAAcACAAAAAAAAAAB",
        "status=open",
        "status=",
        "ruleset=poker",
        "turn=1",
        "turn=",
        "limit=101",
    ],
)
def test_parameters_that_cannot_be(nobody: Client, query: str) -> None:
    nobody.refused(nobody.get("/v1/games", query=query), 422, "validation")


def test_a_rematch_is_shown(match: Table, anna: Client, bert: Client) -> None:
    anna.post(f"{match.url}/resign", expect=200)
    plain = anna.get(match.url).headers["ETag"]
    answer = anna.post(f"{match.url}/rematch", expect=201)
    new = answer.get_json()
    assert new["status"] == "lobby"
    assert new["you"] == {"seat": 0}
    assert answer.headers["Location"] == f"/v1/games/{new['game_id']}"
    joined = bert.post(f"{match.url}/rematch", expect=201).get_json()
    assert joined["game_id"] == new["game_id"]
    assert joined["you"] == {"seat": 1}
    again = bert.post(f"{match.url}/rematch", expect=200)
    assert again.get_json()["game_id"] == new["game_id"]
    seen = anna.get(match.url, expect=200)
    assert seen.get_json()["rematch"] == new["game_id"]
    assert seen.headers["ETag"] == plain[:-1] + 'r"'
    anna.get(match.url, headers={"If-None-Match": plain}, expect=200)
    anna.get(match.url, headers={"If-None-Match": seen.headers["ETag"]}, expect=304)
    items = anna.get("/v1/games", query="mine=true&status=finished").get_json()["items"]
    assert items[0]["rematch"] == new["game_id"]
