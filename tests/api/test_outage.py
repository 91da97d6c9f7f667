"""What callers are told when the database is away, and what the logs say."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from flask import Flask
from structlog.testing import capture_logs

from api import services
from api.app import create_app
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.api.client import Client
from tests.api.tables import Table

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = "postgresql://abbot:hunter2@127.0.0.1:1/abbot"


@pytest.fixture
def away(tmp_path: Path) -> Iterator[Client]:
    with open_pool(NOWHERE, 1, timeout=0.1) as pool:
        yield Client(create_app(opened=services.over(Store(pool), tmp_path)))


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/readyz", None),
        ("GET", "/v1/games", None),
        ("POST", "/v1/players", {"name": "A"}),
        ("GET", "/v1/games/01900000-0000-7000-8000-000000000000", None),
        ("GET", "/v1/games/01900000-0000-7000-8000-000000000000/events", None),
    ],
)
def test_the_database_is_away(
    away: Client, method: str, path: str, body: dict[str, str] | None
) -> None:
    answer = away.send(method, path, body)
    away.refused(answer, 503, "unavailable")
    assert int(answer.headers["Retry-After"]) >= 1
    text = answer.get_data(as_text=True)
    for word in ("hunter2", "127.0.0.1", "psycopg", "Traceback", "postgresql", "connection"):
        assert word not in text


def test_a_token_cannot_be_checked(away: Client) -> None:
    away.token = f"abbot_{'0' * 43}"
    away.refused(away.get("/v1/me"), 503, "unavailable")


def test_what_needs_no_database(away: Client) -> None:
    for path in ("/healthz", "/v1/rulesets", "/openapi.json"):
        away.get(path, expect=200)


def test_ready(nobody: Client) -> None:
    answer = nobody.get("/readyz", expect=200).get_json()
    assert answer["status"] == answer["checks"]["database"] == answer["checks"]["schema"] == "ok"
    assert nobody.get("/healthz", expect=200).get_json() == {"status": "ok"}


def test_what_nobody_foresaw_is_not_shown(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(services.Services, "lists", property(fail), raising=False)
    app = create_app(opened=app.extensions["abbot"]())
    answer = app.test_client().get("/v1/games")
    assert answer.status_code == 500
    assert answer.mimetype == "application/problem+json"
    assert answer.get_json()["code"] == "internal"
    assert "secret of ours" not in answer.get_data(as_text=True)


def test_logs_tell_routes_and_ids_but_no_secrets(anna: Client, bert: Client) -> None:
    table = Table.opened(anna, visibility="private")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(20))
    try:
        with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
            code = anna.post(f"{table.url}/invites", expect=201).get_json()["code"]
            bert.get(table.url, query=f"invite={code}", expect=200)
            bert.get("/v1/nowhere", expect=404)
            anna.delete(f"{table.url}/invites/{code}", expect=204)
    finally:
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(30))
    seen = lines[1]
    assert seen["event"] == "request"
    assert seen["route"] == "/v1/games/<id:game_id>"
    assert (seen["method"], seen["status"]) == ("GET", 200)
    assert seen["game_id"] == table.game_id
    assert seen["player_id"] == bert.player_id
    assert seen["request_id"]
    assert lines[2]["route"] is None
    for secret in (code, anna.token, bert.token):
        assert secret not in repr(lines)


def test_an_exception_is_logged_without_values() -> None:
    """In a process of its own, as it sets up the logging of the whole process."""
    script = """
import logging, psycopg, structlog
from api import logs
logs.configure("info")
hand = "A-rose"
try:
    try:
        raise psycopg.errors.UniqueViolation("Key (token)=(abbot_x) already exists")
    except psycopg.Error as error:
        raise RuntimeError(f"nobody holds {hand}") from error
except RuntimeError:
    structlog.get_logger("api").exception("unforeseen")
logging.getLogger("library").warning("from %s", "a library")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert [each["type"] for each in first["exception"]] == ["RuntimeError", "UniqueViolation"]
    assert first["exception"][0]["message"] is None
    assert first["exception"][1]["message"] == "23505"
    assert first["exception"][0]["at"]
    assert "A-rose" not in done.stdout
    assert "abbot_x" not in done.stdout
    assert (second["event"], second["level"]) == ("from a library", "warning")
