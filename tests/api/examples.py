"""A walk through the API, whose answers are the document's examples.

Ids, secrets and hands come from seeds; what still differs from run to run (times, hashes,
signatures, tokens) is replaced by values that are made up in the order in which they appear.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.services import open_services
from domain.webhooks import PING, message, messages, ping_message
from eventstore import ids, invites, opening
from tests.api.client import Client, document, template_of
from tests.databases import Scratch

MOST_OBJECTS, MOST_TEXTS = 2, 8
"""Longer lists are cut off in examples."""
_SOON = 1800

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_JWS = re.compile(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+")
_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_SALT = re.compile(r"\b[0-9a-f]{32}\b")
_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_WEBHOOK_SECRET = re.compile(r"whsec_[0-9A-Za-z+/]{43}=")
_SECRET = re.compile(r"\babbot(?:_[a-z]+)*_[0-9A-Za-z]{20,}")


class Seeded:
    """Stands in for what the system gives at random, and for the time that ids are made of."""

    def __init__(self) -> None:
        self.dice = random.Random(8)
        self.now = 1_772_366_400_000_000_000

    def urandom(self, count: int) -> bytes:
        return self.dice.randbytes(count)

    token_bytes = urandom

    def time_ns(self) -> int:
        self.now += 1_000_000
        return self.now

    def set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ids, "os", SimpleNamespace(urandom=self.urandom))
        monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=self.time_ns))
        for module in (opening, invites):
            monkeypatch.setattr(module, "secrets", SimpleNamespace(token_bytes=self.token_bytes))


@dataclass
class Recorder:
    """The first answer of each operation with each status, and what was sent for it."""

    answers: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    requests: dict[str, Any] = field(default_factory=dict)
    problems: dict[str, dict[str, Any]] = field(default_factory=dict)
    messages: dict[str, Any] = field(default_factory=dict)
    """Of each type, as webhooks are sent it."""

    def note(self, method: str, path: str, sent: Any, answer: TestResponse) -> None:
        status = str(answer.status_code)
        if answer.mimetype == "application/problem+json":
            self.problems.setdefault(status, {}).setdefault(
                answer.get_json()["code"], _body(answer)
            )
            return
        template = template_of(path)
        assert template is not None, path
        operation = document()["paths"][template][method.lower()]["operationId"]
        if status.startswith("2") and sent:
            self.requests.setdefault(operation, sent)
        if answer.get_data():
            media = self.answers.setdefault(operation, {}).setdefault(status, {})
            media.setdefault(answer.mimetype, _body(answer))

    def examples(self) -> dict[str, Any]:
        """All of it, with stable values, as plain data."""
        found = {
            "answers": dict(sorted(self.answers.items())),
            "problems": {
                status: dict(sorted(codes.items()))
                for status, codes in sorted(self.problems.items())
            },
            "requests": dict(sorted(self.requests.items())),
            "messages": dict(sorted(self.messages.items())),
        }
        stable: dict[str, Any] = Stable(found).of(found)
        return stable


def _body(answer: TestResponse) -> Any:
    if answer.mimetype == "text/event-stream":
        return "\n\n".join(answer.get_data(as_text=True).split("\n\n")[:3]) + "\n\n"
    if answer.mimetype == "application/x-ndjson":
        return json.loads(answer.get_data(as_text=True).splitlines()[0])
    return answer.get_json()


class Stable:
    """Values that stay the same from run to run, in place of those that do not."""

    def __init__(self, found: Any) -> None:
        self._known: dict[str, str] = {}
        self._times = sorted(set(_TIME.findall(json.dumps(found))))

    def of(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self.of(inner, key) for key, inner in value.items()}
        if isinstance(value, list):
            most = MOST_OBJECTS if value and isinstance(value[0], dict) else MOST_TEXTS
            return [self.of(inner, name) for inner in value[:most]]
        if name == "remaining_ms":
            return 3_599_000
        if isinstance(value, str):
            if name in ("kid", "x"):
                return self._named("key", value)[:43]
            return self._text(value)
        return value

    def _text(self, text: str) -> str:
        text = _JWS.sub(lambda found: self._jws(found[0]), text)
        text = _WEBHOOK_SECRET.sub(lambda found: self._webhook_secret(found[0]), text)
        text = _SECRET.sub(lambda found: self._secret(found[0]), text)
        text = _TIME.sub(lambda found: self._time(found[0]), text)
        text = _ID.sub(lambda found: self._id(found[0]), text)
        text = _HASH.sub(lambda found: self._named("hash", found[0]), text)
        return _SALT.sub(lambda found: self._named("salt", found[0])[:32], text)

    def _named(self, kind: str, value: str) -> str:
        if value not in self._known:
            count = sum(1 for known in self._known.values() if known)
            self._known[value] = hashlib.sha256(f"{kind} {count}".encode()).hexdigest()
        return self._known[value]

    def _jws(self, value: str) -> str:
        return f"eyJhbGciOiJFZERTQSJ9.eyJnYW1lX2lkIjoi.{self._named('jws', value)[:43]}"

    def _secret(self, value: str) -> str:
        return f"{value.rpartition('_')[0]}_{self._named('token', value)[:43]}"

    def _webhook_secret(self, value: str) -> str:
        number = bytes.fromhex(self._named("webhook", value))
        return f"whsec_{base64.b64encode(number).decode()}"

    def _id(self, value: str) -> str:
        number = self._named("id", value)
        return f"01a00000-{number[:4]}-7{number[4:7]}-8{number[7:10]}-{number[10:22]}"

    def _time(self, value: str) -> str:
        place = self._times.index(value)
        hour = 13 if self._later(value) else 12
        return f"2026-03-01T{hour}:{place // 60:02}:{place % 60:02}.000000Z"

    def _later(self, value: str) -> bool:
        """Whether it was yet to come: when a turn is due, or a ticket ends."""
        return _seconds(value) - _seconds(self._times[0]) > _SOON


def _seconds(time: str) -> float:
    return datetime.datetime.fromisoformat(time).timestamp()


class Walker(Client):
    """A client whose answers are noted."""

    recorder: Recorder

    def send(self, method: str, path: str, body: Any = None, **more: Any) -> TestResponse:
        answer = super().send(method, path, body, **more)
        self.recorder.note(method, path, body, answer)
        return answer

    def named(self, name: str) -> Walker:
        player = self.post("/v1/players", {"name": name}, expect=201).get_json()
        return self.holding(player["token"], player["player_id"])

    def holding(self, token: str | None, player_id: str = "") -> Walker:
        walker = Walker(self.app, token, player_id)
        walker.recorder = self.recorder
        return walker


def walk(app: Flask, away: Flask, scratch: Scratch, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """Go through every operation and nearly every refusal, on `app` and on one whose database is
    `away`."""
    Seeded().set(monkeypatch)
    recorder = Recorder()
    nobody = Walker(app)
    nobody.recorder = recorder
    anselm, berta, clara = (nobody.named(f"{name}") for name in ("Anselm", "Berta", "Clara"))
    _service(nobody, away, recorder)
    _tokens(anselm)
    _webhook(anselm)
    lobby = _lobby(anselm, berta, clara)
    for url in _played(anselm, berta, clara, lobby):
        _looked_at(anselm, url)
    _audited(anselm, clara, lobby, scratch)
    _messages(app, recorder, anselm)
    _sandbox(nobody)
    return recorder


def _messages(app: Flask, recorder: Recorder, anselm: Walker) -> None:
    """What a webhook of Anselm's is told of the match that is over."""
    over = anselm.get("/v1/games", query="status=finished&mine=true").get_json()["items"][0]
    seat = next(
        each["seat"] for each in over["seats"] if each["player"]["player_id"] == anselm.player_id
    )
    webhook_id = anselm.get("/v1/me/webhooks").get_json()["items"][0]["webhook_id"]
    recorder.messages[PING] = ping_message(webhook_id, over["updated_at"])
    events = open_services(app).store.events(over["game_id"])
    started = next(event.version for event in events if event.type == "game.started")
    for event in events[started:]:
        for type_ in messages(event, seat):
            told = message(type_, event, seat, anselm.player_id)
            recorder.messages.setdefault(type_, told)


def _service(nobody: Walker, away: Flask, recorder: Recorder) -> None:
    for path in (
        "/healthz",
        "/readyz",
        "/.well-known/jwks.json",
        "/v1/rulesets",
        "/v1/rulesets/halleluja",
    ):
        nobody.get(path, expect=200)
    lost = Walker(away)
    lost.recorder = recorder
    lost.get("/readyz", expect=503)
    nobody.get("/v1/me", expect=401)
    nobody.get("/v1/me", headers={"Authorization": "Bearer x"}, expect=401)
    nobody.get("/healthz", headers={"Accept": "image/png"}, expect=406)
    nobody.post("/v1/players", data=b"{", content_type="application/json", expect=400)
    nobody.post("/v1/players", [], expect=400)
    nobody.post("/v1/players", {"name": ""}, expect=422)
    nobody.post("/v1/players", data=b"name", content_type="text/plain", expect=415)
    nobody.post("/v1/players", {"name": "x" * 70_000}, expect=413)


def _tokens(anselm: Walker) -> None:
    anselm.get("/v1/me", expect=200)
    token = anselm.post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()
    anselm.get("/v1/me/tokens", expect=200)
    anselm.holding(token["token"]).post("/v1/games", {"ruleset": "halleluja"}, expect=403)
    anselm.delete(f"/v1/me/tokens/{token['token_id']}", expect=204)
    anselm.get(f"/v1/players/{anselm.player_id}", expect=200)


def _webhook(anselm: Walker) -> None:
    """A webhook and its messages, and as many webhooks as are too many."""
    new = {"url": "https://bots.example.com/abbot", "events": ["turn.begun", "game.over"]}
    every = "/v1/me/webhooks"
    url = _called(anselm, every, new)
    anselm.patch(url, {"enabled": False}, expect=200)
    anselm.post(f"{url}/ping", expect=409)
    while anselm.post(every, new).status_code == 201:
        pass
    anselm.delete(url, expect=204)


def _app_webhook(caller: Walker) -> None:
    """The same of an app."""
    new = {"url": "https://app.example.com/abbot", "events": ["turn.begun", "game.over"]}
    url = _called(caller, "/v1/apps/me/webhooks", new)
    caller.patch(url, {"enabled": True}, expect=200)
    caller.delete(url, expect=204)


def _called(owner: Walker, every: str, new: dict[str, Any]) -> str:
    """A new webhook among those at `every`, and its messages; its URL."""
    url = f"{every}/{owner.post(every, new, expect=201).get_json()['webhook_id']}"
    owner.get(every, expect=200)
    owner.get(url, expect=200)
    message = owner.post(f"{url}/ping", expect=201).get_json()
    owner.post(f"{url}/ping", expect=200)
    owner.get(f"{url}/deliveries", expect=200)
    owner.get(f"{url}/deliveries/{message['delivery_id']}", expect=200)
    owner.post(f"{url}/deliveries/{message['delivery_id']}/retry", expect=200)
    owner.post(f"{url}/rotate-secret", expect=200)
    return url


def _lobby(anselm: Walker, berta: Walker, clara: Walker) -> str:
    """A private table with two players; its URL."""
    settings = {
        "ruleset": "halleluja",
        "options": {"rounds_to_win": 2},
        "turn_seconds": 3600,
        "max_seats": 3,
        "visibility": "private",
    }
    key = {"Idempotency-Key": "open-1"}
    game = anselm.post("/v1/games", settings, headers=key, expect=201).get_json()
    anselm.post("/v1/games", {"ruleset": "vallelujah"}, headers=key, expect=422)
    url = f"/v1/games/{game['game_id']}"
    clara.get(url, expect=404)
    code = anselm.post(f"{url}/invites", expect=201).get_json()["code"]
    clara.post(f"{url}/stream-tickets", {"invite": code}, expect=201)
    seat = {"client_seed": "5eed0123456789ab", "invite": code}
    anselm.post(f"{url}/start", expect=409)
    berta.post(f"{url}/seats", seat, expect=201)
    berta.post(f"{url}/seats", seat, expect=409)
    anselm.patch(url, {"max_seats": 2}, headers={"If-Match": '"1"'}, expect=412)
    anselm.patch(url, {"max_seats": 2}, expect=200)
    clara.post(f"{url}/seats", {"invite": code}, expect=409)
    anselm.post(f"{url}/start", expect=409)
    berta.patch(f"{url}/seats/me", {"ready": True}, expect=200)
    berta.post(f"{url}/moves", {"type": "draw"}, expect=409)
    berta.delete(f"{url}/seats/me", expect=200)
    berta.post(f"{url}/seats", seat, expect=201)
    anselm.delete(f"{url}/seats/1", expect=200)
    again = anselm.post(f"{url}/invites", expect=201).get_json()["code"]
    anselm.delete(f"{url}/invites/{code}", expect=204)
    clara.post(f"{url}/seats", {"invite": again}, expect=201)
    clara.patch(f"{url}/seats/me", {"ready": True})
    anselm.post(f"{url}/start", expect=200)
    return url


def _played(anselm: Walker, berta: Walker, clara: Walker, url: str) -> Iterator[str]:
    """Play that game on, and one of Vallelujah; their URLs, while they run."""
    yield _begun(anselm, clara, url)
    second = anselm.post(
        "/v1/games", {"ruleset": "vallelujah", "turn_seconds": 3600, "max_seats": 2}
    )
    other = f"/v1/games/{second.get_json()['game_id']}"
    berta.post(f"{other}/seats", {})
    anselm.post(f"{other}/start")
    yield _begun(anselm, berta, other)
    anselm.post(f"{url}/rematch", expect=409)
    anselm.post(f"{other}/back", expect=200)
    berta.post(f"{other}/resign", expect=200)
    version = anselm.get(other, expect=200).get_json()["version"]
    anselm.get(f"{other}/stream", query=f"after={version - 2}", expect=200)
    anselm.post(f"{other}/rematch", expect=201)
    anselm.post(f"{other}/rematch", expect=200)


def _begun(first: Walker, second: Walker, url: str) -> str:
    """Some moves, good and bad."""
    for turn in range(6):
        game = first.get(url, expect=200).get_json()
        mover, other = (first, second) if game["turn"]["seat"] == 0 else (second, first)
        legal = mover.get(f"{url}/legal-moves", expect=200).get_json()["legal_moves"][0]
        move = dict(legal["move"])
        if "take_from" in legal:
            move["take"] = legal["take_from"][0]
        if not turn:
            other.post(f"{url}/moves", move, expect=409)
            mover.post(f"{url}/moves", {**move, "turn": 99}, expect=409)
            mover.post(f"{url}/moves", {"type": "keep"}, expect=422)
            mover.post(f"{url}/moves", move, query="dry_run=true", expect=200)
            first.patch(url, {"turn_seconds": 60}, expect=409)
        mover.post(f"{url}/moves", move, expect=201)
    return url


def _looked_at(anselm: Walker, url: str) -> None:
    anselm.get("/v1/games", query="mine=true", expect=200)
    anselm.get(f"{url}/events", query="after=8", expect=200)
    anselm.get(f"{url}/events", headers={"Accept": "application/x-ndjson"}, expect=200)
    anselm.get(f"{url}/states/9", expect=200)
    anselm.get(f"{url}/audit", expect=200)
    anselm.get(f"{url}/attempts", expect=200)


def _sandbox(nobody: Walker) -> None:
    """A match for tests, whose clock is moved."""
    made = nobody.post("/v1/players", {"name": "Franz", "sandbox": True}).get_json()
    franz = nobody.holding(made["token"], made["player_id"])
    settings = {"ruleset": "halleluja", "deal": "play-a-2", "turn_seconds": 3600}
    url = f"/v1/games/{franz.post('/v1/games', settings).get_json()['game_id']}"
    franz.post(f"{url}/seats", {"bot": "greedy"}, expect=201)
    franz.post(f"{url}/start", expect=200)
    franz.post(f"{url}/clock", {"advance_seconds": 65}, expect=200)
    franz.post(f"{url}/resign", expect=200)
    franz.post(f"{url}/clock", {"advance_seconds": 65}, expect=409)


def _audited(anselm: Walker, clara: Walker, url: str, scratch: Scratch) -> None:
    """Disputes, and what auditors do."""
    filed = {"version": 9, "statement": "That card was not on top."}
    dispute = anselm.post(f"{url}/disputes", filed, expect=201).get_json()
    anselm.post(f"{url}/disputes", filed, expect=200)
    anselm.get(f"{url}/disputes", expect=200)
    anselm.get(f"{url}/disputes/{dispute['dispute_id']}", expect=200)
    admin = clara.named("Dora")
    scratch.execute(
        "UPDATE tokens SET scopes = scopes || '{admin}' WHERE player_id = %s", (admin.player_id,)
    )
    _app(admin)
    auditor = clara.named("Emil")
    admin.patch(f"/v1/players/{auditor.player_id}/scopes", {"audit": True}, expect=200)
    auditor.get(url, expect=200)
    auditor.get(f"{url}/looks", expect=200)
    said = {"resolution": "The record is right: that card was on top."}
    for status in (201, 200):
        where = f"{url}/disputes/{dispute['dispute_id']}/resolution"
        auditor.post(where, said, expect=status)


def _app(admin: Walker) -> None:
    """An app and its player."""
    made = admin.post("/v1/apps", {"name": "Card Table"}, expect=201).get_json()
    caller = admin.holding(made["key"])
    caller.get("/v1/apps/me", expect=200)
    guest = {"name": "Brother Anselm", "reference": "user-4711"}
    player = caller.post("/v1/apps/me/players", guest, expect=201).get_json()
    caller.post("/v1/apps/me/players", guest, expect=200)
    caller.get("/v1/apps/me/players", expect=200)
    where = f"/v1/apps/me/players/{player['player_id']}"
    caller.get(where, expect=200)
    caller.post(f"{where}/tokens", {"scopes": ["read"]}, expect=201)
    _app_webhook(caller)
    admin.delete(f"/v1/apps/{made['app_id']}", expect=204)
