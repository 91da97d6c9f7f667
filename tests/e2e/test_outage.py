"""The service is unable to take moves for a while: no turn expires with less time than it had."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from api.command.client import Client
from domain.times import to_micros
from eventstore.service import HOLD_SECONDS
from tests.databases import server_url
from tests.e2e.conftest import Installation
from tests.e2e.test_kills import TURN_SECONDS, expiries, open_matches
from tests.workers.servers import wait_for

AWAY_SECONDS = 5.0


def without_database(everything: Installation) -> None:
    """Nobody reaches the database; its clock goes on."""
    name = sql.Identifier(everything.scratch.name)
    allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    with psycopg.connect(server_url(), autocommit=True) as server:
        server.execute(allow.format(name, sql.SQL("false")))
        try:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                (everything.scratch.name,),
            )
            time.sleep(AWAY_SECONDS)
        finally:
            server.execute(allow.format(name, sql.SQL("true")))


def without_api(everything: Installation) -> None:
    """No process takes moves, while workers and database live on."""
    everything.api.kill()
    time.sleep(AWAY_SECONDS)
    everything.api.start()


def times_up(client: Client, game_id: str, outages: list[tuple[int, int]]) -> list[float]:
    """For each turn that expired, for how many seconds of it the service was up."""
    found = []
    began = 0
    for event in client.get(f"/games/{game_id}/events", limit=1000).body["items"]:
        at = to_micros(event["at"])
        if event["type"] == "turn.expired":
            lost = sum(max(0, min(at, until) - max(began, since)) for since, until in outages)
            found.append((at - began - lost) / 1e6)
        if "turn" in event["data"]:
            began = at
    return found


@pytest.mark.parametrize("away", [without_database, without_api])
def test_an_outage_costs_nobody_a_turn(
    installation: Installation, away: Callable[[Installation], None]
) -> None:
    host, opened = open_matches(installation.api.url)
    time.sleep(TURN_SECONDS / 2)
    away(installation)
    client = Client(installation.api.url)

    def types(game_id: str) -> list[Any]:
        items = client.get(f"/games/{game_id}/events", limit=1000).body["items"]
        return [event["type"] for event in items]

    wait_for(
        lambda: all(len(expiries(client, game_id)) >= 2 for game_id in opened), 60, "turns expire"
    )
    outages = [
        (to_micros(began), to_micros(ended))
        for began, ended in installation.scratch.execute(
            "SELECT to_json(began_at AT TIME ZONE 'UTC')#>>'{}' || 'Z',"
            " to_json(ended_at AT TIME ZONE 'UTC')#>>'{}' || 'Z' FROM outages"
        )
    ]
    assert outages, "the gap was seen"
    least = []
    for game_id in opened:
        assert types(game_id).count("turn.extended") >= 1
        turns = [turn for turn, _ in expiries(client, game_id)]
        assert len(turns) == len(set(turns)), f"a turn expired twice: {turns}"
        least.append(min(times_up(client, game_id, outages)))
        host.post(f"/games/{game_id}/resign")
    client.close()
    host.close()
    print(f"{away.__name__}: turns of {TURN_SECONDS} s had at least {min(least):.3f} s")
    assert min(least) > TURN_SECONDS - HOLD_SECONDS
