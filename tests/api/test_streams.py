"""Streams and waits as they are served: gevent workers, real sockets."""

from __future__ import annotations

import json
import random
import re
import select
import socket
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import psycopg
import pytest

from api import auth
from api.command.client import Client
from domain.redaction import EVERYTHING, Viewer, redact
from eventstore.apps import Apps
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.api.listening import PATIENCE, Listener
from tests.api.matches import Match, registered, with_scope
from tests.api.server import Server, serving
from tests.databases import Scratch
from tests.workers.servers import wait_for

TERSE = {"ABBOT_STREAMS_PER_PLAYER": "4"}


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(scratch, tmp_path_factory.mktemp("streams"), **TERSE) as running:
        yield running


class Poller(threading.Thread):
    """Reads the events of a game by long polling, page after page, until told that it is enough."""

    def __init__(self, match: Match, token: str | None) -> None:
        super().__init__(daemon=True)
        self.events: list[dict[str, Any]] = []
        self._client = Client(f"http://127.0.0.1:{match.port}", token)
        self._path = f"{match.path}/events"
        self.enough = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.enough.is_set():
            page = self._client.get(self._path, after=len(self.events), limit=3, wait=2).body
            self.events += page["items"]
        self._client.close()


def pages(match: Match, token: str | None) -> list[dict[str, Any]]:
    client = Client(f"http://127.0.0.1:{match.port}", token)
    events: list[dict[str, Any]] = client.get(f"{match.path}/events", limit=1000).body["items"]
    lines = client.history(f"{match.path}/events")
    assert lines == events
    client.close()
    return events


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_three_ways_the_same_events_in_the_same_order(
    server: Server, scratch: Scratch, store: Store, ruleset: str
) -> None:
    match = Match.opened(server.port, 3, ruleset, options={"rounds_to_win": 9})
    auditor = registered(server.url, "Auditor")
    with_scope(scratch, auditor, "audit")
    resigned = match.seats[2]
    viewers = {
        "seat 0": (match.seats[0].token, Viewer(0)),
        "seat 1": (match.seats[1].token, Viewer(1)),
        "resigned": (resigned.token, Viewer(2)),
        "spectator": (None, Viewer()),
        "stranger": (registered(server.url, "Stranger").token, Viewer()),
        "auditor": (auditor.token, EVERYTHING),
    }
    streams = {name: match.listen(token=token) for name, (token, _) in viewers.items()}
    pollers = {name: Poller(match, token) for name, (token, _) in viewers.items()}
    match.start()
    for _ in range(4):
        match.move()
    resigned.post(f"{match.path}/resign")
    late = {name: match.listen(token=token) for name, (token, _) in viewers.items()}
    version = match.move()
    for listener in (*streams.values(), *late.values()):
        listener.wait_for_version(version)
    wait_for(
        lambda: all(len(each.events) == version for each in pollers.values()), PATIENCE, "polls"
    )
    for poller in pollers.values():
        poller.enough.set()
    recorded = store.events(match.game_id)
    for name, (token, viewer) in viewers.items():
        seen = [redact(event, viewer, over=False) for event in recorded]
        assert streams[name].events == seen, name
        assert late[name].events == seen, name
        assert pollers[name].events == seen, name
        assert pages(match, token) == seen, name
        assert streams[name].ids == list(range(1, version + 1))
    looks = scratch.execute(
        "SELECT max(version) FROM looks WHERE game_id = %s AND operation = 'streamEvents'",
        (match.game_id,),
    )
    assert looks == [(version,)], "what an auditor was streamed is recorded"

    last = match.end()
    everything = [redact(event, Viewer(), over=True) for event in store.events(match.game_id)]
    for name, (token, _) in viewers.items():
        streams[name].join()
        assert streams[name].closed.is_set()
        assert streams[name].end == {"status": "finished", "version": last}
        assert streams[name].ids == list(range(1, last + 1))
        assert streams[name].events[-1] == pages(match, token)[-1]
        # Come again, as an EventSource does.
        assert match.listen(token=token, last_event_id=last).status == 204
        again = match.listen(token=token, query="?after=3")
        again.join()
        assert again.events == everything[3:]
        assert again.end == streams[name].end
    for listener in late.values():
        listener.close()
    match.close()


def test_nothing_hidden_is_in_a_stream_before_the_end(server: Server, store: Store) -> None:
    match = Match.opened(server.port, 2)
    spectator, seat = match.listen(), match.listen(0)
    version = match.start()
    for listener in (spectator, seat):
        listener.wait_for_version(version)
    dealt = next(e for e in store.events(match.game_id) if e.type == "round.dealt").data
    hidden = [*dealt["undealt"], *dealt["hands"]["1"], dealt["salt"]]
    for word in [*hidden, *dealt["hands"]["0"]]:
        assert word.encode() not in spectator.raw
    for word in hidden:
        assert word.encode() not in seat.raw
    for word in dealt["hands"]["0"]:
        assert word.encode() in seat.raw
    seat.close()
    spectator.close()
    match.close()


def test_who_sits_down_sees_the_own_hand_in_a_stream_that_was_open_before(server: Server) -> None:
    match = Match.opened(server.port, 2, max_seats=3)
    joining, leaving = registered(server.url, "J"), registered(server.url, "L")
    leaving.post(f"{match.path}/seats")
    streams = [match.listen(token=client.token) for client in (joining, leaving)]
    streams[1].wait_for_version(4)
    leaving._expect("DELETE", f"{match.path}/seats/me")
    joining.post(f"{match.path}/seats")
    version = match.start()
    hands = []
    for stream in streams:
        stream.wait_for_version(version)
        dealt = next(event for event in stream.events if event["type"] == "round.dealt")
        hands.append(list(dealt["data"].get("hands", {})))
        stream.close()
    assert hands == [["2"], []]
    match.close()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_reconnecting_loses_and_repeats_nothing(server: Server, seed: int) -> None:
    """Whenever the connection breaks, before, between or amid the moves."""
    dice = random.Random(seed)
    match = Match.opened(server.port, 2, "vallelujah", options={"rounds_to_win": 9})
    match.dice = dice
    seen: list[int] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            listener = match.listen(
                seed % 2, last_event_id=seen[-1] if seen else None, most=dice.randint(1, 4)
            )
            if listener.status == 204:
                return
            listener.join()
            listener.close()
            seen.extend(listener.ids)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    match.start()
    for _ in range(15):
        match.move()
        time.sleep(dice.choice([0, 0, 0.03]))
    last = match.end()
    reader.join(PATIENCE)
    done.set()
    assert seen == list(range(1, last + 1))
    match.close()


def test_where_to_begin(server: Server) -> None:
    match = Match.opened(server.port, 2)
    for query, header, first in (
        ("", None, 1),
        ("?after=1", None, 2),
        ("?after=1", 2, 3),
        ("?after=2", 0, 1),
    ):
        listener = match.listen(query=query, last_event_id=header)
        listener.wait_for_version(3)
        assert listener.ids[0] == first
        listener.close()
    beyond = match.listen(query="?after=1000")
    last = match.start()
    match.end()
    beyond.join()
    assert beyond.events == []
    assert beyond.end is not None
    assert beyond.end["version"] > last
    match.close()


def test_its_head(server: Server) -> None:
    match = Match.opened(server.port)
    listener = match.listen()
    headers = listener.answer.headers
    assert headers["Content-Type"].startswith("text/event-stream")
    assert headers["Cache-Control"] == "private, no-cache, no-transform"
    assert headers["X-Accel-Buffering"] == "no"
    assert "Content-Encoding" not in headers
    assert "Content-Length" not in headers
    assert "ETag" not in headers
    listener.wait(lambda: listener.retries)
    listener.close()
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("HEAD", f"{match.url}/stream")
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (200, b"")
    connection.request("GET", f"{match.url}/stream", headers={"Last-Event-ID": "x"})
    answer = connection.getresponse()
    assert (answer.status, json.load(answer)["code"]) == (400, "malformed-request")
    connection.close()
    match.close()


def test_no_more_than_so_many_for_one_player_and_who_goes_makes_room(server: Server) -> None:
    match = Match.opened(server.port)
    files = len(list(Path(f"/proc/{server.workers()[0]}/fd").iterdir()))
    listeners = [match.listen(0) for _ in range(4)]
    for listener in listeners:
        listener.wait_for_version(3)
    refused = match.listen(0)
    assert refused.status == 429
    assert refused.problem["code"] == "rate-limited"
    assert int(refused.answer.headers["Retry-After"]) > 0
    other = match.listen(1)
    assert other.status == 200, "others have room"
    other.close()
    listeners[0].close()

    def room() -> bool:
        listeners.append(match.listen(0))
        return listeners[-1].status == 200

    wait_for(room, PATIENCE, "the server sees that a client has gone")
    for listener in listeners:
        listener.close()

    def back() -> bool:
        return len(list(Path(f"/proc/{server.workers()[0]}/fd").iterdir())) <= files + 1

    wait_for(back, PATIENCE, "every connection is let go of")

    def ended() -> int:
        return len(re.findall(rf'"reason":"gone"[^\n]*"game_id":"{match.game_id}"', server.log()))

    wait_for(lambda: ended() >= 6, PATIENCE, "the log tells of each that has gone")
    assert ended() == 6
    match.close()


def test_a_client_that_does_not_read_harms_nobody(server: Server) -> None:
    match = Match.opened(server.port, 2, "vallelujah", options={"rounds_to_win": 9})
    deaf = []
    for _ in range(3):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect(("127.0.0.1", server.port))
        client.sendall(f"GET {match.url}/stream HTTP/1.1\r\nHost: abbot\r\n\r\n".encode())
        deaf.append(client)
    listener = match.listen(0)
    match.start()
    for _ in range(15):
        version = match.move()
        listener.wait_for_version(version)
    for client in deaf:
        client.close()
    listener.close()
    match.end()
    match.close()


def test_a_revoked_token_ends_its_stream(server: Server) -> None:
    match = Match.opened(server.port)
    kept, listener = match.listen(0), match.listen(1)
    ticketed = match.listen(query=_ticket(match, match.seats[1]))
    for each in (kept, listener, ticketed):
        each.wait_for_version(3)
    token_id = match.seats[1].get("/me").body["token_id"]
    match.seats[1]._expect("DELETE", f"/me/tokens/{token_id}")
    listener.join()
    ticketed.join()
    assert listener.closed.is_set()
    match.start()
    kept.wait_for_version(5)
    assert listener.ids[-1] == ticketed.ids[-1] == 3
    kept.close()
    match.close()


def test_what_ends_by_itself_or_with_an_app_ends_its_streams(
    server: Server, scratch: Scratch
) -> None:
    match = Match.opened(server.port)
    short = match.seats[1].post("/me/tokens", {"expires_in": 3600}).body
    keys = [auth.new_key(), auth.new_key()]
    with open_pool(scratch.app_url, 1) as pool:
        apps = Apps(pool)
        app = apps.create("App", auth.token_hash(keys[0]))
        other = apps.add_key(app.app_id, auth.token_hash(keys[1]))
        player, _ = apps.register(app.app_id, "Player")
        kept, by_short = match.listen(0), match.listen(token=short["token"])
        by_app, by_other = (match.listen(token=key, player=player.player_id) for key in keys)
        for each in (kept, by_short, by_app, by_other):
            each.wait_for_version(3)
        scratch.execute(
            "UPDATE tokens SET expires_at = now() WHERE token_id = %s", (short["token_id"],)
        )
        by_short.join()
        assert other is not None
        assert apps.revoke(app.key_id)
        by_app.join()
        assert not by_other.closed.is_set()
        assert apps.revoke(app.app_id)
        by_other.join()
    match.start()
    kept.wait_for_version(5)
    assert by_short.ids[-1] == by_app.ids[-1] == by_other.ids[-1] == 3
    kept.close()
    match.close()


def test_lost_sight_ends_a_stream(server: Server) -> None:
    match = Match.opened(server.port, 2, visibility="private", max_seats=4)
    host = match.seats[0]
    code = host.post(f"{match.path}/invites").body["code"]
    guest, invited = registered(server.url, "G"), registered(server.url, "I")
    by_code = match.listen(token=invited.token, query=f"?invite={code}")
    by_seat = match.listen(1)
    for each in (by_code, by_seat):
        each.wait_for_version(3)
    assert match.listen().status == 404
    assert match.listen(token=guest.token).status == 404
    host._expect("DELETE", f"{match.path}/invites/{code}")
    by_code.join()
    match.seats[1]._expect("DELETE", f"{match.path}/seats/me")
    assert match.listen(0, query=f"?invite={code}").status == 200
    match.close()
    # Who was admitted once may go on looking; the other invite was for the seat that was left.
    by_seat.close()


def _ticket(match: Match, client: Client) -> str:
    made = client.post(f"{match.path}/stream-tickets").body
    assert made["game_id"] == match.game_id
    return f"?ticket={made['ticket']}"


def test_a_ticket_opens_one_stream_and_nothing_else(server: Server, scratch: Scratch) -> None:
    match, other = Match.opened(server.port, 2, visibility="private"), Match.opened(server.port)
    version = match.start()
    query = _ticket(match, match.seats[0])
    listener = match.listen(query=query)
    listener.wait_for_version(version)
    dealt = next(event for event in listener.events if event["type"] == "round.dealt")
    assert list(dealt["data"]["hands"]) == ["0"]
    listener.close()
    assert other.listen(query=query).status == 401
    assert match.listen(query="?ticket=abbot_stream_" + "0" * 43).status == 401
    assert match.listen(query="?ticket=" + str(match.seats[0].token)).status == 401
    assert match.listen(0, query=query).status == 422
    ticket = query.partition("=")[2]
    assert match.listen(token=ticket).status == 401
    connection = HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    bearer = {"Authorization": f"Bearer {ticket}"}
    for path, header in ((f"{match.url}{query}", {}), (match.url, bearer)):
        connection.request("GET", path, headers=header)
        answer = connection.getresponse()
        answer.read()
        assert answer.status in (401, 404)
    connection.close()
    scratch.execute("UPDATE stream_tickets SET expires_at = now() - interval '1 second'")
    assert match.listen(query=query).status == 401
    assert ticket not in server.log()
    stored = scratch.execute("SELECT ticket_hash FROM stream_tickets")
    assert all(ticket.encode() not in bytes(own) for (own,) in stored)
    match.close()
    other.close()


def test_a_token_has_only_so_many_tickets(server: Server, scratch: Scratch) -> None:
    match = Match.opened(server.port)
    queries = [_ticket(match, match.seats[0]) for _ in range(18)]
    count = scratch.execute(
        "SELECT count(*) FROM stream_tickets WHERE game_id = %s", (match.game_id,)
    )
    assert count == [(16,)]
    assert match.listen(query=queries[0]).status == 401
    newest = match.listen(query=queries[-1])
    assert newest.status == 200
    newest.close()
    match.close()


def test_moves_of_another_process_arrive(server: Server, scratch: Scratch, tmp_path: Path) -> None:
    match = Match.opened(server.port)
    listener = match.listen(0)
    with serving(scratch, tmp_path) as elsewhere:
        mine = [Client(elsewhere.url, client.token) for client in match.seats]
        version = mine[0].post(f"{match.path}/start").body["version"]
        listener.wait_for_version(version)
        far = Listener(elsewhere.port, f"{match.url}/stream", match.seats[0].token)
        far.wait_for_version(version)
        moved = match.move()
        for each in (far, listener):
            each.wait_for_version(moved)
        far.close()
        for client in mine:
            client.close()
    listener.close()
    match.close()


def test_sigterm_ends_streams_and_waits_and_finishes_moves(
    scratch: Scratch, tmp_path: Path
) -> None:
    server = Server(scratch, tmp_path)
    match = Match.opened(server.port)
    version = match.start()
    listeners = [match.listen(seat) for seat in (0, 1, None)]
    for listener in listeners:
        listener.wait_for_version(version)
    waited: list[Any] = []
    made: list[int] = []

    def wait() -> None:
        client = Client(server.url, match.seats[0].token)
        waited.append(client.get(f"{match.path}/events", after=version, wait=30).body)
        client.close()

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    moving = threading.Thread(target=lambda: made.append(match.move()), daemon=True)
    with psycopg.connect(scratch.admin_url) as blocker:
        blocker.execute("LOCK TABLE games IN EXCLUSIVE MODE")
        moving.start()
        wait_for(lambda: _blocked(scratch), PATIENCE, "the move waits for the lock")
        wait_for(waiting.is_alive, PATIENCE, "the wait is under way")
        stopping = threading.Thread(target=server.stop, daemon=True)
        stopping.start()
        for listener in listeners:
            listener.join()
            assert listener.closed.is_set(), "ended by the server, properly"
            assert len(listener.retries) == 2
            assert listener.end is None
        waiting.join(PATIENCE)
    moving.join(PATIENCE)
    stopping.join(PATIENCE)
    assert waited[0]["items"] == []
    assert made
    assert made[0] > version
    assert server.process.returncode == 0
    assert "Traceback" not in server.log()
    assert "graceful timeout" not in server.log()
    scratch.forget_processes()
    match.close()


def _blocked(scratch: Scratch) -> bool:
    found = scratch.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND wait_event_type = 'Lock' AND query LIKE '%append_events%'"
    )
    return found != [(0,)]


# --- waits ---------------------------------------------------------------------------------------


def ask(
    match: Match, path: str, seat: int | None = 0, **headers: str
) -> tuple[int, dict[str, str], Any]:
    """One GET, in full."""
    connection = HTTPConnection("127.0.0.1", match.port, timeout=PATIENCE)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if seat is not None:
        sent["Authorization"] = f"Bearer {match.seats[seat].token}"
    try:
        connection.request("GET", path, headers=sent)
        answer = connection.getresponse()
        body = answer.read()
        return answer.status, dict(answer.headers), json.loads(body) if body else None
    finally:
        connection.close()


class Asking(threading.Thread):
    """A question that waits for its answer."""

    def __init__(self, match: Match, path: str, seat: int | None = 0, **headers: str) -> None:
        super().__init__(daemon=True)
        self._ask = lambda: ask(match, path, seat, **headers)
        self._answer: list[Any] = []
        self.start()

    def run(self) -> None:
        self._answer.append(self._ask())

    def answer(self) -> Any:
        self.join(PATIENCE)
        return self._answer[0]


def test_a_wait_for_events(server: Server) -> None:
    match = Match.opened(server.port)
    asking = [Asking(match, f"{match.url}/events?after=3&wait=30", seat) for seat in (0, 1, None)]
    asking.append(Asking(match, f"{match.url}/events?after=3&wait=30", Accept="application/json"))
    wait_for(lambda: all(each.is_alive() for each in asking), PATIENCE, "they wait")
    version = match.start()
    for each in asking:
        status, headers, page = each.answer()
        assert status == 200
        assert [event["version"] for event in page["items"]] == list(range(4, version + 1))
        assert page["head"]["version"] == version
        assert headers["ETag"] == f'"{version}"'
    status, _, page = ask(match, f"{match.url}/events?after={version}&wait=1")
    assert (status, page["items"], page["head"]["version"]) == (200, [], version)
    last = match.end()
    began = time.monotonic()
    status, _, page = ask(match, f"{match.url}/events?after={last}&wait=30")
    assert (status, page["items"]) == (200, [])
    assert time.monotonic() - began < 20, "nothing can come any more"
    match.close()


def test_a_wait_for_a_changed_game(server: Server) -> None:
    match = Match.opened(server.port)
    assert ask(match, f"{match.url}?wait=1", If_None_Match='"3"')[0] == 304
    asking = Asking(match, f"{match.url}?wait=30", If_None_Match='"3"')
    version = match.start()
    status, headers, game = asking.answer()
    assert (status, game["version"], headers["ETag"]) == (200, version, f'"{version}"')
    assert ask(match, f"{match.url}?wait=30", If_None_Match='"3"')[0] == 200
    assert ask(match, f"{match.url}?wait=30")[0] == 200
    last = match.end()
    asking = Asking(match, f"{match.url}?wait=30", If_None_Match=f'"{last}"')
    match.seats[1].post(f"{match.path}/rematch")
    status, headers, game = asking.answer()
    assert (status, headers["ETag"]) == (200, f'"{last}r"')
    assert game["rematch"]
    match.close()


def test_a_wait_for_a_turn(server: Server) -> None:
    url = "/v1/games?turn=me"
    match = Match.opened(server.port)
    status, _, page = ask(match, f"{url}&wait=1")
    assert (status, page["items"]) == (200, [])
    asking = [Asking(match, f"{url}&wait=30", seat) for seat in (0, 1)]
    match.start()
    turn = match.game()["turn"]["seat"]
    status, headers, page = asking[turn].answer()
    assert [game["game_id"] for game in page["items"]] == [match.game_id]
    tag = headers["ETag"]
    assert ask(match, f"{url}&wait=1", turn, If_None_Match=tag)[0] == 304
    # Told of one game already: the next answer is another one, of another match.
    second = Asking(match, f"{url}&wait=30", turn, If_None_Match=tag)
    while match.game()["turn"]["seat"] == turn:
        match.move()
    assert second.answer()[0] == 200
    assert asking[1 - turn].answer()[2]["items"][0]["game_id"] == match.game_id
    for query in ("wait=1", "turn=me&wait=31", "turn=me&wait=x", "turn=me&wait=1&cursor=x"):
        assert ask(match, f"/v1/games?{query}")[0] == 422, query
    assert ask(match, f"{url}&wait=1", None)[0] == 401
    match.end()
    match.close()


def test_a_wait_is_given_up_when_its_client_has_gone(server: Server) -> None:
    match = Match.opened(server.port)
    path = f"{match.url}/events?after=3&wait=30"
    clients: list[socket.socket] = []

    def full() -> bool:
        client = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        head = f"GET {path} HTTP/1.1\r\nHost: abbot\r\n"
        bearer = f"Authorization: Bearer {match.seats[0].token}\r\n\r\n"
        client.sendall((head + bearer).encode())
        clients.append(client)
        answered, _, _ = select.select(clients, [], [], 0.3)
        return any(b" 429 " in each.recv(64) for each in answered)

    wait_for(full, 20, "all places are taken")
    for client in clients:
        client.close()
    wait_for(lambda: ask(match, f"{path[:-2]}1")[0] == 200, 20, "they are free again")
    match.close()


def test_who_is_no_auditor_any_more_sees_no_more(server: Server, scratch: Scratch) -> None:
    match = Match.opened(server.port)
    match.start()
    auditor = registered(server.url, "Auditor")
    token_id = with_scope(scratch, auditor, "audit")
    live = match.listen(token=auditor.token)
    live.wait(lambda: any(e["type"] == "round.dealt" for e in live.events))
    dealt = next(event for event in live.events if event["type"] == "round.dealt")
    assert set(dealt["data"]["hands"]) == {"0", "1"}
    scratch.execute("UPDATE tokens SET scopes = '{play,read}' WHERE token_id = %s", (token_id,))
    live.wait(live.closed.is_set)
    live.join()
    assert live.end is None
    again = match.listen(token=auditor.token)
    again.wait(lambda: len(again.events) >= len(live.events))
    assert b'"hands"' not in again.raw
    again.close()
    match.close()
