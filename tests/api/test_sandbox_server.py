"""All that can go wrong, as a client's developer meets it in the sandbox, over HTTP alone."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from api.problems import KINDS
from tests.api.server import Server, serving
from tests.databases import scratch_database

DAY = 24 * 3600
NOBODYS = "01900000-0000-7000-8000-000000000000"
OURS = {"internal"}
"""A fault of the server is nothing that can be asked for."""


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any


class Caller:
    """Sends requests to a server as one player of the sandbox, or as nobody."""

    def __init__(self, port: int, token: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def send(
        self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **more: str
    ) -> Answer:
        data = raw if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if data is not None else {}
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        self._connection.request(method, f"/v1{path}", data, self._headers | headers)
        answer = self._connection.getresponse()
        text = answer.read()
        told = json.loads(text) if text else None
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, told)

    def done(self, method: str, path: str, body: Any = None, **more: str) -> Any:
        """What is answered to a request that must succeed."""
        answer = self.send(method, path, body, **more)
        assert answer.status < 300, answer
        return answer.body


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("sandbox")
    with (
        scratch_database() as scratch,
        serving(scratch, folder, ABBOT_WEBHOOKS="anywhere") as server,
    ):
        yield server


def _player(server: Server, name: str) -> Caller:
    made = Caller(server.port).done("POST", "/players", {"name": name, "sandbox": True})
    assert made["sandbox"] is True
    return Caller(server.port, made["token"])


class Provoked:
    """The refusals that were met, by their codes."""

    def __init__(self) -> None:
        self.codes: set[str] = set()

    def meet(self, code: str, answer: Answer) -> dict[str, Any]:
        """The answer must be this refusal, as the document has it."""
        problem: dict[str, Any] = answer.body
        assert (answer.status, problem.get("code")) == (KINDS[code].status, code), answer
        assert answer.headers["content-type"] == "application/problem+json"
        assert problem["type"] == f"/problems/{code}"
        self.codes.add(code)
        return problem


def test_every_refusal_and_a_timeout_of_fourteen_days(server: Server) -> None:
    met = Provoked()
    host, guest, third = (_player(server, name) for name in ("Host", "Guest", "Third"))
    _provoke_forms(met, host, server)
    settings = {"ruleset": "halleluja", "deal": "play-a-2", "max_seats": 2}
    game = host.done("POST", "/games", {**settings, "turn_seconds": 14 * DAY})
    path = f"/games/{game['game_id']}"
    _provoke_lobby(met, host, guest, third, path)
    _provoke_moves(met, host, guest, path)
    _provoke_webhooks(met, host)
    _provoke_what_is_seldom(met, host, guest, path)
    assert met.codes == KINDS.keys() - OURS


def _provoke_forms(met: Provoked, host: Caller, server: Server) -> None:
    met.meet("malformed-json", host.send("POST", "/games", raw=b"{"))
    met.meet("malformed-request", host.send("POST", "/games", []))
    met.meet("unauthenticated", Caller(server.port, "abbot_no").send("GET", "/me"))
    met.meet("not-found", host.send("GET", f"/games/{NOBODYS}"))
    met.meet("method-not-allowed", host.send("PUT", "/games"))
    met.meet("not-acceptable", host.send("GET", "/games", Accept="image/png"))
    met.meet("too-large", host.send("POST", "/games", {"ruleset": "x" * 70_000}))
    plain = host.send("POST", "/games", {}, Content_Type="text/plain")
    met.meet("unsupported-media-type", plain)
    met.meet("validation", host.send("POST", "/games", {"ruleset": "halleluja", "cards": 5}))


def _provoke_lobby(met: Provoked, host: Caller, guest: Caller, third: Caller, path: str) -> None:
    met.meet("not-enough-seats", host.send("POST", f"{path}/start"))
    guest.done("POST", f"{path}/seats")
    met.meet("already-seated", guest.send("POST", f"{path}/seats"))
    met.meet("table-full", third.send("POST", f"{path}/seats"))
    met.meet("forbidden", guest.send("POST", f"{path}/start"))
    met.meet("game-not-active", guest.send("POST", f"{path}/moves", {"type": "draw"}))
    host.done("PATCH", path, {"options": {"away_after": 5}})
    met.meet("not-ready", host.send("POST", f"{path}/start"))
    guest.done("PATCH", f"{path}/seats/me", {"ready": True})
    host.done("POST", f"{path}/start")
    met.meet("not-in-lobby", host.send("PATCH", path, {"turn_seconds": 30}))
    met.meet("game-not-over", host.send("POST", f"{path}/rematch"))


def _provoke_moves(met: Provoked, host: Caller, guest: Caller, path: str) -> None:
    move = host.done("GET", f"{path}/legal-moves")["legal_moves"][0]["move"]
    assert move["card"].startswith("A-")
    moves = f"{path}/moves"
    problem = met.meet("not-your-turn", guest.send("POST", moves, {"type": "draw"}))
    assert problem["rule"]
    met.meet("stale-turn", host.send("POST", moves, {**move, "turn": 99}))
    problem = met.meet("illegal-move", host.send("POST", moves, {"type": "keep"}))
    assert problem["legal_moves"]
    met.meet("precondition-failed", host.send("POST", moves, move, If_Match='"1"'))
    host.done("POST", moves, move, Idempotency_Key="one")
    other = host.send("POST", moves, {"type": "draw"}, Idempotency_Key="one")
    met.meet("idempotency-key-reused", other)
    late = guest.done("GET", f"{path}/legal-moves")["legal_moves"][0]["move"]
    game = host.done("POST", f"{path}/clock", {"advance_seconds": 14 * DAY + 60})
    assert game["turn"]["seat"] == 0
    events = host.done("GET", f"{path}/events")["items"]
    assert "turn.expired" in {event["type"] for event in events}
    met.meet("turn-expired", guest.send("POST", moves, late))


def _provoke_webhooks(met: Provoked, host: Caller) -> None:
    body = {"url": "http://127.0.0.1:9/", "events": ["game.over"]}
    made = host.done("POST", "/me/webhooks", body)
    path = f"/me/webhooks/{made['webhook_id']}"
    host.done("PATCH", path, {"enabled": False})
    met.meet("webhook-disabled", host.send("POST", f"{path}/ping"))
    for _ in range(100):
        answer = host.send("POST", "/me/webhooks", body)
        if answer.status != 201:
            break
    met.meet("too-many-webhooks", answer)


def _provoke_what_is_seldom(met: Provoked, host: Caller, guest: Caller, path: str) -> None:
    """What a healthy server says to nobody who does not ask for it."""
    before = host.done("GET", path)["version"]
    for code in ("rate-limited", "unavailable", "unauthenticated"):
        asked = {"Abbot_Sandbox_Refuse": code}
        answer = guest.send("POST", f"{path}/resign", **asked)
        met.meet(code, answer)
        if code != "unauthenticated":
            assert int(answer.headers["retry-after"]) >= 1
    assert host.done("GET", path)["version"] == before
