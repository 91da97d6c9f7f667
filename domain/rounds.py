"""Rounds and the match: the deal, whose turn it is, how a round ends, and who has won."""

from __future__ import annotations

from typing import Any

from . import randomness
from .unfolding import Unfolding

VOID_ROUNDS = 3
"""So many void rounds in a row end the match (table.void-rounds)."""


def pass_turn(unfolding: Unfolding, seat: int) -> None:
    """The turn of `seat` begins, unless the round ends in its place."""
    game = unfolding.game
    rules, turn = game.rules, game.turn
    assert turn is not None
    number = turn.number + 1
    if rules.repeats and rules.is_repetition(game, seat):
        void_round(unfolding, "repetition")
    elif number > rules.turn_limit:
        end_by_limit(unfolding)
    else:
        unfolding.begin_turn(seat, number)


def deal_round(unfolding: Unfolding) -> None:
    """Deal the next round, or the first one; its first turn begins."""
    game = unfolding.game
    rules = game.rules
    number = game.round + 1
    if number == 1:
        lot = unfolding.chance(randomness.LOT, round_number=0).below(len(game.started))
        opener = game.started[lot]
    else:
        opener = game.next_active(game.opener)
    first = game.next_active(opener) if rules.has_dealer else opener
    deck = unfolding.chance(randomness.DEAL, round_number=number).shuffled(rules.cards)
    order = game.clockwise_from(first)
    dealt = rules.hand_size * len(order)
    data: dict[str, Any] = {
        "round": number,
        "first": first,
        "scores": by_seat(game.scores),
        "active": list(game.active),
        "away": sorted(game.away),
        "expired": by_seat(game.expired),
        "voids": game.voids,
        "hands": {str(seat): deck[i : dealt : len(order)] for i, seat in enumerate(order)},
    }
    if rules.has_dealer:
        data["dealer"] = opener
    if rules.turns_up:
        data["turned_up"] = deck[dealt]
        dealt += 1
    data["undealt"] = deck[dealt:]
    if game.ahead_ms:
        data["ahead_ms"] = game.ahead_ms
    unfolding.record_hidden("round.dealt", data)
    unfolding.begin_turn(first, 1)


def win_round(unfolding: Unfolding, seat: int, reason: str) -> None:
    """`seat` scores; the match is won, or the next round is dealt."""
    game = unfolding.game
    scores = {**game.scores, seat: game.scores[seat] + 1}
    unfolding.record(
        "round.won",
        {"round": game.round, "seat": seat, "scores": by_seat(scores), "reason": reason},
    )
    if scores[seat] >= game.options["rounds_to_win"]:
        win_match(unfolding, seat, "rounds")
    else:
        deal_round(unfolding)


def void_round(unfolding: Unfolding, reason: str) -> None:
    """Nobody scores; after too many void rounds in a row the match ends."""
    game = unfolding.game
    unfolding.record("round.void", {"round": game.round, "reason": reason})
    if game.voids < VOID_ROUNDS:
        deal_round(unfolding)
        return
    best = max(game.scores[seat] for seat in game.active)
    leaders = [seat for seat in game.active if game.scores[seat] == best]
    if len(leaders) == 1:
        win_match(unfolding, leaders[0], "void-rounds")
    else:
        unfolding.record_end("game.drawn", {"reason": "void-rounds"})


def end_by_limit(unfolding: Unfolding) -> None:
    """The round has run too long: it goes to the strictly smallest hand, else it is void."""
    game = unfolding.game
    counts = {seat: game.rules.hand_count(game, seat) for seat in game.active}
    fewest = min(counts.values())
    leaders = [seat for seat, count in counts.items() if count == fewest]
    if len(leaders) == 1:
        win_round(unfolding, leaders[0], "limit")
    else:
        void_round(unfolding, "limit")


def win_match(unfolding: Unfolding, seat: int, reason: str) -> None:
    """The match is over and `seat` has won it."""
    scores = by_seat(unfolding.game.scores)
    unfolding.record_end("game.won", {"seat": seat, "scores": scores, "reason": reason})


def by_seat(numbers: dict[int, int]) -> dict[str, int]:
    """Numbers of seats as a record writes them."""
    return {str(seat): number for seat, number in numbers.items()}
