"""Several processes of the API at one port, as they are served: what clients of other game servers
met there. Each request comes on a connection of its own, so on any of the processes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.api.asking import Reply, ask, ask_on, at_once, meanwhile
from tests.api.matches import Match, registered
from tests.api.server import Server, serving
from tests.databases import Scratch

PROCESSES = 3
RULESETS = ("halleluja", "vallelujah")


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("processes")
    with serving(scratch, folder, ABBOT_API_WORKERS=str(PROCESSES)) as running:
        assert len(running.workers()) == PROCESSES
        yield running


def token(match: Match, seat: int) -> str:
    return str(match.seats[seat].token)


def by(
    match: Match, seat: int, method: str, rest: str = "", body: Any = None, **more: Any
) -> Callable[[], Reply]:
    """What has a seat ask something about its game."""
    where = f"{match.url}{rest}"
    return partial(ask, match.port, method, where, body, token=token(match, seat), **more)


def history(match: Match) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = (
        match.seats[0].get(f"{match.path}/events", limit=1000).body["items"]
    )
    return events


def choice(match: Match) -> tuple[int, dict[str, Any]]:
    """The seat to move, and a legal move of it."""
    seat = match.game()["turn"]["seat"]
    entry = match.seats[seat].get(f"{match.path}/legal-moves").body["legal_moves"][0]
    move = dict(entry["move"])
    if "take_from" in entry:
        move["take"] = entry["take_from"][0]
    if "call_due" in entry:
        move["call"] = entry["call_due"]
    return seat, move


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("named", [True, False])
def test_the_same_move_sent_many_times_at_once_counts_once(
    server: Server, ruleset: str, named: bool
) -> None:
    match = Match.opened(server.port, 3, ruleset)
    before = match.start()
    for _ in range(4):
        seat, move = choice(match)
        if not named:
            del move["round"], move["turn"]
        replies = at_once([by(match, seat, "POST", "/moves", move)] * 8)
        (made,) = [each for each in replies if each.status == 201]
        assert {each.status for each in replies} <= {201, 409, 422}
        after = match.game()["version"]
        assert [each["version"] for each in made.body["events"]] == [*range(before + 1, after + 1)]
        before = after
    assert len(history(match)) == before
    match.close()


def test_the_same_move_under_one_key_is_answered_the_same_everywhere(server: Server) -> None:
    match = Match.opened(server.port)
    match.start()
    seat, move = choice(match)
    key = {"Idempotency-Key": "twice"}
    replies = at_once([by(match, seat, "POST", "/moves", move, headers=key)] * 9)
    assert {each.status for each in replies} == {201}
    assert len({json.dumps(each.body["events"]) for each in replies}) == 1
    assert len({each.body["receipt"] for each in replies}) == 1
    match.close()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_twenty_joins_for_the_last_seat(server: Server, ruleset: str) -> None:
    match = Match.opened(server.port, 2, ruleset, max_seats=3)
    guests = [registered(server.url, f"Guest {number}") for number in range(20)]
    url = f"{match.url}/seats"
    replies = at_once(
        [partial(ask, server.port, "POST", url, {}, token=guest.token) for guest in guests]
    )
    assert sorted(each.status for each in replies) == [201] + [409] * 19
    assert {each.code for each in replies} == {"", "table-full"}
    seats = match.game()["seats"]
    assert [each["seat"] for each in seats] == [0, 1, 2]
    (taken,) = [each for each in replies if each.status == 201]
    assert taken.body["seats"][2]["player"] == seats[2]["player"]
    match.close()


def test_everyone_leaves_the_lobby_at_once(server: Server) -> None:
    """Whoever is left is host; with nobody left the table is closed."""
    for leaving in ((0,), (0, 1), (0, 2), (0, 1, 2), (0, 1, 2, 3)):
        match = Match.opened(server.port, 4)
        replies = at_once([by(match, seat, "DELETE", "/seats/me") for seat in leaving])
        assert [each.status for each in replies] == [200] * len(leaving)
        game = match.game()
        left = [each["seat"] for each in game["seats"]]
        assert left == [seat for seat in range(4) if seat not in leaving]
        if left:
            assert (game["status"], game["host"]) == ("lobby", left[0])
            start = by(match, left[0], "POST", "/start", {})()
            assert (start.status, start.code) in ((200, ""), (409, "not-enough-seats"))
        else:
            assert game["status"] == "cancelled"
        match.close()


def test_the_host_leaves_while_the_next_one_starts(server: Server) -> None:
    """Either the start came first, and leaving is no more; or the table has a new host."""
    for _ in range(6):
        match = Match.opened(server.port, 3)
        left, started, seeded = at_once(
            [
                by(match, 0, "DELETE", "/seats/me"),
                by(match, 1, "POST", "/start", {}),
                by(match, 2, "PATCH", "/seats/me", {"client_seed": "5eed"}),
            ]
        )
        assert left.status == 200
        assert (started.status, started.code) in ((200, ""), (403, "forbidden"))
        game = match.game()
        assert game["host"] == 1
        assert game["status"] == ("active" if started.status == 200 else "lobby")
        assert seeded.status == 200 or (seeded.code, game["status"]) == ("not-in-lobby", "active")
        match.close()


def test_a_rematch_is_one_new_table_without_anything_of_the_old_match(server: Server) -> None:
    match = Match.opened(server.port, 3, options={"rounds_to_win": 2}, turn_seconds=500)
    by(match, 1, "PATCH", "/seats/me", {"client_seed": "5eed"})()
    match.start()
    for _ in range(5):
        match.move()
    match.end()
    old = match.game()
    replies = at_once([by(match, seat, "POST", "/rematch", {}) for seat in (0, 1, 2) * 4])
    assert {each.status for each in replies} <= {200, 201}
    (new_id,) = {each.body["game_id"] for each in replies}
    assert match.game()["rematch"] == new_id
    new = match.seats[0].get(f"/games/{new_id}").body
    assert [each["seat"] for each in new["seats"]] == [0, 1, 2]
    for seat, was in zip(new["seats"], old["seats"], strict=True):
        assert set(seat) == {"seat", "player", "status"}
        assert (seat["player"], seat["status"]) == (was["player"], "ready")
    assert {"ruleset", "options", "turn_seconds", "max_seats", "visibility"} <= set(new)
    for name in ("ruleset", "options", "turn_seconds", "max_seats", "visibility"):
        assert new[name] == old[name]
    assert not {"result", "round", "turn", "table", "rematch"} & set(new)
    assert "secret" in old["shuffle"]
    assert new["shuffle"].keys() == {"commitment"}
    assert new["shuffle"]["commitment"] != old["shuffle"]["commitment"]
    events = match.seats[0].get(f"/games/{new_id}/events").body["items"]
    assert [each["type"] for each in events] == ["game.created"] + ["seat.taken"] * 3
    assert not any("client_seed" in each["data"] for each in events)
    assert events[0]["prev_hash"] == "0" * 64
    match.close()


def test_pages_while_moves_arrive_have_neither_gap_nor_repeat(server: Server) -> None:
    match = Match.opened(server.port, 2, "vallelujah", options={"rounds_to_win": 9})
    match.start()
    seen: list[dict[str, Any]] = []

    def read_on() -> None:
        after = seen[-1]["version"] if seen else 0
        page = ask(server.port, "GET", f"{match.url}/events?after={after}&limit=2").body
        assert page["head"]["version"] >= after
        seen.extend(page["items"])

    with meanwhile(read_on):
        for _ in range(25):
            match.move()
    last = match.end()
    while not seen or seen[-1]["version"] < last:
        read_on()
    # What was hidden then is open now; the rest is the same to the letter.
    named = [(each["version"], each["type"], each["at"], each["hash"]) for each in seen]
    assert named == [(e["version"], e["type"], e["at"], e["hash"]) for e in history(match)]
    assert [each["version"] for each in seen] == list(range(1, last + 1))
    match.close()


def test_pages_of_tables_while_tables_open_and_close(server: Server) -> None:
    host = registered(server.url, "Host")
    standing = [host.post("/games", {"ruleset": "halleluja"}).body["game_id"] for _ in range(12)]

    def come_and_go() -> None:
        opened = ask(server.port, "POST", "/v1/games", {"ruleset": "halleluja"}, token=host.token)
        assert opened.status == 201
        ask(server.port, "DELETE", f"{opened.headers['location']}/seats/me", token=host.token)

    with meanwhile(come_and_go):
        for _ in range(3):
            listed: list[str] = []
            query: str | None = "/v1/games?mine=true&status=lobby&limit=3"
            while query:
                page = ask(server.port, "GET", query, token=host.token)
                listed += [each["game_id"] for each in page.body["items"]]
                query = _next(page)
            assert len(set(listed)) == len(listed)
            assert [each for each in listed if each in standing] == standing[::-1]
    host.close()


def _next(page: Reply) -> str | None:
    link = page.headers.get("link")
    return link[1 : link.index(">")] if link else None


def test_no_older_view_after_a_newer_one(server: Server) -> None:
    """Whoever was told of a version gets no earlier one from any process, in any kind of answer."""
    dice = random.Random(4)
    match = Match.opened(server.port, 2, "vallelujah", options={"rounds_to_win": 9})
    match.start()
    with ExitStack() as closing:
        # Connections that stay, so that every process is asked all along.
        kept = []
        for _ in range(3 * PROCESSES):
            connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
            closing.callback(connection.close)
            assert ask_on(connection, "GET", match.url).status == 200
            kept.append(connection)
        for _ in range(12):
            seat, move = choice(match)
            made = by(match, seat, "POST", "/moves", move)()
            version = made.body["game"]["version"]
            for connection in kept:
                kind = dice.choice(tuple(VERSIONS))
                path = f"{match.url}{kind}".replace("{}", str(version))
                reply = ask_on(connection, "GET", path, token=token(match, 1 - seat))
                assert reply.status == 200, (path, reply)
                assert VERSIONS[kind](reply) >= version, path
            same = by(match, seat, "POST", "/moves?dry_run=true", move)()
            assert same.code in ("not-your-turn", "stale-turn", "game-not-active", "illegal-move")
            assert same.body["version"] >= version
            old = {"If-Match": f'"{version - len(made.body["events"])}"'}
            late = by(match, 1 - seat, "POST", "/resign", {}, headers=old)()
            assert (late.status, late.body["version"]) == (412, version)
    match.close()


VERSIONS = {
    "": lambda reply: reply.body["version"],
    "/events?after=0&limit=1": lambda reply: reply.body["head"]["version"],
    "/legal-moves": lambda reply: reply.body["version"],
    "/states/{}": lambda reply: reply.body["version"],
    "/events?after={}": lambda reply: reply.body["head"]["version"],
}
"""What is read, `{}` being the version that the reader knows of, and the version in the answer."""


def test_a_stream_that_reconnects_anywhere_loses_and_repeats_nothing(server: Server) -> None:
    dice = random.Random(5)
    match = Match.opened(server.port, 2, "vallelujah", options={"rounds_to_win": 9})
    match.start()
    seen: list[int] = []

    def read() -> None:
        listener = match.listen(
            0, last_event_id=seen[-1] if seen else None, most=dice.randint(1, 3)
        )
        if listener.status == 200:
            listener.join()
            listener.close()
            seen.extend(listener.ids)

    with meanwhile(read):
        for _ in range(15):
            match.move()
        last = match.end()
    while seen[-1] < last:
        read()
    assert seen == list(range(1, last + 1))
    match.close()


@pytest.mark.parametrize("seed", range(3))
def test_an_answer_says_what_happened(server: Server, seed: int) -> None:
    """No 4xx although it worked, no 2xx although nothing did: after each request the record has
    grown by exactly what the answer told of, whatever was asked for."""
    dice = random.Random(seed)
    match = Match.opened(server.port, 3, RULESETS[seed % 2], max_seats=4)
    # Who has no seat at first, and the fourth if one is taken.
    match.seats.append(registered(server.url, "Stranger"))
    everyone = [*(str(each.token) for each in match.seats), None]
    known = history(match)
    seen: set[int] = set()
    for step in range(90):
        if step == 30:
            for each in match.game()["seats"]:
                by(match, each["seat"], "PATCH", "/seats/me", {"ready": True})()
            match.start()
            known = history(match)
        method, path, body = _anything(dice, match, lobby=step < 30, ending=step > 80)
        headers = {}
        if dice.random() < 0.2:
            headers["If-Match"] = f'"{dice.choice((len(known), len(known) - 1))}"'
        reply = ask(server.port, method, path, body, token=dice.choice(everyone), headers=headers)
        now = history(match)
        assert now[: len(known)] == known or match.game()["status"] not in ("lobby", "active")
        new = now[len(known) :]
        seen.add(reply.status)
        if path.endswith("/moves"):
            assert (reply.status == 201) == bool(new)
            if new:
                told = [(each["version"], each["hash"]) for each in reply.body["events"]]
                assert told == [(each["version"], each["hash"]) for each in new]
        if new:
            assert reply.status in (200, 201), (method, path, body, reply)
        if reply.status in (200, 201):
            game = reply.body.get("game", reply.body)
            if "version" in game and "status" in game:
                assert game["version"] == len(now)
                assert reply.headers["etag"] == f'"{len(now)}"'
            if reply.status == 201 and "/seats" in path:
                assert new
        else:
            assert not new, (method, path, body, reply)
        known = now
    assert {200, 201, 403, 409, 412, 422} <= seen
    match.close()


def _anything(
    dice: random.Random, match: Match, *, lobby: bool, ending: bool
) -> tuple[str, str, dict[str, Any] | None]:
    """Some request about the table, sensible or not."""
    url = match.url
    changes: list[tuple[str, str, dict[str, Any] | None]] = [
        ("PATCH", url, {"turn_seconds": dice.choice((60, 90, 1))}),
        ("PATCH", url, {"max_seats": dice.choice((2, 4, 9))}),
        ("PATCH", f"{url}/seats/me", {"client_seed": dice.choice(("ab", "abc", "cd"))}),
        ("PATCH", f"{url}/seats/me", {"ready": dice.choice((True, False))}),
        ("POST", f"{url}/seats", dice.choice(({}, {"bot": "none"}))),
        ("DELETE", f"{url}/seats/{dice.choice((3, 9))}", None),
        ("POST", f"{url}/back", {}),
        ("POST", f"{url}/rematch", {}),
        ("POST", f"{url}/start", {"now": True}),
        ("POST", f"{url}/invites", {}),
    ]
    if ending:
        changes += [("POST", f"{url}/resign", {})] * 4
    if lobby or dice.random() < 0.3:
        return dice.choice(changes)
    if match.game()["status"] == "active" and dice.random() < 0.6:
        return "POST", f"{url}/moves", choice(match)[1]
    silly: list[dict[str, Any]] = [
        {"type": "draw"},
        {"type": "keep"},
        {"type": "take"},
        {"type": "exclaim", "word": "mau"},
        {"type": "play", "card": "E-rose"},
        {"type": "lead", "units": ["crimson-9"]},
        {"type": "beat", "units": []},
        {"type": "draw", "turn": 1, "round": 1},
        {"type": "fly"},
        {},
    ]
    return "POST", f"{url}/moves", dice.choice(silly)
