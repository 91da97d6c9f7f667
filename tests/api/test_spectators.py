"""Spectators of a table with a delay: nothing newer in any byte, while its seats see it live."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from api import access, auth, services
from api.app import create_app
from api.services import Services
from domain.events import Recorded
from eventstore.feed import Feed
from eventstore.store import Store
from tests.api import test_leaks as leaking
from tests.api.client import Client
from tests.api.leaks import Match, found, seen_cards, wire
from tests.api.tables import Table
from tests.databases import Scratch

DELAY = 600
LONG = 14 * 24 * 3600
"""Seconds of a turn: none runs out when a test moves the clock."""


@dataclass
class Late(Match):
    """A match that went on, or came to its end, after the last event that spectators may see."""

    until: int = 0
    """That event's version."""
    spectators: tuple[str, ...] = ()
    rematch: str | None = None

    def newer(self, opened: Services) -> list[Recorded]:
        return opened.store.events(self.table.game_id, self.until)

    def hidden(self, opened: Services) -> dict[str, str]:
        """What no spectator may find anywhere."""
        events = opened.store.events(self.table.game_id)
        loaded = opened.store.load(self.table.game_id)
        assert loaded is not None
        hidden = {loaded.secret.hex(): "the secret", loaded.head_hash: "the head"}
        for event in events[self.until :]:
            hidden |= {event.hash: f"the hash of {event.version}", event.at: "a time"}
        for event in events:
            if "salt" in event.data:
                hidden[event.data["salt"]] = f"the salt of {event.version}"
        if loaded.game.due_at is not None:
            hidden[loaded.game.due_at] = "when the running turn is due"
        seen = seen_cards(events[: self.until], None)
        hidden |= {card: "a card" for card in loaded.game.rules.cards if card not in seen}
        hidden |= {code: f"what only {owner} knows" for code, owner in self.codes.items()}
        return hidden

    def versions(self, opened: Services) -> dict[str, str]:
        """As which a newer version could be told of in an answer about this game."""
        return {
            spelled: f"version {event.version}"
            for event in self.newer(opened)
            for spelled in (
                f'"version":{event.version},',
                f'"version":{event.version}}}',
                f'"{event.version}"',
                f'"{event.version}r"',
                f'"{event.version}n"',
                f"id: {event.version}\n",
            )
        }


def opened_late(nobody: Client, opened: Services, ruleset: str, **settings: Any) -> Late:
    """A table in the lobby, three players seated, and everyone who could want to watch."""
    seated = ("host", "seat", "resigned")
    others = ("former", "former auditor", "stranger", "auditor")
    callers = {name: nobody.register(name) for name in (*seated, *others)}
    settings = {"spectator_delay_seconds": DELAY, "turn_seconds": LONG, **settings}
    table = Table.opened(callers["host"], ruleset, **settings)
    invite = callers["host"].post(f"{table.url}/invites", expect=201).get_json()["code"]
    for seat, name in enumerate(seated[1:], 1):
        callers[name].post(f"{table.url}/seats", {"invite": invite}, expect=201)
        table.clients[seat] = callers[name]
    for name in ("former", "former auditor"):
        callers[name].post(f"{table.url}/seats", {"invite": invite}, expect=201)
        callers[name].delete(f"{table.url}/seats/me", expect=200)
    for name in ("former auditor", "auditor"):
        assert opened.players.change_scope(callers[name].player_id, "audit", granted=True)
    key = auth.new_key()
    opened.apps.create("App", auth.token_hash(key))
    callers |= {"nobody": nobody, "app": Client(nobody.app, key)}
    spectators = ("nobody", "app", "stranger", "former", "former auditor")
    if settings.get("visibility") == "private":
        opened.invites.admit(table.game_id, callers["stranger"].player_id)
        spectators = ("stranger",)
    seats = {name: seat for seat, name in enumerate(seated)}
    codes = {"known to the admin": "admin"}
    return Late(table, callers, seats, {"auditor"}, codes, spectators=spectators)


def go_on(match: Late, *, over: bool) -> None:
    """What its spectators are not to know of yet."""
    table = match.table
    for _ in range(3):
        if table.game()["status"] == "active":
            table.mover().post(f"{table.url}/moves", table.choice(), expect=201)
    for name in ("host", "seat"):
        client = match.callers[name]
        card = table.game(client)["you"]["hand"][0]
        play = (
            {"type": "play", "card": card} if card[1] == "-" else {"type": "lead", "units": [card]}
        )
        attempt_id = leaking._refuse(client, table, **play, turn=99)
        statement = f"only {name} says so"
        sent = {"attempt_id": attempt_id, "statement": statement}
        dispute = client.post(f"{table.url}/disputes", sent, expect=201).get_json()
        match.codes |= {attempt_id: name, statement: name, dispute["dispute_id"]: name}
    match.callers["resigned"].post(f"{table.url}/resign", expect=200)
    if over:
        match.callers["seat"].post(f"{table.url}/resign", expect=200)
        rematch = match.callers["host"].post(f"{table.url}/rematch", expect=201).get_json()
        match.rematch = rematch["game_id"]
        # Who has the scope is an auditor of every game that is over.
        match.spectators = tuple(each for each in match.spectators if "auditor" not in each)


def late_match(
    nobody: Client, opened: Services, scratch: Scratch, ruleset: str, *, over: bool, **more: Any
) -> Late:
    match = opened_late(nobody, opened, ruleset, **more)
    match.table.start()
    for _ in range(3):
        match.table.mover().post(f"{match.table.url}/moves", match.table.choice(), expect=201)
    match.until = match.table.game()["version"]
    scratch.advance(DELAY + 60)
    go_on(match, over=over)
    assert match.newer(opened)
    return match


CASES = [("halleluja", "public", False), ("vallelujah", "private", False),
         ("vallelujah", "public", True), ("halleluja", "private", True)]  # fmt: skip


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def late(request: Any, app: Flask, opened: Services, scratch: Scratch) -> Late:
    ruleset, visibility, over = request.param
    nobody = Client(app)
    return late_match(nobody, opened, scratch, ruleset, over=over, visibility=visibility)


def _count_results(opened: Services) -> None:
    feed = Feed(opened.store.pool)
    while feed.sequence() != (0, 0):
        pass
    while opened.standings.step():
        pass


def _asked(match: Late, caller: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation on this game, or on none, in every way that it is called."""
    client = match.callers[caller]
    for method, template, operation in leaking.operations():
        if "webhook" in template:
            continue
        for path in leaking._paths(template, match, client):
            for sent in leaking._sent(method, operation, match, client):
                yield method, path, sent
    newest = match.table.game()["version"]
    for version in (match.until, match.until + 1, newest, newest + 1):
        yield "GET", f"{match.table.url}/states/{version}", {}
        yield "GET", f"{match.table.url}/events", {"query_string": f"after={version}"}
        yield "GET", f"{match.table.url}/stream", {"query_string": f"after={version}"}
        for name in ("If-Match", "If-None-Match"):
            for path in ("", "/events", "/seats", "/seats/me"):
                for method in ("GET", "POST", "DELETE"):
                    sent = {"headers": {name: f'"{version}"'}}
                    yield method, f"{match.table.url}{path}", sent


def test_nothing_newer_is_in_any_byte(late: Late, opened: Services) -> None:
    hidden, versions = late.hidden(opened), late.versions(opened)
    leaks: set[str] = set()
    for caller in late.spectators:
        client = late.callers[caller]
        for method, path, sent in _asked(late, caller):
            if method == "POST" and path.endswith("/players"):
                continue
            served = _served(client, method, path, sent)
            told = json.dumps(sent, default=str) + path
            searched = hidden | (versions if late.table.game_id in path else {})
            if "/rulesets" in path:
                continue
            leaks |= {
                f"{caller} {method} {path} {sent} {leak}"
                for leak in found(served, searched)
                if leak.rpartition(": ")[2] not in told
            }
    assert not leaks, "\n".join(sorted(leaks)[:50])
    assert late.table.game()["version"] == late.until + len(late.newer(opened))


def _served(client: Client, method: str, path: str, sent: dict[str, Any]) -> bytes:
    more = {name: value for name, value in sent.items() if value is not None}
    more["headers"] = dict(sent.get("headers", {}))
    if client.token is not None:
        more["headers"]["Authorization"] = f"Bearer {client.token}"
    answer = client.flask.open(path, method=method, **more)
    assert answer.status_code < 500, (method, path, sent)
    # A stream ends soon by itself here.
    served = wire(answer, -1)
    for whole_set in leaking.WHOLE_SETS:
        served = served.replace(whole_set, b"")
    return served


@pytest.mark.parametrize("path", ["", "/events", "/stream", "/states/{version}", "/audit"])
def test_the_search_finds_what_is_served_live(
    late: Late, opened: Services, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(access, "sees_later", lambda game, call: False)
    monkeypatch.setattr(access, "watches", lambda game, call: False)
    version = late.table.game()["version"]
    url = f"{late.table.url}{path.format(version=version)}"
    served = _served(late.callers["stranger"], "GET", url, {})
    assert served.startswith(b"200"), served
    if path != "/audit":
        assert found(served, late.hidden(opened) | late.versions(opened))


def test_seats_and_auditors_see_it_live(late: Late, opened: Services) -> None:
    url, newest = late.table.url, late.newer(opened)[-1]
    for name in (*late.seats, "auditor"):
        client = late.callers[name]
        answer = client.get(url, expect=200)
        assert answer.get_json()["head"] == {"version": newest.version, "hash": newest.hash}
        assert answer.headers["ETag"] in (f'"{newest.version}"', f'"{newest.version}r"')
        page = client.get(f"{url}/events", query=f"after={newest.version - 1}").get_json()
        assert [event["hash"] for event in page["items"]] == [newest.hash]
        client.get(f"{url}/states/{newest.version}", expect=200)
        listed = _listed(client, late)
        assert (listed["version"], listed["updated_at"]) == (newest.version, newest.at)
        served = _served(client, "GET", f"{url}/stream", {})
        assert f"id: {newest.version}\n".encode() in served


def _listed(client: Client, match: Late, query: str = "limit=100") -> dict[str, Any]:
    items = client.get("/v1/games", query=query, expect=200).get_json()["items"]
    found: dict[str, Any] = next(
        (each for each in items if each["game_id"] == match.table.game_id), {}
    )
    return found


def test_every_read_is_of_the_same_earlier_moment(late: Late, opened: Services) -> None:
    url, until = late.table.url, late.until
    then = opened.store.events(late.table.game_id, until - 1, 1)[0]
    client = late.callers["stranger"]
    answer = client.get(url, expect=200)
    game = answer.get_json()
    assert game["head"] == {"version": until, "hash": then.hash}
    assert (game["status"], game["version"]) == ("active", until)
    assert game["spectator_delay_seconds"] == DELAY
    assert not {"result", "rematch", "you"} & game.keys()
    assert "secret" not in game["shuffle"]
    assert answer.headers["ETag"] == f'"{until}"'
    client.get(url, headers={"If-None-Match": f'"{until}"'}, expect=304)
    newest = late.table.game()["version"]
    client.get(url, headers={"If-None-Match": f'"{newest}"'}, expect=200)
    # Its clock stands then as well: the turn had just begun.
    assert game["turn"]["remaining_ms"] > 1000 * (LONG - 120)
    listed = _listed(client, late)
    assert (listed["status"], listed["version"], listed["updated_at"]) == ("active", until, then.at)
    assert listed["turn"] == {"seat": game["turn"]["seat"], "due_at": game["turn"]["due_at"]}
    assert [seat["status"] for seat in listed["seats"]] == ["active"] * 3
    assert "rematch" not in listed
    state = client.get(f"{url}/states/{until}", expect=200).get_json()
    assert state["head"] == game["head"]
    client.refused(client.get(f"{url}/states/{until + 1}"), 404, "not-found")
    client.refused(client.get(f"{url}/states/{until}", query="seat=0"), 403, "forbidden")
    answer = client.get(f"{url}/events", query="limit=1000", expect=200)
    page = answer.get_json()
    assert (page["head"], len(page["items"])) == (game["head"], until)
    assert answer.headers["ETag"] == f'"{until}"'
    lines = client.get(f"{url}/events", headers={"Accept": "application/x-ndjson"}, expect=200)
    last = json.loads(lines.get_data().splitlines()[-1])
    assert (last["type"], last["version"], last["hash"]) == ("export.signed", until, then.hash)
    assert [json.loads(line) for line in lines.get_data().splitlines()[:-1]] == page["items"]
    served = _served(client, "GET", f"{url}/stream", {})
    assert served.count(b"\ndata: ") == until
    assert b"event: end" not in served
    assert client.get(f"{url}/disputes", expect=200).get_json()["items"] == []
    assert client.get(f"{url}/attempts", expect=200).get_json()["items"] == []
    assert client.get(f"{url}/audit", expect=200).get_json()["ok"]


def test_a_spectator_cannot_find_out_by_asking_for_a_change(late: Late) -> None:
    url, until, client = late.table.url, late.until, late.callers["stranger"]
    newest = late.table.game()["version"]
    for headers in ({}, {"If-Match": f'"{until}"'}):
        problem = client.refused(
            client.post(f"{url}/seats", {}, headers=headers), 409, "not-in-lobby"
        )
        assert (problem["facts"], problem["version"]) == ({"status": "active"}, until)
        left = client.delete(f"{url}/seats/me", headers=headers, expect=200)
        assert left.get_json()["version"] == until
        assert left.headers["ETag"] == f'"{until}"'
    for answer in (
        client.post(f"{url}/seats", {}, headers={"If-Match": f'"{newest}"'}),
        client.delete(f"{url}/seats/me", headers={"If-Match": f'"{newest}"'}),
    ):
        assert client.refused(answer, 412, "precondition-failed")["version"] == until


def test_lists_go_by_the_status_that_the_caller_sees(late: Late) -> None:
    over = late.table.game()["status"]
    for name in (*late.spectators, "host"):
        client, live = late.callers[name], name in late.seats
        seen = over if live else "active"
        for status in ("active", "finished", "abandoned", "lobby"):
            listed = _listed(client, late, f"limit=100&status={status}")
            assert bool(listed) == (status == seen), (name, status)
            assert listed.get("status", seen) == seen


def test_results_of_players_tell_nothing_early(late: Late, opened: Services) -> None:
    over = late.table.game()["status"] != "active"
    host = late.callers["host"]
    url = f"/v1/players/{host.player_id}"
    assert host.get(url).get_json()["results"] == []
    assert late.callers["stranger"].get(url).get_json()["results"] == []
    _count_results(opened)
    assert late.callers["stranger"].get(url, expect=200).get_json()["results"] == []
    for name in ("seat", "auditor"):
        results = late.callers[name].get(url, expect=200).get_json()["results"]
        assert [each["played"] for each in results] == [1] * over


def test_the_end_comes_with_its_delay(
    nobody: Client, opened: Services, scratch: Scratch, app: Flask
) -> None:
    match = late_match(nobody, opened, scratch, "halleluja", over=True)
    url, stranger, host = match.table.url, match.callers["stranger"], match.table.host
    _count_results(opened)
    scratch.advance(DELAY - 30)
    assert stranger.get(url).get_json()["version"] == match.until
    scratch.advance(60)
    newest = match.newer(opened)[-1]
    seen, own = stranger.get(url, expect=200), host.get(url, expect=200)
    assert seen.headers["ETag"] == own.headers["ETag"] == f'"{newest.version}r"'
    game = own.get_json()
    del game["you"]
    assert seen.get_json() == game
    assert game["rematch"] == match.rematch
    for path in ("/events", "/audit", f"/states/{newest.version}", "/disputes"):
        assert (
            stranger.get(f"{url}{path}").get_json()
            == match.callers["auditor"].get(f"{url}{path}").get_json()
        ), path
    assert _listed(stranger, match) == _listed(host, match)
    assert _listed(stranger, match, "status=finished&limit=100")
    assert not _listed(stranger, match, "status=active&limit=100")
    results = stranger.get(f"/v1/players/{host.player_id}").get_json()["results"]
    assert [(each["played"], each["won"]) for each in results] == [(1, 1)]
    served = _served(stranger, "GET", f"{url}/stream", {})
    assert b'event: end\ndata: {"status":"finished","version":%d}' % newest.version in served
    answer = stranger.get(f"{url}/stream", query=f"after={newest.version}")
    assert answer.status_code == 204


def test_the_lobby_and_the_start_are_live(nobody: Client, opened: Services) -> None:
    match = opened_late(nobody, opened, "halleluja")
    table, url = match.table, match.table.url
    for name in match.spectators:
        seen = match.callers[name].get(url, expect=200).get_json()
        own = table.game()
        assert seen == {name: value for name, value in own.items() if name != "you"}
    table.start()
    started = next(
        event.version
        for event in opened.store.events(table.game_id)
        if event.type == "game.started"
    )
    for name in match.spectators:
        client = match.callers[name]
        seen = client.get(url, expect=200).get_json()
        assert (seen["status"], seen["version"]) == ("active", started)
        assert not {"round", "turn", "table"} & seen.keys()
        events = client.get(f"{url}/events").get_json()["items"]
        assert events[-1]["type"] == "game.started"
        listed = _listed(client, match)
        assert (listed["status"], listed["version"]) == ("active", started)
        assert not _listed(client, match, "status=lobby&limit=100")


def test_a_newcomer_sits_down_and_sees_it_live(nobody: Client, opened: Services) -> None:
    match = opened_late(nobody, opened, "halleluja")
    newcomer = match.callers["stranger"]
    newcomer.post(f"{match.table.url}/seats", {}, expect=201)
    match.table.start()
    assert newcomer.get(match.table.url).get_json()["you"]["hand"]


def test_a_table_closed_in_the_lobby_is_seen_at_once(nobody: Client, opened: Services) -> None:
    match = opened_late(nobody, opened, "halleluja")
    for name in match.seats:
        match.callers[name].delete(f"{match.table.url}/seats/me", expect=200)
    seen = match.callers["stranger"].get(match.table.url, expect=200).get_json()
    assert seen["status"] == "cancelled"


def test_what_was_shown_is_not_taken_back(
    nobody: Client, opened: Services, scratch: Scratch
) -> None:
    match = late_match(nobody, opened, scratch, "halleluja", over=False)
    stranger, url = match.callers["stranger"], match.table.url
    assert stranger.get(url).get_json()["version"] == match.until
    scratch.advance(-DELAY)
    try:
        assert stranger.get(url).get_json()["version"] == match.until
        assert _listed(stranger, match)["version"] == match.until
    finally:
        scratch.advance(DELAY)
    assert stranger.get(url).get_json()["version"] == match.until


def test_a_record_that_was_changed_does_not_tell_how_far_the_game_is(
    nobody: Client, opened: Services, scratch: Scratch
) -> None:
    match = late_match(nobody, opened, scratch, "vallelujah", over=True)
    url, wrong = f"{match.table.url}/audit", match.until + 1
    with scratch.unguarded():
        scratch.execute(
            "UPDATE events SET body = '{}' WHERE game_id = %s AND version = %s",
            (match.table.game_id, wrong),
        )
    # A process that has not seen the game yet.
    own = services.over(Store(opened.store.pool), opened.signer.folder)
    fresh = create_app(opened=own)
    stranger, seat = (Client(fresh, match.callers[name].token) for name in ("stranger", "seat"))
    told = seat.get(url, expect=200).get_json()
    assert not told["ok"]
    assert wrong in [check.get("version") for check in told["checks"]]
    seen = stranger.get(url, expect=200).get_json()
    assert not seen["ok"]
    checked = [check for check in seen["checks"] if "ok" in check]
    assert not any({"version", "detail"} & check.keys() for check in checked)
    scratch.advance(DELAY + 1)
    assert stranger.get(url, expect=200).get_json() == told


def test_the_host_sets_it_in_the_lobby(anna: Client, bert: Client, opened: Services) -> None:
    table = Table.opened(anna)
    assert "spectator_delay_seconds" not in table.game()
    bert.post(f"{table.url}/seats", expect=201)
    refused = bert.patch(table.url, {"spectator_delay_seconds": 5})
    bert.refused(refused, 403, "forbidden")
    changed = anna.patch(table.url, {"spectator_delay_seconds": 5}, expect=200).get_json()
    assert changed["spectator_delay_seconds"] == 5
    assert [seat["status"] for seat in changed["seats"]] == ["ready", "seated"]
    again = anna.patch(table.url, {"spectator_delay_seconds": 5}, expect=200).get_json()
    assert again["version"] == changed["version"]
    assert _listed_delay(bert, table) == 5
    anna.patch(table.url, {"spectator_delay_seconds": 0}, expect=200)
    assert _listed_delay(bert, table) == 0
    events = opened.store.events(table.game_id)
    told = [event.data.get("spectator_delay_seconds") for event in events]
    assert told == [None, None, None, 5, 0]
    assert anna.get(f"{table.url}/audit").get_json()["ok"]


def _listed_delay(client: Client, table: Table) -> int:
    items = client.get("/v1/games", query="mine=true", expect=200).get_json()["items"]
    return next(
        each.get("spectator_delay_seconds", 0) for each in items if each["game_id"] == table.game_id
    )


@pytest.mark.parametrize("value", [-1, 3601, "60", 1.5, True, None])
def test_delays_that_cannot_be(anna: Client, table: Table, value: Any) -> None:
    sent = {"spectator_delay_seconds": value}
    anna.refused(anna.post("/v1/games", {"ruleset": "halleluja", **sent}), 422, "validation")
    anna.refused(anna.patch(table.url, sent), 422, "validation")
    assert "spectator_delay_seconds" not in table.game()


def test_a_rematch_keeps_it(anna: Client, bert: Client) -> None:
    table = Table.opened(anna, spectator_delay_seconds=3600)
    bert.post(f"{table.url}/seats", expect=201)
    table.start()
    bert.post(f"{table.url}/resign", expect=200)
    rematch = bert.post(f"{table.url}/rematch", expect=201).get_json()
    assert rematch["spectator_delay_seconds"] == 3600


def test_a_record_without_a_delay_says_nothing_of_it(match: Table, opened: Services) -> None:
    for event in opened.store.events(match.game_id):
        assert "spectator_delay_seconds" not in event.data


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_a_healthy_record_is_right_at_every_moment_of_the_delay(
    nobody: Client, opened: Services, scratch: Scratch, ruleset: str
) -> None:
    match = opened_late(nobody, opened, ruleset)
    table, watching, seen = match.table, match.callers["stranger"], {}

    def look() -> None:
        version = table.game(watching)["version"]
        report = watching.get(f"{table.url}/audit", expect=200).get_json()
        assert report["ok"], (version, report)
        seen[version] = {each["check"]: each.get("ok") for each in report["checks"]}

    look()
    table.start()
    started = table.game(watching)["version"]
    for _ in range(12):
        look()
        table.mover().post(f"{table.url}/moves", table.choice(), expect=201)
        scratch.advance(DELAY / 4)
    for name in ("host", "seat"):
        match.callers[name].post(f"{table.url}/resign", expect=200)
    for _ in range(6):
        look()
        scratch.advance(DELAY / 4)
    assert max(seen) == table.game()["version"]
    assert len(seen) > 12
    # Of the start alone no more can be told than that the record hangs together.
    assert (seen[started]["chain"], seen[started]["legality"]) == (True, None)
    assert all(checks["legality"] for version, checks in seen.items() if version != started)


@dataclass
class Again:
    """A rematch of a match whose end is not told to spectators yet."""

    old: Late
    table: Table

    def seen_by(self, name: str) -> bool:
        client = self.old.callers[name]
        paths = ("", "/events", "/audit")
        found = {client.get(f"{self.table.url}{path}").status_code == 200 for path in paths}
        for query in ("limit=100", "limit=100&status=lobby", "limit=100&ruleset=halleluja"):
            items = client.get("/v1/games", query=query, expect=200).get_json()["items"]
            found.add(any(each["game_id"] == self.table.game_id for each in items))
        assert len(found) == 1, name
        return found.pop()


@pytest.fixture
def again(nobody: Client, opened: Services) -> Again:
    match = opened_late(nobody, opened, "halleluja")
    match.table.start()
    for name in ("resigned", "seat"):
        match.callers[name].post(f"{match.table.url}/resign", expect=200)
    host = match.callers["host"]
    game = host.post(f"{match.table.url}/rematch", expect=201).get_json()
    return Again(match, Table(f"/v1/games/{game['game_id']}", game["game_id"]))


def test_a_rematch_is_hidden_until_the_end_before_it_is_told(
    again: Again, scratch: Scratch
) -> None:
    old, url = again.old, again.table.url
    host = old.callers["host"]
    # Without a delay of its own as well.
    host.patch(url, {"spectator_delay_seconds": 0}, expect=200)
    watching = ("nobody", "app", "stranger", "former")
    for name in watching:
        assert not again.seen_by(name), name
        client = old.callers[name]
        assert client.get(f"{url}/stream").status_code == 404
        assert old.table.game(client)["status"] == "active"
    stranger = old.callers["stranger"]
    told = [
        stranger.refused(stranger.post(f"{each}/seats", {}), 404, "not-found")["detail"]
        for each in (url, f"{url[:-6]}000000")
    ]
    assert told[0] == told[1]
    for name in ("host", "seat", "resigned", "auditor", "former auditor"):
        assert again.seen_by(name), name
    old.callers["seat"].post(f"{old.table.url}/rematch", expect=201)
    scratch.advance(DELAY - 60)
    assert not again.seen_by("stranger")
    scratch.advance(120)
    for name in watching:
        assert again.seen_by(name), name
        assert old.table.game(old.callers[name])["status"] != "active"
    stranger.post(f"{url}/seats", {}, expect=201)


def test_an_invite_shows_a_rematch_that_is_hidden(again: Again) -> None:
    host, stranger = again.old.callers["host"], again.old.callers["stranger"]
    code = host.post(f"{again.table.url}/invites", expect=201).get_json()["code"]
    stranger.get(again.table.url, expect=404)
    stranger.get(again.table.url, query=f"invite={code}", expect=200)
    stranger.post(f"{again.table.url}/seats", {"invite": code}, expect=201)
    assert again.seen_by("stranger")


def test_a_rematch_of_a_match_without_a_delay_is_seen_at_once(nobody: Client) -> None:
    table = Table.opened(nobody.register("Host"))
    other = nobody.register("Other")
    other.post(f"{table.url}/seats", expect=201)
    table.start()
    other.post(f"{table.url}/resign", expect=200)
    new = other.post(f"{table.url}/rematch", expect=201).get_json()
    nobody.get(f"/v1/games/{new['game_id']}", expect=200)
    items = nobody.get("/v1/games", query="status=lobby", expect=200).get_json()["items"]
    assert new["game_id"] in [each["game_id"] for each in items]
