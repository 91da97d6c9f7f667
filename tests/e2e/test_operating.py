"""What operators rely on: figures that are right under several processes, logs without a secret,
a stop that takes its time but not more."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
import urllib.request
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.command.client import Client
from tests.e2e.conftest import Installation
from tests.workers.servers import wait_for

SETTINGS = {
    "turn_seconds": 3,
    "options": {"pause_seconds": 0, "away_after": 100},
}


def figures(url: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{url}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def player(url: str, name: str) -> tuple[Client, str]:
    token = Client(url).post("/players", {"name": name}).body["token"]
    return Client(url, token), token


def lines(text: str) -> list[dict[str, Any]]:
    """Log lines, each of which must be JSON. Celery greets in plain text where it is not told to
    be quiet, and its debugging lists."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def test_figures_are_those_of_all_processes(installation: Installation) -> None:
    url = installation.api.url
    host, _ = player(url, "Hilda")
    game_id = host.post("/games", {"ruleset": "vallelujah", **SETTINGS}).body["game_id"]
    host.post(f"/games/{game_id}/seats", {"bot": "random"})
    host.post(f"/games/{game_id}/start")
    before = figures(url)
    for _ in range(40):
        # A connection of its own for each: both processes get some.
        Client(url).get(f"/games/{game_id}")
    assert figures(url)["abbot_request_seconds_count"] >= before["abbot_request_seconds_count"] + 40

    def settled() -> bool:
        now = figures(url)
        return (
            now.get("abbot_turn_lateness_seconds_count", 0) >= 1
            and now.get("abbot_moves_total", 0) >= 2
            and now.get("abbot_chores_total", 0) >= 1
            and now["abbot_worker_nodes_with_broker"] >= 1
        )

    wait_for(settled, 40, "the workers' figures are there too")
    now = figures(url)
    assert now["abbot_database_up"] == 1
    assert now["abbot_worker_nodes"] == now["abbot_worker_nodes_with_broker"] == 1
    host.post(f"/games/{game_id}/resign")
    # Any process gives the same: what only grows never shrinks from one answer to the next.
    counts = [figures(url)["abbot_request_seconds_count"] for _ in range(12)]
    assert counts == sorted(counts)


CARDS = re.compile(
    r"\b[A-H]-(?:apple|clover|rose|strawberry)\b"
    r"|\b(?:crimson|azure|forest|gold|slate|coral)-[1-9]\b"
)


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_the_logs_of_a_game_hold_no_secret(installation: Installation, ruleset: str) -> None:
    url = installation.api.url
    host, token = player(url, "Hilda")
    settings = {**SETTINGS, "options": {"pause_seconds": 0, "away_after": 1, "rounds_to_win": 1}}
    created = host.post("/games", {"ruleset": ruleset, "visibility": "private", **settings})
    game_id = created.body["game_id"]
    code = host.post(f"/games/{game_id}/invites").body["code"]
    seed = "feedc0de" * 4
    guest, guests_token = player(url, "Oswald")
    guest.post(f"/games/{game_id}/seats", {"invite": code, "client_seed": seed})
    host.post(f"/games/{game_id}/seats", {"bot": "greedy"})
    host.post(f"/games/{game_id}/start")
    # A few moves, a refused one, then the time runs out and the match is abandoned.
    for _ in range(3):
        legal = host.get(f"/games/{game_id}/legal-moves").body["legal_moves"]
        if legal:
            host.post(f"/games/{game_id}/moves", legal[0]["move"])
        time.sleep(0.2)

    def over() -> bool:
        return host.get(f"/games/{game_id}").body["status"] not in ("lobby", "active")

    wait_for(over, 60, "the match ends")
    game = host.get(f"/games/{game_id}").body
    secret = game["shuffle"]["secret"]
    logs = installation.api.log.read_text() + installation.node.output()
    assert game_id in logs
    parsed = lines(installation.api.log.read_text())
    assert any(line.get("game_id") == game_id and line.get("request_id") for line in parsed)
    assert [line for line in installation.api.log.read_text().splitlines() if line[:1] != "{"] == []
    for hidden in (token, guests_token, code, seed, secret):
        assert hidden not in logs
    assert CARDS.search(logs) is None


def test_a_stop_ends_in_time_whoever_is_connected(installation: Installation) -> None:
    url = installation.api.url
    idle, token = player(url, "Hilda")
    game_id = idle.post("/games", {"ruleset": "halleluja", **SETTINGS}).body["game_id"]
    port = installation.api.port
    stream = http.client.HTTPConnection("127.0.0.1", port, timeout=40)
    stream.request(
        "GET", f"/v1/games/{game_id}/stream", headers={"Authorization": f"Bearer {token}"}
    )
    events = stream.getresponse()
    assert events.status == 200
    assert figures(url)["abbot_streams_open"] == 1
    with socket.create_connection(("127.0.0.1", port)) as half:
        half.sendall(b"POST /v1/players HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{")
        time.sleep(0.5)
        own = f"%:{installation.node.pid}"
        began = time.monotonic()
        assert installation.api.stop(30) == 0
    assert installation.node.stop(30) == 0
    events.read()  # to its end
    stream.close()
    print(f"API and worker stopped in {time.monotonic() - began:.1f} s")
    assert installation.scratch.execute("SELECT node FROM nodes WHERE node LIKE %s", (own,)) == []
