"""Tables to play on, opened through the executor."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from domain.commands import CreateGame, MakeMove, SeatBot, StartGame, TakeSeat
from domain.events import Recorded
from domain.game import Game, legal_moves
from eventstore.executor import Executor, Outcome
from eventstore.ids import uuid7
from eventstore.store import Idempotency


@dataclass(frozen=True)
class Table:
    """A game and its players by seat; None for a computer player's seat."""

    executor: Executor
    game_id: str
    players: tuple[str | None, ...]

    def game(self) -> Game:
        """The game as it is stored."""
        loaded = self.executor.store.load(self.game_id)
        assert loaded is not None
        return loaded.game

    def events(self) -> list[Recorded]:
        """The whole record."""
        return self.executor.store.events(self.game_id)

    def mover(self) -> str:
        """The player who is to move."""
        turn = self.game().turn
        assert turn is not None
        player = self.players[turn.seat]
        assert player is not None
        return player

    def waiting(self) -> str:
        """A player who is not to move."""
        mover = self.mover()
        return next(player for player in self.players if player not in (None, mover))

    def a_move(self) -> dict[str, Any]:
        """A legal move of the seat to move."""
        game = self.game()
        assert game.turn is not None
        return with_call(game, legal_moves(game, game.turn.seat)[0])

    def make_move(self) -> Outcome:
        """The seat to move makes its first legal move."""
        return self.executor.execute(self.game_id, MakeMove(self.mover(), self.a_move()))

    def play_out(self, dice: random.Random, limit: int = 2000) -> Game:
        """Random legal moves until the match is over."""
        game = self.game()
        for _ in range(limit):
            if game.over:
                return game
            assert game.turn is not None
            player = game.seats[game.turn.seat].player_id
            assert player is not None
            move = with_call(game, dice.choice(legal_moves(game, game.turn.seat)))
            game = self.executor.execute(self.game_id, MakeMove(player, move)).game
        raise AssertionError("the match does not end")


def with_call(game: Game, move: dict[str, Any]) -> dict[str, Any]:
    """A move of the seat to move with the pious word that is due: without it few matches end."""
    assert game.turn is not None
    return game.rules.with_due_call(game, game.turn.seat, move)


def open_table(
    executor: Executor,
    ruleset: str = "halleluja",
    *,
    humans: int = 2,
    bots: tuple[str, ...] = (),
    turn_seconds: int = 60,
    visibility: str = "public",
    spectator_delay_seconds: int = 0,
    start: bool = True,
    deal: str | None = None,
    **options: Any,
) -> Table:
    """A table with that many people and computer players, started unless told otherwise."""
    players = [uuid7() for _ in range(humans)]
    created = executor.create(
        CreateGame(
            players[0],
            ruleset,
            options,
            turn_seconds,
            visibility=visibility,
            spectator_delay_seconds=spectator_delay_seconds,
            deal=deal,
        )
    )
    table = Table(executor, created.game.game_id, (*players, *(None for _ in bots)))
    for player in players[1:]:
        executor.execute(table.game_id, TakeSeat(player))
    for bot in bots:
        executor.execute(table.game_id, SeatBot(players[0], bot))
    if start:
        executor.execute(table.game_id, StartGame(players[0]))
    return table


def a_request(key: str = "", *, token: str = "", path: str = "/", body: bytes = b"") -> Idempotency:
    """A request with an idempotency key, a new one if none is given."""
    return Idempotency(token or uuid7(), key or uuid7(), path, body.ljust(32, b"\0"))
