"""What a bot is shown, and how long it may think."""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain.bots import wise
from domain.bots.choices import every
from domain.bots.eyes import EYES
from domain.commands import Context, CreateGame, SeatBot, StartGame
from domain.game import Game, Seat, decide, new_game, push, view
from domain.redaction import Viewer
from domain.sandbox import secret_of
from eventstore import bots

HOST = "019b7600-0000-7000-8000-000000000001"
CONTEXT = Context(bytes(range(32)))


def table(ruleset: str, bot: str = "wise", deal: str | None = None) -> Game:
    game = new_game("019b7600-0000-7000-8000-000000000000")
    context = CONTEXT if deal is None else Context(secret_of(deal))
    opened = CreateGame(HOST, ruleset, {"rounds_to_win": 1}, deal=deal)
    for command in (opened, *[SeatBot(HOST, bot)] * 2, StartGame(HOST)):
        game = decide(game, command, context).game
    return game


def looks_best(game: Game, seat: int, move: dict[str, Any]) -> bool:
    shown = view(game, Viewer(seat))
    moves = every(shown["you"]["legal_moves"])
    ratings = EYES[game.ruleset].weigh(shown, moves)
    return ratings[moves.index(move)] == max(ratings)


def chosen(ruleset: str, positions: int) -> list[bool]:
    """Whether `wise` has made the move that looked best, position by position."""
    game, rng, best = table(ruleset), random.Random(5), []
    while game.turn is not None and len(best) < positions:
        seat = game.turn.seat
        listed = every(view(game, Viewer(seat))["you"]["legal_moves"])
        if seat != 0 and len(listed) > 1:
            move = bots.choose_move(game, seat)
            assert move in listed
            best.append(looks_best(game, seat, move))
        push(game, rng.choice(listed), CONTEXT)
    return best


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_a_bot_without_time_to_think_makes_the_move_that_looks_best(
    ruleset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bots, "THINKING_SECONDS", 0.0)
    tried = chosen(ruleset, 20)
    assert tried
    assert all(tried)


def test_a_seat_without_a_bot_makes_no_move() -> None:
    with pytest.raises(ValueError, match="seat 0 has no bot"):
        bots.choose_move(table("vallelujah"), 0)


def _moves(game: Game, context: Context, count: int) -> list[dict[str, Any]]:
    moves = []
    while game.turn is not None and len(moves) < count:
        move = bots.choose_move(game, game.turn.seat)
        moves.append(move)
        push(game, move, context)
    return moves


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_in_the_sandbox_a_bot_tries_few_moves(
    ruleset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[int] = []
    play_out = wise._play_out

    def counted(*given: Any) -> Any:
        played[-1] += 1
        return play_out(*given)

    monkeypatch.setattr(wise, "_play_out", counted)
    # By the count alone, on however slow a machine.
    monkeypatch.setattr(bots, "THINKING_SECONDS", 0.0)
    game, context = table(ruleset, deal="first-steps"), Context(secret_of("first-steps"))
    game.seats = {seat: Seat(bot="wise") for seat in game.seats}
    moves = []
    while game.turn is not None and len(moves) < 15:
        played.append(0)
        moves.append(bots.choose_move(game, game.turn.seat))
        push(game, moves[-1], context)
    assert max(played) == bots.SANDBOX_TRIES


@pytest.mark.parametrize("kind", ["random", "wise"])
def test_in_the_sandbox_a_bot_plays_the_same_again(kind: str) -> None:
    def played(deal: str) -> list[dict[str, Any]]:
        game = table("vallelujah", kind, deal)
        game.seats = {seat: Seat(bot=kind) for seat in game.seats}
        return _moves(game, Context(secret_of(deal)), 25)

    first = played("first-steps")
    assert played("first-steps") == first
    assert played("second-steps") != first
