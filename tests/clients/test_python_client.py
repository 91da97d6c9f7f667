"""What the Python package promises, in this process."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.server import Server
from tests.clients.trouble import trouble
from tests.workers.servers import free_port

SETTINGS = {"turn_seconds": 3600, "max_seats": 2, "options": {"rounds_to_win": 1}}


@pytest.fixture
def package(importable: Path) -> Any:
    import abbot_client  # type: ignore[import-not-found]

    return abbot_client


@pytest.fixture
def players(package: Any, server: Server) -> Iterator[tuple[Any, Any]]:
    """Host and guest."""
    with (
        package.Abbot.register(server.url, "Host") as host,
        package.Abbot.register(server.url, "Guest") as guest,
    ):
        yield host, guest


@pytest.fixture
def game_id(players: tuple[Any, Any]) -> str:
    """A match of the two."""
    host, guest = players
    game_id = str(host.create_game("halleluja", **SETTINGS).game_id)
    guest.take_seat(game_id, client_seed="5eed")
    assert host.start(game_id).status == "active"
    return game_id


@pytest.fixture
def by_turn(players: tuple[Any, Any], game_id: str) -> tuple[Any, Any]:
    """Whose turn it is, and the other."""
    host, guest = players
    return (host, guest) if host.game(game_id).turn.seat == 0 else (guest, host)


def test_a_refusal_is_an_error_with_its_code(package: Any, players: tuple[Any, Any]) -> None:
    host, _ = players
    with pytest.raises(package.AbbotError) as raised:
        host.game("00000000-0000-7000-8000-000000000000")
    assert (raised.value.status, raised.value.code) == (404, "not-found")
    with pytest.raises(ValueError, match="badly formed"):
        host.game("no id")


def test_a_late_move_is_told_from_a_wrong_one(
    package: Any, by_turn: tuple[Any, Any], game_id: str
) -> None:
    mover, other = by_turn
    turn = next(mover.turns(game_id))
    move = package.filled(turn.legal_moves[0])
    with pytest.raises(package.TooLate) as raised:
        other.move(game_id, move)
    assert raised.value.code == "not-your-turn"
    wrong = type(move).from_dict({"type": "keep"})
    with pytest.raises(package.AbbotError) as refused:
        mover.move(game_id, wrong)
    assert refused.value.code == "illegal-move"
    assert not isinstance(refused.value, package.TooLate)
    assert refused.value.problem.legal_moves


def test_sentences_come_in_the_language_that_is_asked_for(package: Any, server: Server) -> None:
    with (
        package.Abbot(server.url, language="de") as german,
        pytest.raises(package.AbbotError) as raised,
    ):
        german.create_game("halleluja")
    assert raised.value.code == "unauthenticated"
    assert raised.value.problem.detail != ""
    with package.Abbot(server.url) as english, pytest.raises(package.AbbotError) as other:
        english.create_game("halleluja")
    assert other.value.problem.detail != raised.value.problem.detail


def test_an_app_acts_for_a_player(package: Any, server: Server) -> None:
    with (
        package.Abbot(server.url, "abbot_app_nobody", player="0" * 32) as app,
        pytest.raises(package.AbbotError) as raised,
    ):
        app.create_game("halleluja")
    assert raised.value.status == 401


def test_what_waits_is_told(package: Any, by_turn: tuple[Any, Any], game_id: str) -> None:
    mover, other = by_turn
    assert [str(game.game_id) for game in mover.wait_for_turn()] == [game_id]
    seen = other.game(game_id)
    with ThreadPoolExecutor(1) as threads:
        newer = threads.submit(other.game, game_id, newer_than=seen.version)
        made = mover.move(game_id, package.filled(next(mover.turns(game_id)).legal_moves[0]))
        assert newer.result().version == made.game.version > seen.version


def test_a_stream_shows_what_the_pages_show(
    package: Any, players: tuple[Any, Any], game_id: str
) -> None:
    host, guest = players
    pages = [event.version for event in guest.events(game_id)]
    first = itertools.islice(guest.stream(game_id), len(pages))
    assert [event.version for event in first] == pages == list(range(1, len(pages) + 1))
    host.resign(game_id)
    rest = list(guest.stream(game_id, after=pages[-1]))
    assert [event.version for event in rest] == [
        event.version for event in guest.events(game_id, after=pages[-1])
    ]
    assert isinstance(rest[-1], package.GameEvent)
    assert type(rest[-1]).__name__ == "GameWonEvent"
    # Over, with nothing more to come.
    assert list(guest.stream(game_id, after=rest[-1].version)) == []
    with package.Abbot(guest.url, "abbot_nobody") as stranger, pytest.raises(package.AbbotError):
        next(stranger.stream(game_id))


def test_a_match_goes_on_in_a_rematch(players: tuple[Any, Any], game_id: str) -> None:
    host, guest = players
    assert guest.resign(game_id).status == "finished"
    assert list(guest.turns(game_id)) == []
    again = host.rematch(game_id)
    assert guest.rematch(game_id).game_id == again.game_id
    mine = {str(game.game_id) for game in host.games(mine=True, limit=1)}
    assert mine == {game_id, str(again.game_id)}


def test_who_is_present_need_not_come_back(players: tuple[Any, Any], game_id: str) -> None:
    _, guest = players
    assert guest.come_back(game_id).status == "active"


def test_patience_ends(package: Any) -> None:
    with (
        package.Abbot(f"http://127.0.0.1:{free_port()}", patience=0.5) as abbot,
        pytest.raises(httpx.ConnectError),
    ):
        abbot.game("00000000-0000-7000-8000-000000000000")


def test_what_could_count_twice_is_not_sent_again(
    package: Any, players: tuple[Any, Any], server: Server
) -> None:
    """A token is shown once, so making one takes no key."""
    from abbot_client.generated.api.me import create_token, list_tokens
    from abbot_client.generated.models import NewToken

    host, _ = players
    before = len(list_tokens.sync(client=host.client).items)
    with trouble(server.port) as proxy, package.Abbot(proxy.url, host.token) as abbot:
        proxy.next["other"] = "lost"
        with pytest.raises(httpx.RemoteProtocolError):
            create_token.sync(client=abbot.client, body=NewToken.from_dict({"scopes": ["read"]}))
        assert len(list_tokens.sync(client=host.client).items) == before + 1
        # What opens a table has a key, and is sent again by itself.
        proxy.next["other"] = "lost"
        table = abbot.create_game("halleluja", **SETTINGS)
    assert [game.game_id for game in host.games(mine=True)] == [table.game_id]
    assert proxy.did["lost"] == 2


@pytest.fixture
def tester(package: Any, server: Server) -> Iterator[Any]:
    """A player of the sandbox."""
    with package.Abbot.register(server.url, "Tester", sandbox=True) as abbot:
        yield abbot


def test_the_clock_of_a_sandbox_game_is_moved_once(
    package: Any, tester: Any, server: Server
) -> None:
    game_id = tester.create_game("halleluja", deal="play-a-2", **SETTINGS).game_id
    tester.take_seat(game_id, bot="greedy")
    assert tester.start(game_id).sandbox
    with trouble(server.port) as proxy, package.Abbot(proxy.url, tester.token) as abbot:
        proxy.next["other"] = "lost"
        assert abbot.advance_clock(game_id, 60).clock.ahead_ms == 60_000
        assert proxy.did["lost"] == 1
    for _ in range(2):
        assert tester.advance_clock(game_id, 5, key="again").clock.ahead_ms == 65_000
    assert tester.game(game_id).clock.ahead_ms == 65_000


def test_the_sandbox_is_for_those_who_ask_for_it(package: Any, players: tuple[Any, Any]) -> None:
    host, guest = players
    game_id = host.create_game("halleluja", **SETTINGS).game_id
    guest.take_seat(game_id)
    assert not host.start(game_id).sandbox
    with pytest.raises(package.AbbotError) as raised:
        host.advance_clock(game_id, 65)
    assert raised.value.code == "forbidden"


@pytest.mark.parametrize("code", ["unavailable", "rate-limited", "unauthenticated"])
def test_the_sandbox_refuses_as_it_is_asked(
    package: Any, tester: Any, server: Server, code: str
) -> None:
    settings = {"refuse": code, "patience": 0}
    again = package.Abbot(server.url, tester.token, **settings)
    new = package.Abbot.register(server.url, "New", sandbox=True, **settings)
    real = package.Abbot.register(server.url, "Real", **settings)
    for abbot, expected in ((again, code), (new, code), (real, "forbidden")):
        with abbot, pytest.raises(package.AbbotError) as raised:
            abbot.create_game("halleluja")
        assert raised.value.code == expected
    assert list(tester.games(mine=True)) == []


def test_a_refusal_that_was_asked_for_is_tried_again_as_any(package: Any, tester: Any) -> None:
    class Recovering(httpx.HTTPTransport):
        asked: int = 0

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            self.asked += 1
            if self.asked > 1:
                del request.headers["Abbot-Sandbox-Refuse"]
            return super().handle_request(request)

    server = Recovering()
    with package.Abbot(tester.url, tester.token, refuse="unavailable", transport=server) as abbot:
        assert list(abbot.games(mine=True)) == []
    assert server.asked == 2


def test_it_may_be_shared_by_threads(players: tuple[Any, Any], game_id: str) -> None:
    host, _ = players
    ready = threading.Barrier(8)

    def look(_: int) -> int:
        ready.wait()
        return int(host.game(game_id).version)

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(look, range(8)))) == 1
