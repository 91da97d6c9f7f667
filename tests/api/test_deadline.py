"""Moves around the deadline of their turn, over HTTP and in real time: each is in time or late by
the clock of the record, the answer says which, and never is it both or neither."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from domain.times import to_micros
from tests.api.asking import Reply, ask
from tests.api.matches import Match
from tests.api.server import serving
from tests.databases import Scratch

TURN_SECONDS = 3
AROUND = [-2.5, -1.0, *(n / 100 for n in range(-16, 17, 4)), 0.5, 1.0]
"""Seconds after the deadline at which moves are sent."""


def test_a_move_at_the_deadline(scratch: Scratch, tmp_path: Any) -> None:
    with serving(scratch, tmp_path, ABBOT_API_WORKERS="2") as server:
        matches = [
            Match.opened(
                server.port,
                2,
                ("halleluja", "vallelujah")[number % 2],
                turn_seconds=TURN_SECONDS,
                options={"pause_seconds": 0},
            )
            for number in range(len(AROUND))
        ]
        with ThreadPoolExecutor(len(AROUND)) as threads:
            replies = list(threads.map(_move_at, matches, AROUND))
        late = 0
        for match, reply in zip(matches, replies, strict=True):
            late += _judge(match, reply)
            assert ask(server.port, "GET", f"{match.url}/audit").body["ok"]
            match.close()
        assert late


def _move_at(match: Match, seconds: float) -> Reply:
    """Start the match, and send its first move so long after the first turn is due."""
    match.start()
    began = time.monotonic()
    game = match.game()
    due = began + game["turn"]["remaining_ms"] / 1000
    seat = match.seats[game["turn"]["seat"]]
    move = seat.get(f"{match.path}/legal-moves").body["legal_moves"][0]["move"]
    threading.Event().wait(max(0.0, due + seconds - time.monotonic()))
    return ask(match.port, "POST", f"{match.url}/moves", move, token=seat.token)


def _judge(match: Match, reply: Reply) -> int:
    """Hold the answer against the record; 1 if the move was late."""
    events = match.seats[0].get(f"{match.path}/events").body["items"]
    first = next(each for each in events if "turn" in each["data"])
    turn, after = first["data"]["turn"], events[first["version"] :]
    expired = [each for each in after if each["type"] == "turn.expired"]
    moves = [each for each in after if each["by"]["kind"] == "player"]
    ended = min(each["version"] for each in (*expired, *moves))
    given = [each for each in after[: ended - first["version"]] if each["type"] == "turn.extended"]
    due = to_micros(first["at"]) + 1_000_000 * (
        TURN_SECONDS + sum(each["data"]["seconds"] for each in given)
    )
    if reply.status == 201:
        assert moves[0]["version"] == reply.body["events"][0]["version"]
        assert moves[0]["by"]["seat"] == turn["seat"]
        assert to_micros(moves[0]["at"]) <= due
        assert not expired or expired[0]["version"] > moves[0]["version"]
        return 0
    assert reply.code == "turn-expired", reply
    assert not moves
    assert expired[0]["data"]["seat"] == turn["seat"]
    assert to_micros(expired[0]["data"]["due_at"]) == due < to_micros(expired[0]["at"])
    return 1
