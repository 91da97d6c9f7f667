"""The bot `wise`: tries its weightiest moves on games that it may be in.

A determinised search (perfect-information Monte Carlo): what the seat does not see is dealt at
random, every move that is tried is played out on the same deals by the quick eyes of all seats,
and by sequential halving (Karnin, Koren and Somekh, 2013) the moves that do well get the more
deals the better they do. It knows what its seat's view shows now, no more.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from ..commands import Context
from ..play import pusher
from ..state import Game
from .choices import Entry, Late, Move, View, every
from .eyes import EYES, Eye

TRIED = 4
"""So many of the moves that weigh most are tried."""
PER_CARD = 0.15
"""What each card is worth, beside a won round, that the others are left with when it ends."""


def choose(
    view: View,
    listed: list[Entry],
    rng: random.Random,
    late: Late | None = None,
    *,
    played: int | None = None,
) -> Move:
    """The move that did best.

    `played` is how many moves are played in trying them, on all deals together: it bounds the time
    without a clock. `late`, asked before each playout, ends the search early.
    """
    moves = every(listed)
    if len(moves) == 1:
        return moves[0]
    # A search draws much: from dice of its own, that are as fast for system dice.
    dice = random.Random(rng.getrandbits(128))
    eye = EYES[view["ruleset"]]
    weights = eye.weigh(view, moves)
    order = sorted(range(len(moves)), key=lambda place: (-weights[place], dice.random()))[:TRIED]
    best = weights[order[0]]
    trials = [_Trial(moves[place], eye.TRUST * (weights[place] - best)) for place in order]
    deal = eye.dealer(view)
    context = Context(dice.randbytes(32))
    stages = (len(trials) - 1).bit_length()
    while len(trials) > 1:
        left = (eye.PLAYED if played is None else played) // stages
        while left > 0:
            tries = _tried(trials, deal(dice), eye, context, late)
            if tries is None:
                break
            for trial, (outcome, count) in zip(trials, tries, strict=True):
                trial.score += outcome
                left -= count
        trials.sort(key=lambda trial: trial.score, reverse=True)
        del trials[(len(trials) + 1) // 2 :]
    return trials[0].move


@dataclass(slots=True)
class _Trial:
    """A move, and how it has done so far."""

    move: Move
    score: float


def _tried(
    trials: list[_Trial], game: Game, eye: Eye, context: Context, late: Late | None
) -> list[tuple[float, int]] | None:
    """How each move ended on `game`, and in how many moves; None if it got late on the way, as
    only moves that were tried on the same deals can be compared."""
    tries = []
    for trial in trials:
        if late is not None and late():
            return None
        tries.append(_play_out(game.copy(), trial.move, eye, context))
    return tries


def _play_out(game: Game, move: Move, eye: Eye, context: Context) -> tuple[float, int]:
    """Play `move` and all that follows: how well it ended for its seat, and the moves played."""
    assert game.turn is not None
    seat = game.turn.seat
    push = pusher(game, context)
    push(move)
    count = 1
    while game.turn is not None:
        push(eye.quick(game))
        count += 1
    return _outcome(game, seat), count


def _outcome(game: Game, seat: int) -> float:
    """How well a game that is over ended for `seat`."""
    assert game.result is not None
    winner = game.result.get("winner")
    held = {other: game.rules.hand_count(game, other) for other in game.active}
    own = held.pop(seat)
    won = 1 / len(game.active) if winner is None else float(winner == seat)
    return won + PER_CARD * (sum(held.values()) / len(held) - own)
