"""docs/audit.md: its disputes are run as they stand there, and its table cell by cell."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from api.services import Services
from eventstore.settings import ROOT
from tests.api.client import Client
from tests.api.tables import Table
from tests.databases import Scratch

PAGE = (ROOT / "docs" / "audit.md").read_text("utf-8")
DISPUTES = PAGE.partition("## Disputes")[2].partition("\n## ")[0].split("\n### ")[1:]
ANYTHING = "…"
COLUMNS = ("nobody", "stranger", "seat", "other seat", "resigned", "former seat", "auditor")


def test_there_is_a_worked_dispute_of_each_kind() -> None:
    for claim, story in zip(("legality", "time", "shuffle", "record"), DISPUTES, strict=True):
        assert f'"claim": "{claim}"' in story


@dataclass
class Story:
    """One worked dispute, in a match of its own."""

    table: Table
    scratch: Scratch
    known: dict[str, str] = field(default_factory=dict)
    mover: Client | None = None

    def run(self, block: str) -> None:
        """One request of the page, and its answer."""
        head, _, rest = block.strip("\n").partition("\n")
        who = head.removeprefix("# ")
        request, _, answer = rest.partition("\n\n")
        line, _, body = request.partition("\n")
        method, path = self._filled(line).split(" ")
        client = self._client(who)
        sent = json.loads(self._filled(body)) if body else None
        got = client.send(method, path, sent)
        status, _, shown = answer.partition("\n")
        assert got.status_code == int(status), got.get_data(as_text=True)
        self._compare(json.loads(shown), got.get_json(), f"{method} {path}")

    def _client(self, who: str) -> Client:
        who, _, event = who.partition(", ")
        if later := re.fullmatch(r"(\d+) seconds later", event):
            self.mover = self.table.mover()
            self.scratch.advance(int(later[1]))
        elif event:
            assert event.startswith("event 6 was changed")
            self._change("chained anew" in event)
        if who == "anyone":
            return Client(self.table.host.app)
        if who == "the seat to move" and not event:
            self.mover = self.table.mover()
        assert self.mover is not None
        return self.mover

    def _change(self, chained_anew: bool) -> None:
        """What the owner of the database server can do; the event is the newest one."""
        change = "UPDATE events SET body = overlay(body placing '2099' from 8 for 4)"
        if chained_anew:
            change = (
                "UPDATE events SET hash = (SELECT sha256(b.hash || convert_to(events.body, 'UTF8'))"
                " FROM events b WHERE b.game_id = events.game_id AND b.version = 5)"
            )
        where = "WHERE game_id = %s AND version = 6"
        with self.scratch.unguarded():
            self.scratch.execute(f"{change} {where}", (self.table.game_id,))

    def _filled(self, text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda found: self.known[found[1]], text)

    def _compare(self, shown: Any, got: Any, where: str) -> None:
        if isinstance(shown, dict):
            for name, value in shown.items():
                assert name in got, f"{where} has no {name}: {got}"
                self._compare(value, got[name], f"{where} {name}")
        elif isinstance(shown, list):
            self._compare_list(shown, got, where)
        elif isinstance(shown, str) and (name := re.fullmatch(r"\{(\w+)\}", shown)):
            assert self.known.setdefault(name[1], got) == got, where
        elif shown != ANYTHING:
            assert shown == got, where

    def _compare_list(self, shown: list[Any], got: list[Any], where: str) -> None:
        wanted = [each for each in shown if each != ANYTHING]
        begin = 1 if shown[:1] == [ANYTHING] else 0
        if ANYTHING not in shown:
            assert len(shown) == len(got), f"{where}: {got}"
        for value, item in zip(wanted, got[begin : begin + len(wanted)], strict=True):
            self._compare(value, item, where)


def vallelujah(anna: Client, bert: Client, *more: Client, **settings: Any) -> Table:
    table = Table.opened(anna, "vallelujah", **settings)
    for seat, client in enumerate((bert, *more), 1):
        client.post(f"{table.url}/seats", expect=201)
        table.clients[seat] = client
    return table


@pytest.mark.parametrize("story", DISPUTES, ids=lambda story: str(story).partition("\n")[0])
def test_a_worked_dispute(story: str, anna: Client, bert: Client, scratch: Scratch) -> None:
    table = vallelujah(anna, bert)
    table.start()
    told = Story(table, scratch, {"game": table.game_id})
    blocks = re.findall(r"```http\n(.*?)```", story, flags=re.S)
    assert len(blocks) >= 3
    for block in blocks:
        told.run(block)


def _rows() -> list[list[str]]:
    part = PAGE.partition("## Who may see and do what")[2].partition("\n## ")[0]
    lines = [line.strip("| ") for line in part.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    assert tuple(rows[0][1:]) == COLUMNS
    return rows[2:]


@pytest.fixture(scope="module")
def running(app: Any, opened: Services) -> tuple[Table, dict[str, Client], str]:
    """A public match in which two seats were refused a move, and three disputed something."""
    nobody = Client(app)
    people = {name: nobody.register(name) for name in COLUMNS[1:]}
    people["nobody"] = nobody
    table = vallelujah(people["seat"], people["other seat"], people["resigned"])
    former = people["former seat"]
    former.post(f"{table.url}/seats", expect=201)
    former.delete(f"{table.url}/seats/me", expect=200)
    for name in ("auditor", "former seat", "other seat"):
        opened.players.change_scope(people[name].player_id, "audit", granted=True)
    table.start()
    for name in ("seat", "other seat"):
        people[name].post(f"{table.url}/moves", {"type": "take", "turn": 99}, expect=409)
    for name in ("resigned", "other seat", "seat"):
        body = {"version": 1, "statement": f"By {name}."}
        answer = people[name].post(f"{table.url}/disputes", body, expect=201)
    people["auditor"].get(f"{table.url}", expect=200)
    people["resigned"].post(f"{table.url}/resign", expect=200)
    return table, people, answer.get_json()["dispute_id"]


@pytest.mark.parametrize("row", _rows(), ids=lambda row: str(row[0]).strip("`"))
def test_who_may_see_and_do_what(
    row: list[str], running: tuple[Table, dict[str, Client], str]
) -> None:
    table, people, dispute_id = running
    method, path = row[0].strip("`").split(" ")
    path = "/v1" + path.replace("{game}", table.game_id).replace("{dispute}", dispute_id)
    for column, cell in zip(COLUMNS, row[1:], strict=True):
        assert _cell(method, path, people[column], cell) == cell, column


def _cell(method: str, path: str, client: Client, wanted: str) -> str:
    """What the table must say, in the words of the cell where there are several."""
    what = path.rpartition("/")[2]
    body = {
        "moves": {"type": "take", "turn": 99},
        "disputes": {"version": 2, "statement": "And this."},
        "resolution": {"resolution": "Seen."},
    }.get(what if method == "POST" else "")
    answer = client.send(method, path, body)
    if answer.status_code != 200 or wanted == "200":
        return str(answer.status_code)
    shown = answer.get_json()
    if what in ("attempts", "disputes", "looks"):
        owners = {item["player_id"] for item in shown["items"]}
        if not owners:
            return "none"
        return "own" if owners == {client.player_id} and wanted == "own" else "all"
    return _hands(shown)


def _hands(shown: dict[str, Any]) -> str:
    if "items" in shown:
        (dealt,) = [item for item in shown["items"] if item["type"] == "round.dealt"]
        hands = len(dealt["data"].get("hands", {}))
        return {0: "open cards", 1: "own hand", 3: "all hands"}[hands]
    if any("hand" in seat for seat in shown["seats"]):
        return "all hands"
    return "own hand" if "hand" in shown.get("you", {}) else "open cards"
