"""Computer players: legal moves, from their own seat's knowledge alone, of graded strength.

How strong they are is measured in bench/bots on many more games than here.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

from domain import bots
from domain.bots import BOTS, wise
from domain.bots.choices import every
from domain.bots.eyes import EYES
from domain.commands import Context
from domain.game import Game, legal_moves, listed_moves, push, view
from domain.redaction import Viewer
from domain.registry import RULESETS

from .games import CELLS, RandomGame, cell_name
from .positions import halleluja, started, vallelujah

CONTEXT = Context(bytes(32))
KINDS = tuple(BOTS)


def seen_by(game: Game, seat: int) -> dict[str, Any]:
    return view(game, Viewer(seat))


def chosen(kind: str, game: Game, dice: object) -> dict[str, Any]:
    seat = game.turn.seat
    return bots.choose(
        kind, seen_by(game, seat), listed_moves(game, seat), random.Random(f"{dice}")
    )


def quick_wise(shown: dict[str, Any], listed: list[Any], rng: random.Random) -> dict[str, Any]:
    """Wise, but in a hurry."""
    return wise.choose(shown, listed, rng, played=60)


def play_round(
    ruleset: str, choosers: list[Any], seed: int, options: dict[str, Any] | None = None
) -> int | None:
    """The place in `choosers` of the round's winner, or None where it was void."""
    rng = random.Random(f"{ruleset}/{len(choosers)}/{seed}")
    game = started(ruleset, len(choosers), secret=rng.randbytes(32), options=options).game
    while True:
        seat = game.turn.seat
        shown = seen_by(game, seat)
        place = (seat + seed) % len(choosers)
        move = choosers[place](shown, shown["you"]["legal_moves"], rng)
        before = game.scores
        push(game, move, CONTEXT)
        if game.voids:
            return None
        for winner, score in game.scores.items():
            if score > before[winner]:
                return (winner + seed) % len(choosers)


def wins(ruleset: str, choosers: list[Any], rounds: int) -> float:
    """The first chooser's share of all rounds, void ones too, its seat changing every time."""
    return sum(play_round(ruleset, choosers, seed) == 0 for seed in range(rounds)) / rounds


def test_bots_are_known_by_name() -> None:
    assert KINDS == ("random", "greedy", "wise")
    assert set(EYES) == set(RULESETS)
    game = started("halleluja", 2).game
    with pytest.raises(KeyError):
        chosen("nobody", game, 0)


@pytest.mark.parametrize("cell", CELLS, ids=cell_name)
def test_bots_play_whole_rounds(cell: tuple[str, int, dict[str, bool]]) -> None:
    ruleset, seats, options = cell
    choosers = [BOTS["random"], BOTS["greedy"], quick_wise, BOTS["greedy"], BOTS["random"]]
    choosers = [*choosers, BOTS["greedy"]][:seats]
    for seed in range(2):
        play_round(ruleset, choosers, seed, options)


@pytest.mark.parametrize("kind", KINDS)
def test_a_due_call_is_made(kind: str) -> None:
    for hand, call in ((["A-rose", "B-apple"], "amen"), (["A-rose"], "halleluja")):
        game = halleluja([hand, ["B-rose"]], "C-rose").game
        assert chosen(kind, game, 7) == {"type": "play", "card": "A-rose", "call": call}


@pytest.mark.parametrize("cell", CELLS, ids=cell_name)
def test_imagined_games_look_like_the_real_one(cell: tuple[str, int, dict[str, bool]]) -> None:
    """In every position, after whatever has happened, to the seat whose turn it is."""
    ruleset, seats, options = cell
    played = RandomGame(ruleset, seats, options, "imagined")
    eye, rng = EYES[ruleset], random.Random(5)
    looked = 0
    for _ in played.play():
        game = played.table.game
        if game.turn is None or looked >= 150:
            continue
        looked += 1
        seat = game.turn.seat
        shown = seen_by(game, seat)
        imagined = eye.dealer(shown)(rng)
        assert known(seen_by(imagined, seat)) == known(shown)
        assert legal_moves(imagined, seat) == legal_moves(game, seat)
        everything = [card for each in game.seats for card in imagined.rules.hand(imagined, each)]
        assert len(set(everything)) == len(everything)
    assert looked > 3


def known(shown: dict[str, Any]) -> dict[str, Any]:
    """What a bot looks at in a view."""
    hands = {
        seat["seat"]: seat["hand_size"] for seat in shown["seats"] if seat["status"] != "resigned"
    }
    turn = {name: value for name, value in shown["turn"].items() if name != "due_at"}
    return {
        "you": shown["you"],
        "table": shown["table"],
        "round": shown["round"],
        "turn": turn,
        "hands": {seat: size for seat, size in hands.items() if size},
    }


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
@pytest.mark.parametrize("kind", KINDS)
def test_a_bot_chooses_by_its_view_alone(ruleset: str, kind: str) -> None:
    """Whatever the others really hold, the same view and the same dice give the same move."""
    rng = random.Random(11)
    game = started(ruleset, 3).game
    compared = 0
    while game.turn is not None and compared < 6:
        seat = game.turn.seat
        if len(legal_moves(game, seat)) > 1:
            other = EYES[ruleset].dealer(seen_by(game, seat))(rng)
            assert hidden(other, seat) != hidden(game, seat)
            for dice in range(2):
                assert quick(kind, other, dice) == quick(kind, game, dice)
            compared += 1
        push(game, rng.choice(legal_moves(game, seat)), CONTEXT)
    assert compared == 6


def hidden(game: Game, seat: int) -> list[list[str]]:
    return [game.rules.hand(game, other) for other in game.active if other != seat]


def quick(kind: str, game: Game, dice: int) -> dict[str, Any]:
    seat = game.turn.seat
    chooser = quick_wise if kind == "wise" else BOTS[kind]
    return chooser(seen_by(game, seat), listed_moves(game, seat), random.Random(dice))


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
@pytest.mark.parametrize("seats", [2, 4])
def test_quick_eyes_see_as_well_as_slow_ones(ruleset: str, seats: int) -> None:
    """What playouts play is a legal move, none of which looks better to the seat of the view."""
    eye, rng, looked = EYES[ruleset], random.Random(12), 0
    for _ in range(4):
        game = started(ruleset, seats, secret=rng.randbytes(32), options={"rounds_to_win": 1}).game
        while game.turn is not None:
            seat = game.turn.seat
            moves = [
                game.rules.with_due_call(game, seat, move) for move in legal_moves(game, seat)
            ]
            quick_move = eye.quick(game)
            assert quick_move in moves
            ratings = eye.rate(seen_by(game, seat), [quick_move, *moves])
            assert ratings[0] == max(ratings)
            looked += 1
            push(game, rng.choice([quick_move, rng.choice(moves)]), CONTEXT)
    assert looked > 50


def test_wise_stops_when_it_is_late() -> None:
    game = started("vallelujah", 2).game
    shown, asked = seen_by(game, game.turn.seat), []

    def late() -> bool:
        asked.append(True)
        return len(asked) > 3

    moves = shown["you"]["legal_moves"]
    move = bots.choose("wise", shown, moves, random.Random(1), late)
    assert move in every(moves)
    # Asked before each playout and told so, then once in each of the stages that are left.
    assert 3 < len(asked) < 7


def test_greedy_and_wise_see_a_win() -> None:
    game = vallelujah([["azure-7", "azure-2"], ["gold-9", "gold-8"]], ["crimson-3"]).game
    for kind in ("greedy", "wise"):
        assert chosen(kind, game, 3)["units"] == ["azure-2", "azure-7"]


@pytest.mark.parametrize(
    ("ruleset", "seats", "least"),
    [
        ("vallelujah", 2, 0.80),
        ("vallelujah", 4, 0.60),
        ("halleluja", 2, 0.53),
        ("halleluja", 4, 0.26),
    ],
)
def test_greedy_beats_random(ruleset: str, seats: int, least: float) -> None:
    others = [BOTS["random"]] * (seats - 1)
    assert wins(ruleset, [BOTS["greedy"], *others], 250) >= least


@pytest.mark.parametrize(("ruleset", "least"), [("vallelujah", 0.8), ("halleluja", 0.5)])
def test_wise_beats_random_even_in_a_hurry(ruleset: str, least: float) -> None:
    assert wins(ruleset, [quick_wise, BOTS["random"]], 40) >= least
