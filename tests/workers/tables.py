"""Matches for the tests of the workers, opened without the API."""

from __future__ import annotations

import random
import time
import uuid
from dataclasses import dataclass
from typing import Any

from domain.bots import choose
from domain.commands import CreateGame, MakeMove, Resign, SeatBot, StartGame, TakeSeat
from domain.events import Recorded
from domain.game import Game, fold, listed_moves, view
from domain.redaction import Viewer
from domain.times import to_micros
from eventstore.executor import Executor

TURN_SECONDS = 3


@dataclass(frozen=True)
class Expiry:
    """A turn whose time ran out, and how many seconds after the due time it was recorded."""

    round: int
    turn: int
    seat: int
    late: float


@dataclass(frozen=True)
class Match:
    """A started match: its id and the players by seat, None for a bot's seat."""

    executor: Executor
    game_id: str
    players: tuple[str | None, ...]

    def events(self) -> list[Recorded]:
        """Everything recorded so far."""
        return self.executor.store.events(self.game_id)

    def game(self) -> Game:
        """The match as it stands."""
        return fold(self.game_id, self.events())

    def expiries(self) -> list[Expiry]:
        """All expired turns so far; AssertionError if a turn expired twice."""
        found: list[Expiry] = []
        round_number = turn = 0
        for event in self.events():
            if event.type == "turn.expired":
                late = to_micros(event.at) - to_micros(event.data["due_at"])
                found.append(Expiry(round_number, turn, event.data["seat"], late / 1e6))
            if event.type == "round.dealt":
                round_number = event.data["round"]
            if "turn" in event.data:
                turn = event.data["turn"]["number"]
        turns = [(each.round, each.turn) for each in found]
        assert len(turns) == len(set(turns)), f"a turn of {self.game_id} expired twice: {turns}"
        return found

    def bot_moves(self) -> list[Recorded]:
        """What computer players did so far."""
        return [event for event in self.events() if event.by["kind"] == "bot"]

    def over(self) -> bool:
        """Whether the match has ended."""
        head = self.executor.store.head(self.game_id)
        return head is not None and head.status not in {"lobby", "active"}


class Matches:
    """Opens matches in which nobody moves but bots and the clock, and ends them again."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.started: list[Match] = []

    def start(
        self,
        *,
        ruleset: str = "vallelujah",
        humans: int = 2,
        bots: tuple[str, ...] = (),
        turn_seconds: int = TURN_SECONDS,
        **options: Any,
    ) -> Match:
        """Open a table, seat players and bots, start."""
        executor = self.executor
        players = [str(uuid.uuid4()) for _ in range(humans)]
        host = players[0]
        settings = {"pause_seconds": 0, "away_after": 100, **options}
        created = executor.create(CreateGame(host, ruleset, settings, turn_seconds))
        game_id = created.game.game_id
        for player in players[1:]:
            executor.execute(game_id, TakeSeat(player))
        for bot in bots:
            executor.execute(game_id, SeatBot(host, bot))
        executor.execute(game_id, StartGame(host))
        match = Match(executor, game_id, (*players, *(None for _ in bots)))
        self.started.append(match)
        return match

    def several(self, count: int) -> list[Match]:
        """Matches whose turns are due one after the other for a second."""
        matches = []
        for _ in range(count):
            matches.append(self.start())
            time.sleep(1 / count)
        return matches

    def end(self) -> None:
        """End what still runs, so that its turns are nobody's burden any more."""
        for match in self.started:
            for player in match.players:
                if player is not None and not match.over():
                    self.executor.execute(match.game_id, Resign(player))


def move_of(match: Match, game: Game, seat: int) -> MakeMove:
    """A move that the player of `seat`, whose turn it is, could send."""
    player = match.players[seat]
    assert player is not None
    shown = view(game, Viewer(seat))
    return MakeMove(player, choose("random", shown, listed_moves(game, seat), random.Random(1)))


def lateness(matches: list[Match]) -> str:
    """How late all expired turns were recorded, for people."""
    late = sorted(each.late for match in matches for each in match.expiries())
    if not late:
        return "no turn expired"
    median = late[len(late) // 2]
    return f"{len(late)} turns expired, late by {median:.3f} s (median), at most {late[-1]:.3f} s"
