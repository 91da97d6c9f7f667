"""Streams and waits of spectators where the host has set a delay, on a running server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from api.command.client import Client
from api.live import Bounds
from domain import times
from eventstore.store import Store
from tests.api.listening import PATIENCE, Listener
from tests.api.matches import Match, registered, with_scope
from tests.api.server import Server, serving
from tests.api.test_waiting import threads
from tests.databases import Scratch
from tests.workers.servers import wait_for

DELAY = 2


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(scratch, tmp_path_factory.mktemp("late")) as running:
        yield running


class Timed(Listener):
    """A listener that knows what time it was by the record's clock when each event had come."""

    def __init__(self, scratch: Scratch, *where: Any, **more: Any) -> None:
        self._scratch = scratch
        self.came: list[str] = []
        super().__init__(*where, **more)

    def _dispatch(self, fields: dict[str, str]) -> None:
        if "id" in fields:
            ((now,),) = self._scratch.execute("SELECT clock_timestamp()")
            self.came.append(times.from_micros(round(now.timestamp() * 1_000_000)))
        super()._dispatch(fields)


def _started(store: Store, match: Match) -> int:
    events = store.events(match.game_id)
    return next(event.version for event in events if event.type == "game.started")


def _not_early(listener: Timed, started: int) -> None:
    assert listener.ids == list(range(1, len(listener.ids) + 1))
    for event, came in zip(listener.events, listener.came, strict=True):
        if event["version"] > started:
            assert came >= times.plus_seconds(event["at"], DELAY)


def test_each_event_comes_when_its_delay_has_passed(
    server: Server, scratch: Scratch, store: Store
) -> None:
    match = Match.opened(server.port, 3, spectator_delay_seconds=DELAY)
    auditor = registered(server.url, "Auditor")
    with_scope(scratch, auditor, "audit")
    path = f"{match.url}/stream"
    where = (scratch, server.port, path)
    watching = [Timed(*where), Timed(*where, registered(server.url, "Stranger").token)]
    seeing = [match.listen(0), match.listen(2), match.listen(token=auditor.token)]
    for each in (*watching, *seeing):
        each.wait_for_version(4)
    match.start()
    for _ in range(4):
        match.move()
    newest = match.end()
    for live in seeing:
        live.wait(lambda live=live: live.end is not None)
        assert live.end == {"status": "finished", "version": newest}
    events = Client(server.url, match.seats[0].token).history(f"{match.path}/events")
    for late in watching:
        late.wait(lambda late=late: late.end is not None)
        late.join()
        assert late.closed.is_set()
        assert late.end == {"status": "finished", "version": newest}
        assert [each["hash"] for each in late.events] == [each["hash"] for each in events]
        _not_early(late, _started(store, match))
    match.close()


def test_a_reader_comes_again_without_a_gap(server: Server, scratch: Scratch, store: Store) -> None:
    match = Match.opened(server.port, spectator_delay_seconds=DELAY)
    match.start()
    for _ in range(3):
        match.move()
    newest = match.end()
    path, last = f"{match.url}/stream", 0
    while True:
        part = Timed(scratch, server.port, path, last_event_id=last, most=2)
        if part.status == 204:
            break
        part.wait(lambda part=part: part.end is not None or len(part.events) >= 2)
        part.join()
        assert part.ids == list(range(last + 1, last + 1 + len(part.ids)))
        for event, came in zip(part.events, part.came, strict=True):
            if event["version"] > _started(store, match):
                assert came >= times.plus_seconds(event["at"], DELAY)
        last += len(part.ids)
        part.close()
    assert last == newest
    match.close()


def test_a_version_that_is_yet_to_come_brings_nothing_early(
    server: Server, scratch: Scratch, store: Store
) -> None:
    """Also where the delay is set while the stream, which skips that, is open."""
    match = Match.opened(server.port)
    ahead = Timed(scratch, server.port, f"{match.url}/stream?after=7")
    match.seats[0]._expect("PATCH", match.path, {"spectator_delay_seconds": DELAY})
    match.seats[1]._expect("PATCH", f"{match.path}/seats/me", {"ready": True})
    match.start()
    match.move()
    newest = match.end()
    ahead.wait(lambda: ahead.end is not None)
    ahead.join()
    assert ahead.ids == list(range(8, newest + 1))
    assert ahead.ids[0] > _started(store, match)
    for event, came in zip(ahead.events, ahead.came, strict=True):
        assert came >= times.plus_seconds(event["at"], DELAY)
    match.close()


def test_a_stream_follows_who_sits_down_and_who_leaves(
    server: Server, scratch: Scratch, store: Store
) -> None:
    match = Match.opened(server.port, 2, max_seats=3)
    comes, goes = registered(server.url, "Comes"), registered(server.url, "Goes")
    goes.post(f"{match.path}/seats")
    match.seats[0]._expect("PATCH", match.path, {"spectator_delay_seconds": DELAY})
    path = f"{match.url}/stream"
    seated = Listener(server.port, path, comes.token)
    left = Timed(scratch, server.port, path, goes.token)
    for each in (seated, left):
        each.wait_for_version(5)
    goes._expect("DELETE", f"{match.path}/seats/me")
    comes.post(f"{match.path}/seats")
    for player in (match.seats[1], comes):
        player._expect("PATCH", f"{match.path}/seats/me", {"ready": True})
    match.seats.append(comes)
    match.start()
    newest = match.move()
    seated.wait_for_version(newest)
    dealt = next(each for each in seated.events if each["type"] == "round.dealt")
    assert list(dealt["data"]["hands"]) == ["2"]
    left.wait_for_version(newest)
    _not_early(left, _started(store, match))
    for each in (seated, left):
        each.close()
    match.close()


def test_a_wait_wakes_when_the_delay_has_passed(
    server: Server, scratch: Scratch, store: Store
) -> None:
    match = Match.opened(server.port, spectator_delay_seconds=DELAY)
    match.start()
    started = _started(store, match)
    client = Client(server.url)
    answers: dict[str, Any] = {}

    def wait_for_events() -> None:
        answers["events"] = client.get(f"{match.path}/events", after=started, wait=30)

    def wait_for_game() -> None:
        url = f"{server.url}{match.url}?wait=30"
        with urlopen(Request(url, headers={"If-None-Match": f'"{started}"'})) as answer:
            answers["game"] = json.load(answer)

    threads = [threading.Thread(target=each) for each in (wait_for_events, wait_for_game)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    dealt = store.events(match.game_id, started, 1)[0]
    page = answers["events"].body
    assert page["items"][0]["hash"] == dealt.hash
    assert answers["game"]["version"] == page["head"]["version"] == dealt.version
    client.close()
    match.close()


@pytest.mark.parametrize("meanwhile", ["nothing else", "the delay is set", "a seat is left"])
def test_a_wait_from_the_lobby_brings_nothing_early(
    scratch: Scratch, tmp_path: Path, meanwhile: str
) -> None:
    with threads(scratch, tmp_path, Bounds()) as server:
        late = {} if meanwhile == "the delay is set" else {"spectator_delay_seconds": DELAY}
        match = Match.opened(server.port, 2, max_seats=3, **late)
        url = f"http://127.0.0.1:{server.port}"
        waiter = None
        if meanwhile == "a seat is left":
            waiter = registered(url, "Goes")
            waiter.post(f"{match.path}/seats")
        answers: dict[int, tuple[list[dict[str, Any]], str]] = {}

        def wait(after: int) -> None:
            client = Client(url, None if waiter is None else waiter.token)
            items = client.get(f"{match.path}/events", after=after, wait=30).body["items"]
            ((now,),) = scratch.execute("SELECT clock_timestamp()")
            answers[after] = items, times.from_micros(round(now.timestamp() * 1_000_000))
            client.close()

        waits = [threading.Thread(target=wait, args=(after,)) for after in (7, 8, 9)]
        for thread in waits:
            thread.start()
        places = server.services.live.places
        wait_for(lambda: places.taken == len(waits), PATIENCE, "all wait")
        if meanwhile == "the delay is set":
            change = {"spectator_delay_seconds": DELAY}
            match.seats[0]._expect("PATCH", match.path, change)
            match.seats[1]._expect("PATCH", f"{match.path}/seats/me", {"ready": True})
        if waiter is not None:
            waiter._expect("DELETE", f"{match.path}/seats/me")
        match.start()
        for _ in range(4):
            match.move()
        match.end()
        for thread in waits:
            thread.join(PATIENCE)
        assert sorted(answers) == [7, 8, 9]
        for after, (items, came) in answers.items():
            assert items[0]["version"] == after + 1
            assert came >= times.plus_seconds(items[0]["at"], DELAY)
        match.close()
