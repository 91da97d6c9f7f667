"""Play that would never end by itself, and how it ends all the same.

`ABBOT_LONG=1` plays more deals.
"""

from __future__ import annotations

import itertools
import os
import random
from typing import Any

import pytest

from domain.commands import MakeMove
from domain.events import Recorded
from domain.game import legal_moves, view
from domain.redaction import Viewer

from . import naive_legality
from .naive import CARDS
from .naive_legality import VallelujahDeal
from .positions import DEFAULTS, Table, halleluja, started, types, vallelujah

LONG = os.environ.get("ABBOT_LONG") == "1"

# ---- the proven cycle of Vallelujah

CYCLE = [["coral-7", "slate-7"], ["crimson-8", "gold-7"]]
"""Whoever leads a seven loses it to the eight; whoever has shown the eight loses that."""


def key(deal: Any) -> Any:
    hands = tuple(frozenset(hand) for _, hand in sorted(deal.hands.items()))
    return hands, frozenset(deal.arena), deal.mover


def test_no_line_of_play_leads_out_of_the_cycle():
    """All positions that can be reached, found with the naive generator: none is won, none has
    fewer units, and whoever is to move has no other choice than which seven to lead."""
    start = VallelujahDeal(dict(enumerate(CYCLE)), 0, DEFAULTS["vallelujah"])
    seen, ahead = {key(start)}, [start]
    while ahead:
        deal = ahead.pop()
        moves = naive_legality.legal(deal.view())
        assert len(moves) == (1 if deal.arena else 2)
        for after in (deal.after(move) for move in moves):
            assert not after.over
            assert sum(map(len, after.hands.values())) + len(after.arena) == 4
            if key(after) not in seen:
                seen.add(key(after))
                ahead.append(after)
    assert 10 < len(seen) < 100


def play_cycle(table: Table, choose: Any) -> list[Recorded]:
    """Play until the round is over; the events of the last move."""
    round_ = table.game.round
    events: list[Recorded] = []
    while not table.game.over and table.game.round == round_:
        seat = table.game.turn.seat
        events = table.move(seat, **choose(legal_moves(table.game, seat)))
    return events


def starts_of_turns(table: Table) -> list[Any]:
    """The position at the start of each turn of the first round, from the record alone."""
    positions = []
    hands: dict[int, set[str]] = {}
    arena: list[str] = []
    for event in table.log:
        data = event.data
        if event.type == "round.dealt":
            if positions:
                break
            hands = {int(seat): set(units) for seat, units in data["hands"].items()}
        elif event.type in ("battalion.led", "battalion.beaten", "arena.taken"):
            mine = hands[data["seat"]]
            mine -= set(data.get("units", []))
            mine |= {data["captured"]} if "captured" in data else set()
            arena = data.get("units", [])
        if event.type != "game.started" and "turn" in data:
            armies = tuple(frozenset(units) for _, units in sorted(hands.items()))
            positions.append((armies, frozenset(arena), data["turn"]["seat"]))
    return positions


@pytest.mark.parametrize("seed", range(8))
def test_the_cycle_is_void_at_the_third_repetition(seed):
    rng = random.Random(seed)
    table = vallelujah(CYCLE)
    events = play_cycle(table, rng.choice)
    assert types(events)[1:] == ["round.void", "round.dealt"]
    assert events[1].data == {"round": 1, "reason": "repetition"}
    assert events[2].data["voids"] == 1
    assert events[2].data["scores"] == {"0": 0, "1": 0}
    leaders = [event.data["first"] for event in table.log if event.type == "round.dealt"]
    assert leaders == [0, 1]
    positions = starts_of_turns(table)
    counts = [positions.count(position) for position in positions]
    # The third occurrence is not the start of a turn any more: the round ended in its place.
    assert max(counts) == 2


def test_the_third_void_round_ends_the_match():
    for scores, ended in (
        ({0: 0, 1: 0}, "game.drawn"),
        ({0: 2, 1: 2}, "game.drawn"),
        ({0: 1, 1: 0}, "game.won"),
        ({0: 1, 1: 2}, "game.won"),
    ):
        table = vallelujah(CYCLE, scores=scores, voids=2, round=5)
        events = play_cycle(table, lambda moves: min(moves, key=str))
        assert types(events)[1:] == ["round.void", ended]
        assert events[-1].data["reason"] == "void-rounds"
        assert table.game.over
        if ended == "game.won":
            assert events[-1].data["seat"] == max(scores, key=lambda seat: scores[seat])


# ---- picks made for both seats


def until_over(table: Table, most: int) -> int:
    """Let every turn run out; how many did."""
    for expired in itertools.count():
        if table.game.over:
            return expired
        assert expired < most
        table.expire()
    return 0


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
@pytest.mark.parametrize("secret", range(100 if LONG else 12))
def test_two_seats_whose_every_turn_runs_out(ruleset, secret):
    """Away only after a hundred expired turns in a row: the picks alone bring the match on."""
    options = {"away_after": 100, "rounds_to_win": 9}
    table = started(ruleset, 2, options=options, secret=bytes(31) + bytes([secret]))
    expired = until_over(table, 1 + 2 * 100)
    end = table.log[-1]
    away = [event for event in table.log if event.type == "seat.away"]
    if end.type == "game.abandoned":
        assert [event.data["seat"] for event in away] in ([0, 1], [1, 0])
        assert end.data["reason"] == "no-players"
        # Not the turns of a match count but the seat's own: each had its hundred.
        assert expired >= 100
    else:
        assert end.type in ("game.won", "game.drawn")
    counts = {0: 0, 1: 0}
    for event in table.log:
        if event.type == "turn.expired":
            counts[event.data["seat"]] += 1
    assert max(counts.values()) <= 100


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_rounds_end_by_picks_alone(ruleset):
    """Uniform picks finish rounds: hardly any is void."""
    ends = {"emptied": 0, "limit": 0, "repetition": 0}
    for secret in range(300 if LONG else 40):
        options = {"away_after": 100, "rounds_to_win": 1}
        table = started(ruleset, 2, options=options, secret=bytes(30) + bytes([1, secret % 256]))
        until_over(table, 201)
        for event in table.log:
            if event.type in ("round.won", "round.void"):
                ends[event.data["reason"]] += 1
    assert ends["emptied"] > 5 * (ends["limit"] + ends["repetition"])


def test_a_fixed_pick_would_not_do():
    """Two seats that always play their first legal move go round in circles in about a quarter of
    all rounds; that is why picks are drawn."""
    deals = 1000 if LONG else 120
    void = 0
    for number in range(deals):
        secret = number.to_bytes(32, "big")
        table = started("vallelujah", 2, options={"rounds_to_win": 1}, secret=secret)
        events = play_cycle(table, lambda moves: moves[0])
        void += "round.void" in types(events)
    assert 0.12 < void / deals < 0.44


# ---- nobody ever calls


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_nobody_ever_calls(seats):
    """Without a last call no hand is ever empty: every round reaches its limit."""
    for seed in range(10 if LONG else 2):
        rng = random.Random(f"{seats}/{seed}")
        table = started("halleluja", seats, secret=rng.randbytes(32))
        while not table.game.over:
            seat = table.game.turn.seat
            table.do(MakeMove(table.player(seat), rng.choice(legal_moves(table.game, seat))))
        assert not [event for event in table.log if event.data.get("reason") == "emptied"]
        check_limits(table)


def check_limits(table: Table) -> None:
    """Every round of the record ended at turn 500, for the smallest hand or for nobody; and the
    match ended by that."""
    hands: dict[int, int] = {}
    number = 0
    voids = 0
    for event in table.log:
        data = event.data
        if event.type == "round.dealt":
            hands = {int(seat): len(cards) for seat, cards in data["hands"].items()}
            assert data["voids"] == voids
        elif event.type == "card.played":
            hands[data["seat"]] -= 1
        elif event.type == "cards.drawn":
            hands[data["seat"]] += data["count"]
        elif event.type in ("round.won", "round.void"):
            assert data["reason"] == "limit"
            assert number == 500
            fewest = [seat for seat, count in hands.items() if count == min(hands.values())]
            if event.type == "round.won":
                assert fewest == [data["seat"]]
            else:
                assert len(fewest) > 1
                voids += 1
        number = data.get("turn", {"number": number})["number"]
    assert table.log[-1].data["reason"] == ("void-rounds" if voids == 3 else "rounds")


# ---- E's from hand to hand, and every card in a hand


def all_in_hand(options: dict[str, bool]) -> Table:
    """No card is left to draw: all but the one turned up are in the two hands, two E's in each."""
    top, rest = "C-apple", [card for card in CARDS if card != "C-apple"]
    mine = [card for card in rest if card[2:] in ("apple", "rose")]
    theirs = [card for card in rest if card not in mine]
    return halleluja([mine, theirs], top, [], options=options)


OPTIONS = [
    dict(zip(("mitre_wild", "annoyed_ends_turn", "annoyed_stacks"), values, strict=True))
    for values in itertools.product((False, True), repeat=3)
]


def hand_over(table: Table, rng: random.Random) -> dict[str, Any]:
    """An E where one can be played, else a move that keeps the cards coming back."""
    moves = legal_moves(table.game, table.game.turn.seat)
    annoyed = [move for move in moves if move.get("card", "").startswith("E")]
    return rng.choice(annoyed or moves)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_es_from_hand_to_hand_with_every_card_in_hand(options):
    rng = random.Random(str(options))
    table = all_in_hand(options)
    played = turns = 0
    while table.game.round == 1 and table.game.turn:
        seat = table.game.turn.seat
        turns = table.game.turn.number
        move = hand_over(table, rng)
        table.move(seat, **move)
        played += move.get("card", "").startswith("E")
        if table.game.round == 1:
            seen = table.seen()
            held = sum(each["hand_size"] for each in seen["seats"])
            assert held + seen["table"]["draw_pile"] + seen["table"]["discard_pile"] == 32
    assert turns == 500
    if not options["annoyed_ends_turn"] and not options["annoyed_stacks"]:
        # The next seat draws the one card that lies under the E, and has an E of its own.
        assert played == 500
    while not table.game.over:
        seat = table.game.turn.seat
        table.move(seat, **hand_over(table, rng))
    check_limits(table)


def test_nobody_can_play_or_draw():
    """All cards are in two hands, and neither has one that fits: the turns pass until the limit."""
    mine = [card for card in CARDS if card[2:] in ("rose", "strawberry") and card[0] != "C"]
    table = halleluja([mine, ["A-clover"]], "C-apple", [], to_move=0, turn=490)
    for turn in range(490, 501):
        assert table.game.turn.number == turn
        seat = table.game.turn.seat
        seen = view(table.game, Viewer(seat))
        assert [entry["rules"] for entry in seen["you"]["legal_moves"]] == [["halleluja.pass"]]
        events = table.move(seat, "draw")
        assert events[0].type == "turn.passed"
    assert types(events)[1:] == ["round.won", "game.won"]
    assert events[1].data["seat"] == 1
    assert events[1].data["reason"] == "limit"


def test_a_round_of_vallelujah_that_reaches_its_limit():
    """A round whose positions differ is over after 300 turns."""
    table = vallelujah([["gold-4", "slate-9"], ["crimson-5", "forest-5", "coral-1"]], turn=300)
    events = table.move(0, "lead", units=["gold-4"])
    assert types(events)[1:] == ["round.won", "round.dealt"]
    assert events[1].data["reason"] == "limit"
    assert events[1].data["seat"] == 0
