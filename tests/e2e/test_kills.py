"""A part is killed in the middle of turns that players opened over HTTP: each time-out lands once.

How late it was is printed. Turns are read back over HTTP, as a spectator sees them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from api.command.client import Client
from domain.times import to_micros
from tests.e2e.conftest import Installation
from tests.workers.servers import wait_for
from workers.settings import LEASE_SECONDS

TURN_SECONDS = 3
MATCHES = 6
OPTIONS = {"pause_seconds": 0, "away_after": 100}


def open_matches(url: str) -> tuple[Client, list[str]]:
    """Matches of two players who never move: their host, who can end them, and their ids."""
    clients = []
    for name in ("Hilda", "Oswald"):
        player = Client(url).post("/players", {"name": name}).body
        clients.append(Client(url, player["token"]))
    host, guest = clients
    opened = []
    for number in range(MATCHES):
        ruleset = ("halleluja", "vallelujah")[number % 2]
        settings = {"ruleset": ruleset, "options": OPTIONS, "turn_seconds": TURN_SECONDS}
        game_id = host.post("/games", settings).body["game_id"]
        guest.post(f"/games/{game_id}/seats")
        host.post(f"/games/{game_id}/start")
        opened.append(game_id)
    guest.close()
    return host, opened


def expiries(client: Client, game_id: str) -> list[tuple[tuple[int, int], float]]:
    """The expired turns of a match, each with the seconds by which it was late."""
    found = []
    round_number = turn = 0
    for event in client.get(f"/games/{game_id}/events", limit=1000).body["items"]:
        data = event["data"]
        if event["type"] == "turn.expired":
            late = to_micros(event["at"]) - to_micros(data["due_at"])
            found.append(((round_number, turn), late / 1e6))
        round_number = data.get("round", round_number)
        turn = data["turn"]["number"] if "turn" in data else turn
    return found


def kill_api(everything: Installation) -> None:
    everything.api.kill()


def kill_worker(everything: Installation) -> None:
    everything.node.kill()


def kill_broker(everything: Installation) -> None:
    everything.broker.kill()


def kill_all(everything: Installation) -> None:
    for kill in (kill_broker, kill_worker, kill_api):
        kill(everything)


def start_again(everything: Installation) -> None:
    """What the supervisor does: start whatever does not run."""
    if not everything.broker.running:
        everything.broker.start()
    if not everything.node.running:
        everything.node.start()
    if not everything.api.running:
        everything.api.start()


@pytest.mark.parametrize("kill", [kill_api, kill_worker, kill_broker, kill_all])
def test_a_killed_part_loses_no_turn_and_doubles_none(
    installation: Installation, kill: Callable[[Installation], None]
) -> None:
    host, opened = open_matches(installation.api.url)
    time.sleep(TURN_SECONDS - 0.4)
    killed = time.monotonic()
    kill(installation)
    if kill is not kill_api:
        start_again(installation)
        away = time.monotonic() - killed
    else:
        time.sleep(1)
        installation.api.start()
        away = 0.0
    client = Client(installation.api.url)
    wait_for(
        lambda: all(len(expiries(client, game_id)) >= 2 for game_id in opened),
        2 * TURN_SECONDS + LEASE_SECONDS + 20,
        "turns expire",
    )
    late: list[float] = []
    for game_id in opened:
        found = expiries(client, game_id)
        turns = [turn for turn, _ in found]
        assert len(turns) == len(set(turns)), f"a turn expired twice: {turns}"
        late.extend(seconds for _, seconds in found)
        host.post(f"/games/{game_id}/resign")
    client.close()
    host.close()
    print(f"{kill.__name__}: {len(late)} turns expired, at most {max(late):.3f} s late")
    assert max(late) < away + LEASE_SECONDS + 10
