"""The header by which a test has its request refused, in the sandbox alone."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from api import auth
from api.refusing import CODES, HEADER
from api.services import Services
from tests.api.client import Client, document
from tests.api.tables import Table


def _asked(code: str) -> dict[str, str]:
    return {HEADER: code}


@pytest.mark.parametrize("code", CODES)
def test_it_is_refused_and_nothing_is_done(code: str, carla: Client) -> None:
    table = Table.opened(carla)
    before = table.game()["version"]
    body = {"bot": "greedy"}
    answer = carla.post(f"{table.url}/seats", body, headers=_asked(code))
    assert answer.get_json()["code"] == code
    assert table.game()["version"] == before
    # As such a refusal always is, with all that goes with it.
    needed = {"unauthenticated": "WWW-Authenticate"}.get(code, "Retry-After")
    assert answer.headers[needed]
    carla.post(f"{table.url}/seats", body, expect=201)


def test_one_request_too_many_says_what_is_left(carla: Client) -> None:
    answer = carla.get("/v1/me", headers=_asked("rate-limited"))
    assert answer.status_code == 429
    assert '"token";r=0;t=1' in answer.headers["RateLimit"]
    assert answer.headers["Retry-After"] == "1"
    carla.get("/v1/me", expect=200)


def test_a_refusal_is_not_kept_for_a_key(carla: Client) -> None:
    sent: dict[str, Any] = {"ruleset": "halleluja"}
    headers = {"Idempotency-Key": "again"}
    carla.post("/v1/games", sent, headers=headers | _asked("unavailable"), expect=503)
    carla.post("/v1/games", sent, headers=headers, expect=201)


def test_nobody_real_can_ask_for_it(anna: Client, nobody: Client) -> None:
    table = Table.opened(anna)
    before = table.game()["version"]
    for client in (anna, nobody):
        answer = client.get(table.url, headers=_asked("unavailable"))
        client.refused(answer, 403, "forbidden")
    answer = anna.post(f"{table.url}/seats", {"bot": "greedy"}, headers=_asked("rate-limited"))
    anna.refused(answer, 403, "forbidden")
    assert table.game()["version"] == before


def test_what_cannot_be_asked_for(carla: Client) -> None:
    for code in ("", "internal", "validation", "UNAVAILABLE", "rate-limited, unavailable"):
        answer = carla.get("/v1/me", headers=_asked(code))
        carla.refused(answer, 400, "malformed-request")


def test_an_app_can_ask_for_it(app: Flask, opened: Services) -> None:
    key = auth.new_key()
    opened.apps.create("Tests", auth.token_hash(key), sandbox=True)
    itself = Client(app, key)
    answer = itself.get("/v1/apps/me", headers=_asked("rate-limited"))
    assert answer.status_code == 429
    assert '"app";r=0;t=1' in answer.headers["RateLimit"]
    real = auth.new_key()
    opened.apps.create("Real", auth.token_hash(real))
    other = Client(app, real)
    other.refused(other.get("/v1/apps/me", headers=_asked("rate-limited")), 403, "forbidden")


def test_every_operation_with_a_token_takes_it() -> None:
    name = {"$ref": "#/components/parameters/SandboxRefuse"}
    for path, item in document()["paths"].items():
        for method in ("get", "post", "patch", "delete"):
            if method in item:
                operation = item[method]
                assert (name in operation["parameters"]) == bool(operation["security"]), path
