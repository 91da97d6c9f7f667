"""Those who wait, in plain threads: a server of this process whose bounds the tests choose."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from werkzeug.serving import WSGIRequestHandler, make_server

from api import http_worker, services
from api.app import create_app
from api.http_worker import Connection
from api.live import Bounds
from api.places import Places
from api.problems import Problem
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.api.asking import Reply, ask, meanwhile
from tests.api.listening import PATIENCE
from tests.api.matches import Match, registered
from tests.databases import Scratch, scratch_database, server_url
from tests.workers.servers import wait_for


class _Silent(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: object) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Threads:
    """A server with a thread for each connection."""

    port: int
    services: services.Services


@contextmanager
def threads(scratch: Scratch, folder: Path, bounds: Bounds) -> Iterator[Threads]:
    with open_pool(scratch.app_url, 8, timeout=2.0) as pool:
        opened = services.over(Store(pool), folder / "keys", bounds=bounds)
        app = create_app(opened=opened)
        server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_Silent)
        server.daemon_threads = True
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            yield Threads(server.server_port, opened)
        finally:
            opened.live.stop()
            server.shutdown()
            server.server_close()


def test_a_quiet_stream_says_that_it_is_alive_and_ends_after_a_while(
    scratch: Scratch, tmp_path: Path
) -> None:
    bounds = Bounds(heartbeat_seconds=0.05, stream_seconds=1.0)
    with threads(scratch, tmp_path, bounds) as server:
        match = Match.opened(server.port)
        listener = match.listen(0)
        listener.join()
        assert listener.closed.is_set()
        assert ":" in listener.comments
        assert listener.ids == [1, 2, 3]
        assert listener.end is None
        assert len(listener.retries) == 2, "it is told when to come again"
        again = match.listen(0, last_event_id=3)
        version = match.start()
        again.wait_for_version(version)
        assert again.ids[0] == 4
        again.join()
        wait_for(lambda: server.services.live.places.taken == 0, PATIENCE, "places are free")
        match.close()


def test_the_end_of_the_process_ends_all(scratch: Scratch, tmp_path: Path) -> None:
    with threads(scratch, tmp_path, Bounds()) as server:
        match = Match.opened(server.port)
        listeners = [match.listen(seat) for seat in (0, 1, None)]
        for listener in listeners:
            listener.wait_for_version(3)
        assert server.services.live.places.streams == 3
        server.services.live.stop()
        for listener in listeners:
            listener.join()
            assert listener.closed.is_set()
        late = match.listen(0)
        late.join()
        assert late.closed.is_set()
        assert match.seats[0].get(f"{match.path}/events", after=3, wait=30).body["items"] == []
        wait_for(lambda: server.services.live.places.taken == 0, PATIENCE, "places are free")
        match.close()


@contextmanager
def _away(scratch: Scratch) -> Iterator[None]:
    """The database takes no connection, and has none."""
    name = sql.Identifier(scratch.name)
    with psycopg.connect(server_url(), autocommit=True) as server:
        server.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        try:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                (scratch.name,),
            )
            yield
        finally:
            server.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))


def test_streams_outlive_a_database_that_is_away_for_a_moment(tmp_path: Path) -> None:
    bounds = Bounds(heartbeat_seconds=0.1, check_seconds=0.1)
    with scratch_database() as scratch, threads(scratch, tmp_path, bounds) as server:
        match = Match.opened(server.port)
        listener = match.listen(0)
        listener.wait_for_version(3)
        with _away(scratch):
            listener.wait(
                lambda: any("cannot be reached" in told for told in listener.comments),
                "the stream says so",
            )
        wait_for(lambda: server.services.live.watcher.away_seconds == 0, PATIENCE, "it is back")
        version = match.start()
        listener.wait_for_version(version)
        assert listener.ids == list(range(1, version + 1))
        listener.close()
        match.close()


def test_streams_end_when_the_database_is_away_for_long(tmp_path: Path) -> None:
    bounds = Bounds(heartbeat_seconds=0.1, away_seconds=0.5)
    with scratch_database() as scratch, threads(scratch, tmp_path, bounds) as server:
        match = Match.opened(server.port)
        listener = match.listen(0)
        listener.wait_for_version(3)
        with _away(scratch):
            listener.join()
        assert listener.closed.is_set()
        assert len(listener.retries) == 2
        match.close()


def test_nothing_is_asked_while_nobody_waits(scratch: Scratch, tmp_path: Path) -> None:
    with threads(scratch, tmp_path, Bounds()) as server:
        match = Match.opened(server.port)
        asked = []
        watching = server.services.live.watcher._watching
        news = watching.news
        watching.news = lambda *known, **late: asked.append(1) or news(*known, **late)  # type: ignore[method-assign]
        match.start()
        assert asked == []
        listener = match.listen(0)
        listener.wait(lambda: len(asked) > 3, "it is asked while somebody waits")
        listener.close()
        match.end()
        match.close()


@pytest.mark.parametrize("visibility", ["public", "private"])
def test_who_is_an_auditor_no_more_when_a_wait_ends_sees_no_more(
    scratch: Scratch, tmp_path: Path, visibility: str
) -> None:
    with threads(scratch, tmp_path, Bounds()) as server, ThreadPoolExecutor(2) as asking:
        match = Match.opened(server.port, visibility=visibility)
        version = match.start()
        auditor = registered(f"http://127.0.0.1:{server.port}", "Auditor")
        player_id = auditor.get("/me").body["player_id"]
        players, places = server.services.players, server.services.live.places
        assert players.change_scope(player_id, "audit", granted=True)

        def wait(path: str, **headers: str) -> Future[Reply]:
            path = f"{match.url}{path}"
            return asking.submit(
                ask, server.port, "GET", path, token=auditor.token, headers=headers
            )

        game = wait("?wait=30", **{"If-None-Match": f'"{version}"'})
        events = wait(f"/events?after={version}&wait=30")
        wait_for(lambda: places.taken == 2, PATIENCE, "both wait")
        assert players.change_scope(player_id, "audit", granted=False)
        match.move()
        shown, page = game.result(PATIENCE), events.result(PATIENCE)
        if visibility == "private":
            assert (shown.status, page.status) == (404, 404)
        else:
            assert (shown.status, page.status) == (200, 200)
            assert not [seat for seat in shown.body["seats"] if "hand" in seat]
            as_anyone = ask(server.port, "GET", f"{match.url}/events?after={version}").body
            assert page.body["items"] == as_anyone["items"][: len(page.body["items"])]
        looked = scratch.execute("SELECT true FROM looks WHERE game_id = %s", (match.game_id,))
        assert looked == []
        auditor.close()
        match.close()


def test_places() -> None:
    places = Places(4, 2, 2)
    taken = [places.take("a"), places.take("a", stream=True)]
    with pytest.raises(Problem) as refused:
        places.take("a")
    assert refused.value.status == 429
    taken.append(places.take(None))
    taken.append(places.take(None))
    with pytest.raises(Problem) as refused:
        places.take("b")
    assert refused.value.status == 503
    taken[2]()
    taken[2]()
    assert (places.taken, places.streams) == (3, 1)
    taken.append(places.take("b"))
    taken[3]()
    places.take(None)
    with pytest.raises(Problem) as refused:
        places.take(None)
    assert refused.value.status == 503, "the rest is for players"
    for give_back in taken:
        give_back()
    assert (places.taken, places.streams) == (1, 0)


def test_a_client_that_takes_nothing_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_worker, "SEND_SECONDS", 0.1)
    ours, theirs = socket.socketpair()
    connection = Connection(ours.family, ours.type, ours.proto, fileno=ours.detach())
    with theirs:
        with pytest.raises(ConnectionResetError):
            connection.sendall(b"x" * 100_000_000)
        connection.close()
        assert connection.fileno() == -1


def test_a_body_that_trickles_is_let_go_however_steadily() -> None:
    ours, theirs = socket.socketpair()
    connection = Connection(ours.family, ours.type, ours.proto, fileno=ours.detach())
    theirs.setblocking(False)

    def trickle() -> None:
        with suppress(OSError):
            theirs.send(b"x")

    connection.body_until = time.monotonic() + 0.2
    with theirs, meanwhile(trickle):
        with pytest.raises(ConnectionResetError):
            list(iter(lambda: connection.recv(1), b""))
        connection.body_until = None
        assert connection.recv(1) == b"x"
        connection.lingered = True
        connection.close()
