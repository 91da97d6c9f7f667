"""No operation, whoever calls it and however it ends, serves what its caller may not see.

Every operation of the document is called by every kind of caller while matches run, and each byte
that comes back is searched for every card, secret, salt, token and private text that the caller
must not know. A new operation is called without being named here; a new parameter must be.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from api import access
from api.services import Services
from domain.redaction import EVERYTHING
from domain.registry import RULESETS
from tests.api.client import Client, document
from tests.api.leaks import Match, found, wire
from tests.api.tables import Table

NOWHERE = "01900000-0000-7000-8000-000000000000"
METHODS = ("get", "post", "patch", "delete")
ENDS_THE_MATCH = {"resign"}
"""Called only so that nothing comes of it: the matches must go on."""
SIZES = {
    "limit": "2",
    "after": "3",
    "wait": "0",
    "seat": "1",
    "ticket": "none",
    "reference": "none",
    "cursor": "AZAAAAAAcACAAAAAAAAAAA",
}


WHOLE_SETS = [", ".join(rules.cards).encode() for rules in RULESETS.values()]
"""All cards in order, as who names no card is told what there is: that singles none out."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in document()["paths"].items():
        for method in METHODS:
            if method in item:
                yield method.upper(), path, item[method]


def _refuse(client: Client, table: Table, **body: Any) -> str:
    answer = client.post(f"{table.url}/moves", body)
    assert answer.status_code in (409, 422), answer.get_data(as_text=True)
    return str(answer.get_json()["attempt_id"])


def _match(app: Flask, opened: Services, ruleset: str, visibility: str) -> Match:
    """A match in which somebody resigned, moved, was refused, was late, and disputed things."""
    nobody = Client(app)
    names = ("host", "seat", "resigned", "former", "stranger", "auditor", "seated auditor", "admin")
    callers = {name: nobody.register(name) for name in names}
    host = callers["host"]
    table = Table.opened(host, ruleset, visibility=visibility, turn_seconds=3000)
    invite = host.post(f"{table.url}/invites", expect=201).get_json()["code"]
    for seat, name in enumerate(("seat", "resigned", "seated auditor"), 1):
        callers[name].post(f"{table.url}/seats", {"invite": invite}, expect=201)
        table.clients[seat] = callers[name]
    if ruleset == "halleluja":
        host.delete(f"{table.url}/seats/3", expect=200)
        del table.clients[3]
    callers["former"].post(f"{table.url}/seats", {"invite": invite}, expect=201)
    callers["former"].delete(f"{table.url}/seats/me", expect=200)
    if ruleset == "halleluja":
        del callers["seated auditor"]
    for name, scope in (
        ("auditor", "audit"), ("former", "audit"), ("seated auditor", "audit"), ("admin", "admin"),
    ):  # fmt: skip
        if name in callers:
            opened.players.change_scope(callers[name].player_id, scope, granted=True)
    revoked = callers["seat"].post("/v1/me/tokens", expect=201).get_json()
    reader = callers["seat"].post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()
    callers["seat"].delete(f"/v1/me/tokens/{revoked['token_id']}", expect=204)
    seat_id = callers["seat"].player_id
    callers |= {
        "nobody": nobody,
        "revoked": Client(app, revoked["token"], seat_id),
        "reader": Client(app, reader["token"], seat_id),
    }
    table.start()
    seats = {name: seat for seat, client in table.clients.items()
             for name, known in callers.items() if known.player_id == client.player_id}  # fmt: skip
    match = Match(table, callers, seats, {"auditor"}, {invite: "host"})
    _live(match)
    url = "https://only.the.admin.example.com/knows"
    webhook = callers["admin"].post("/v1/me/webhooks", {"url": url}, expect=201).get_json()
    match.codes |= {webhook[name]: "admin" for name in ("webhook_id", "url", "secret")}
    return match


def _live(match: Match) -> None:
    """Moves and refused ones, disputes, resolutions, and a resignation."""
    table = match.table
    for _ in range(3):
        table.mover().post(f"{table.url}/moves", table.choice(), expect=201)
    for seat, client in table.clients.items():
        name = next(each for each, known in match.seats.items() if known == seat)
        card = table.game(client)["you"]["hand"][0]
        play = (
            {"type": "play", "card": card} if card[1] == "-" else {"type": "lead", "units": [card]}
        )
        attempt_id = _refuse(client, table, **play, turn=99)
        match.codes[attempt_id] = name
        match.everyones.add(attempt_id)
        for number, disputed in enumerate(
            ({"attempt_id": attempt_id}, {"version": 9, "claim": "shuffle"})
        ):
            statement = f"only {name} says number {number}"
            sent = {**disputed, "statement": statement}
            answer = client.post(f"{table.url}/disputes", sent, expect=201)
            dispute_id = answer.get_json()["dispute_id"]
            match.codes |= {dispute_id: name, statement: name}
            match.everyones |= {dispute_id, statement}
            match.callers["auditor"].post(
                f"{answer.headers['Location']}/resolution", {"resolution": "Noted."}, expect=201
            )
    match.callers["resigned"].post(f"{table.url}/resign", expect=200)


@pytest.fixture(scope="module")
def before(app: Flask) -> dict[str, bytes]:
    """What was served at fixed paths before there was any match."""
    nobody = Client(app)
    paths = ["/v1/rulesets", "/v1/rulesets/halleluja", "/v1/rulesets/vallelujah"]
    return {path: nobody.get(path, expect=200).get_data() for path in paths}


@pytest.fixture(scope="module", params=["halleluja", "vallelujah"])
def running(request: Any, app: Flask, opened: Services, before: Any) -> Match:
    """A public match of the one game, and a private one of the other."""
    visibility = "public" if request.param == "halleluja" else "private"
    return _match(app, opened, request.param, visibility)


def _paths(path: str, match: Match, client: Client) -> list[str]:
    """`path` with each thing in it that there is to ask for."""
    values = {
        "game_id": [match.table.game_id],
        "dispute_id": [code for code in match.codes if len(code) == 36][1::3],
        "player_id": [match.table.host.player_id],
        "token_id": [NOWHERE],
        "webhook_id": [next(code for code, owner in match.codes.items() if owner == "admin")],
        "delivery_id": [NOWHERE],
        "app_id": [NOWHERE],
        "ruleset": ["halleluja", "vallelujah"],
        "version": ["9", "12"],
        "seat": ["0", "1"],
        "code": [next(iter(match.codes))],
    }
    filled = [path]
    for name, choices in values.items():
        if f"{{{name}}}" in path:
            filled = [each.replace(f"{{{name}}}", value) for each in filled for value in choices]
    assert not any("{" in each for each in filled), f"say what to put into {path}"
    return filled


def _bodies(operation: dict[str, Any], match: Match, client: Client) -> list[Any]:
    if "requestBody" not in operation:
        return [None]
    sent = {
        "makeMove": [
            {"type": "take"},
            {"type": "draw", "turn": 99},
            {"type": "keep"},
            {"type": "play", "card": "?"},
            {"type": "play", "wish": "rose"},
            {"type": "beat", "units": []},
        ],
        "fileDispute": [
            {"version": 9, "statement": "?"},
            {"version": 9999, "statement": "?"},
            {"attempt_id": NOWHERE, "statement": "?"},
        ],
        "changeScopes": [{"audit": False}],
    }
    bodies = sent.get(operation["operationId"], [])
    example = operation["requestBody"]["content"]["application/json"].get("example")
    return [*bodies, example if example is not None and not bodies else {}]


def _queries(operation: dict[str, Any]) -> list[str]:
    queries = [""]
    for parameter in operation.get("parameters", []):
        if parameter.get("in") != "query":
            continue
        name, schema = parameter["name"], parameter["schema"]
        if name == "invite":
            continue
        choices = ["true"] if schema["type"] == "boolean" else schema.get("enum", [])[:1]
        values = choices or [SIZES[name]]
        queries += [f"{name}={value}" for value in values]
    return queries


def _sent(
    method: str, operation: dict[str, Any], match: Match, client: Client
) -> Iterator[dict[str, Any]]:
    """The ways in which one operation is called."""
    headers: dict[str, str] = {}
    names = [each.get("$ref", "").rpartition("/")[2] for each in operation.get("parameters", [])]
    if operation["operationId"] in ENDS_THE_MATCH:
        headers["If-Match"] = '"1"'
    for body in _bodies(operation, match, client):
        for query in _queries(operation):
            yield {"json": body, "query_string": query, "headers": headers}
    if "IfMatch" in names:
        yield {"json": _bodies(operation, match, client)[0], "headers": {"If-Match": '"1"'}}
    if "IdempotencyKey" in names and not headers:
        body = _bodies(operation, match, client)[0]
        yield {"json": body, "headers": {"Idempotency-Key": "the-same-key"}}
    if method == "GET":
        offered = operation["responses"]["200"].get("content", {})
        for accept in offered.keys() - {"application/json"}:
            yield {"headers": {"Accept": accept}}
    if client not in (match.callers["nobody"], match.callers["seat"]):
        return
    yield {"headers": {"Accept": "image/png", **headers}}
    yield {"query_string": "unknown=1", "headers": headers}
    if method != "GET":
        yield {"data": b"{", "content_type": "application/json", "headers": headers}


def _call(client: Client, method: str, path: str, sent: dict[str, Any], version: int) -> bytes:
    more = {name: value for name, value in sent.items() if value is not None}
    more["headers"] = dict(sent.get("headers", {}))
    if client.token is not None:
        more["headers"]["Authorization"] = f"Bearer {client.token}"
    answer = client.flask.open(path, method=method, **more)
    assert answer.status_code < 500, (method, path, sent)
    served = wire(answer, version)
    for whole_set in WHOLE_SETS:
        served = served.replace(whole_set, b"")
    return served


def _leaks(match: Match, opened: Services, before: dict[str, bytes]) -> set[str]:
    """All that is served and must not be."""
    leaks: set[str] = set()
    version = match.table.game()["version"]
    for caller, client in match.callers.items():
        hidden = match.hidden_from(caller, opened.store)
        assert hidden
        for method, template, operation in operations():
            for path in _paths(template, match, client):
                for sent in _sent(method, operation, match, client):
                    served = _call(client, method, path, sent, version)
                    if path in before and served.endswith(before[path]):
                        continue  # as before there was anything to give away
                    told = json.dumps(sent, default=str) + path
                    leaks |= {
                        f"{caller} {method} {path} {sent} {leak}"
                        for leak in found(served, hidden)
                        if leak.rpartition(": ")[2] not in told
                    }
    return leaks


def test_nothing_is_served_that_its_caller_may_not_see(
    running: Match,
    opened: Services,
    before: dict[str, bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.DEBUG):
        leaks = _leaks(running, opened, before)
    assert not leaks, "\n".join(sorted(leaks)[:50])
    assert running.table.game()["status"] == "active", "it was hidden to the end"
    assert found(caplog.text.encode(), running.hidden_from("nobody", opened.store)) == []


def test_a_move_shows_others_nothing_and_its_seat_its_own(running: Match, opened: Services) -> None:
    table = running.table
    for _ in range(4):
        mover = table.mover()
        caller = next(name for name, each in running.callers.items() if each is mover)
        answer = mover.post(f"{table.url}/moves", table.choice(), expect=201)
        if table.game()["status"] != "active":
            break
        assert found(wire(answer), running.hidden_from(caller, opened.store)) == []


def test_the_search_finds_what_is_planted(running: Match, opened: Services) -> None:
    for caller in running.callers:
        hidden = running.hidden_from(caller, opened.store)
        kinds = {" ".join(what.split()[:2]) for what in hidden.values()}
        assert {"the secret", "the token", "what only"} <= kinds
        assert caller in running.auditors or {"a card", "the salt"} <= kinds
        for each in hidden:
            for served in (f'{{"x":["{each}"]}}', f"X-Header: {each.upper()}\r\n\r\n"):
                assert found(served.encode(), hidden)


@pytest.mark.parametrize(
    "path", ["", "/events", "/stream", "/attempts", "/disputes", "/states/{version}"]
)
def test_the_search_finds_what_a_careless_view_serves(
    running: Match, opened: Services, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(access, "viewer", lambda game, call: EVERYTHING)
    version = running.table.game()["version"]
    url = f"{running.table.url}{path.format(version=version)}"
    for caller in ("seat", "host"):
        served = _call(running.callers[caller], "GET", url, {}, version)
        assert served.startswith(b"200"), served
        assert found(served, running.hidden_from(caller, opened.store)), caller


def test_a_refusal_does_not_tell_where_a_card_is(match: Table) -> None:
    """Whether a card is in another hand or in the pile, naming it brings the same answer."""
    client = match.mover()
    own = match.game(client)["you"]["hand"]
    top = match.game()["table"]["top"]
    answers = set()
    for card in RULESETS["halleluja"].cards:
        if card in own or card == top:
            continue
        answer = client.post(f"{match.url}/moves", {"type": "play", "card": card}, expect=422)
        problem = answer.get_json()
        del problem["attempt_id"]
        answers.add(json.dumps(problem).replace(card, "?"))
    assert len(answers) == 1
