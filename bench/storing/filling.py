"""Filling the record with matches of their own: played by the engine, written with COPY.

Each has its own id, secret, shuffles and chain, so that an audit finds nothing wrong with any. Only
the clock is made up: the matches begin in the months before this one, at times that follow from
their numbers, in partitions as workers make them.
"""

from __future__ import annotations

import json
import os
import random
import sys
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg

from domain.commands import Command, Context, CreateGame, MakeMove, StartGame, TakeSeat
from domain.events import Recorded
from domain.game import decide, legal_moves, new_game
from domain.times import from_micros
from eventstore import summaries
from eventstore.recorded import ZERO_HASH, body, hash_after, rest

MONTHS = 12
"""Before this one, which have matches."""
MATCHES_AT_A_TIME = 100
_TABLES = (("halleluja", 2), ("vallelujah", 2), ("halleluja", 4), ("vallelujah", 4))
_OPTIONS = {"rounds_to_win": 5}
_SECONDS_A_MOVE = 3.0
_SEAT = ("seat", "player_id", "bot", "status", "live")
_COPY_SEATS = b"COPY seats (game_id, seat, player_id, bot, status, live) FROM STDIN"


@dataclass(slots=True)
class Played:
    """A match that is over, as it is stored."""

    game_id: str
    secret: bytes
    summary: dict[str, Any]
    seats: list[dict[str, Any]]
    bodies: list[str]
    hashes: list[bytes]


def played(number: int) -> Played:
    """The match of that number, by random legal moves: always the same one."""
    dice = random.Random(number)
    ruleset, count = _TABLES[number % len(_TABLES)]
    first, last = (bound.timestamp() for bound in _span())
    clock = int((first + (last - first) * dice.random()) * 1e6)
    game_id = _uuid7(clock, dice)
    players = [_uuid7(clock, dice) for _ in range(count)]
    context = Context(dice.randbytes(32))
    game, hash_ = new_game(game_id), ZERO_HASH
    events: list[Recorded] = []
    bodies: list[str] = []

    def do(command: Command) -> None:
        nonlocal game, clock, hash_
        decision = decide(game, command, context)
        clock += int(dice.uniform(0.2, _SECONDS_A_MOVE) * 1e6)
        at = from_micros(clock)
        game = decision.game
        game.stamp(at)
        for event in decision.events:
            text = body(at, rest(game_id, event))
            before, hash_ = hash_, hash_after(hash_, text)
            bodies.append(text.decode())
            events.append(
                Recorded(
                    game_id, event.version, event.type, at, event.by, event.data, before, hash_
                )
            )

    do(CreateGame(players[0], ruleset, dict(_OPTIONS), 86_400))
    for player in players[1:]:
        do(TakeSeat(player))
    do(StartGame(players[0]))
    while (turn := game.turn) is not None:
        move = dice.choice(legal_moves(game, turn.seat))
        move = game.rules.with_due_call(game, turn.seat, move)
        do(MakeMove(players[turn.seat], move, game.round, turn.number))
    hashes = [bytes.fromhex(event.hash) for event in events]
    summary = summaries.summary(game, events)
    return Played(game_id, context.secret, summary, summaries.seats(game), bodies, hashes)


def write(connection: psycopg.Connection[Any], matches: list[Played]) -> None:
    """Store the matches, in one transaction."""
    names = list(matches[0].summary)
    with connection.transaction(), connection.cursor() as cursor:
        columns = ", ".join(("game_id", "secret", *names))
        with cursor.copy(f"COPY games ({columns}) FROM STDIN".encode()) as copy:
            for match in matches:
                values = (match.summary[name] for name in names)
                copy.write_row((match.game_id, match.secret, *map(_plain, values)))
        with cursor.copy(
            b"COPY seats (game_id, seat, player_id, bot, status, live) FROM STDIN"
        ) as (copy):
            for match in matches:
                for seat in match.seats:
                    copy.write_row((match.game_id, *(seat[name] for name in _SEAT)))
        with cursor.copy(b"COPY events (game_id, version, body, hash) FROM STDIN") as copy:
            for match in matches:
                rows = zip(match.bodies, match.hashes, strict=True)
                for version, (text, own) in enumerate(rows, 1):
                    copy.write_row((match.game_id, version, text, own))


def fill(url: str, events: int, first: int, step: int) -> Iterator[int]:
    """Store the matches number `first`, `first + step` … until they have so many events; yields
    after each transaction how many matches are stored."""
    number, stored = first, 0
    with psycopg.connect(url, autocommit=True) as connection:
        while events > 0:
            matches = []
            count = 0
            while count < events and len(matches) < MATCHES_AT_A_TIME:
                matches.append(played(number))
                count += len(matches[-1].bodies)
                number += step
            write(connection, matches)
            events -= count
            stored += len(matches)
            yield stored


def make_partitions(connection: psycopg.Connection[Any]) -> None:
    """Those of the months that have matches, as the owner."""
    connection.execute(
        "SELECT make_partition(m) FROM generate_series("
        " date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') - make_interval(months => %s),"
        " clock_timestamp() AT TIME ZONE 'UTC', interval '1 month') m",
        (MONTHS,),
    )


def _span() -> tuple[datetime, datetime]:
    now = datetime.now(UTC)
    last = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return last.replace(year=last.year - 1), last


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _uuid7(micros: int, dice: random.Random) -> str:
    number = micros // 1000 << 80 | 7 << 76 | dice.getrandbits(12) << 64
    return str(uuid.UUID(int=number | 2 << 62 | dice.getrandbits(62)))


if __name__ == "__main__":
    # URL EVENTS FIRST STEP: a process that fills, and says how far it is.
    os.nice(10)
    for found in fill(sys.argv[1], *map(int, sys.argv[2:5])):
        print(found, flush=True)
