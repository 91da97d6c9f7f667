"""The legal moves against a generator that tries everything, on random and on the worst positions.

`ABBOT_LONG=1` compares 100,000 random positions.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from domain.commands import MakeMove
from domain.game import Context, Game, Refused, decide, legal_moves, view
from domain.redaction import Viewer
from domain.registry import RULESETS

from . import naive_legality
from .naive import CARDS, SYMBOLS, UNITS
from .naive_legality import HallelujaDeal, VallelujahDeal
from .positions import PLAYERS, Table, halleluja, started, vallelujah

LONG = os.environ.get("ABBOT_LONG") == "1"
POSITIONS = 100_000 if LONG else 3_000
PARTS = 10
"""The random positions come in parts, so that several processes can share them."""


def agrees(table: Table) -> list[dict[str, Any]]:
    """The legal moves, once they are found to be those of the naive generator."""
    game = table.game
    assert game.turn is not None
    seat = game.turn.seat
    moves = list(legal_moves(game, seat))
    assert moves == naive_legality.legal(view(game, Viewer(seat)))
    assert all(legal_moves(game, other) == [] for other in game.seats if other != seat)
    return moves


# ---- random positions


def random_halleluja(rng: random.Random) -> Table:
    """Any hands, after any card laid with any wish; where a card must be drawn it may be drawn."""
    cards = rng.sample(CARDS, len(CARDS))
    seats = rng.randint(2, 4)
    hands: list[list[str]] = [[] for _ in range(seats)]
    for hand in hands:
        for _ in range(min(rng.choice((1, 2, 3, 5, 8, 13)), (len(cards) - 3) // seats)):
            hand.append(cards.pop())
    hands[0].append(laid := cards.pop())
    flags = ("mitre_wild", "annoyed_ends_turn", "annoyed_stacks")
    options = {name: rng.random() < 0.4 for name in flags}
    table = halleluja(hands, cards.pop(), cards, options=options)
    wish = {"wish": rng.choice(SYMBOLS)} if laid[0] == "G" and rng.random() < 0.7 else {}
    table.happened("card.played", seat=0, card=laid, **wish, turn={"seat": 1, "number": 2})
    if list(legal_moves(table.game, 1)) == [{"type": "draw"}] and not table.seen(1)["turn"].get(
        "pending_draw"
    ):
        laid_now = table.seen()["table"]
        fitting = [
            card
            for card in cards
            if naive_legality.matches(card, laid_now["top"], laid_now["symbol_in_force"])
        ]
        if fitting and rng.random() < 0.8:
            drawn = [rng.choice(fitting)]
            table.happened("cards.drawn", seat=1, reason="no-match", count=1, cards=drawn, salt="")
    return table


def random_battalion(rng: random.Random, units: list[str], most: int) -> list[str]:
    """Some of `units` that are of one banner or of one power."""
    lead = rng.choice(units)
    kind = naive_legality.banner if rng.random() < 0.6 else naive_legality.power
    alike = [unit for unit in units if kind(unit) == kind(lead)]
    return rng.sample(alike, rng.randint(1, min(most, len(alike))))


def random_vallelujah(rng: random.Random) -> Table:
    """Any army against any battalion, or before an empty arena."""
    units = rng.sample(UNITS, len(UNITS))
    arena = [] if rng.random() < 0.15 else random_battalion(rng, units, rng.choice((1, 2, 3, 4, 9)))
    left = [unit for unit in units if unit not in arena]
    army = left[: rng.choice((1, 2, 3, 4, 6, 8, 9, 10, 12, 14))]
    if rng.random() < 0.2:
        army = random_battalion(rng, left, 9)
    rest = [unit for unit in left if unit not in army]
    others = [rest[number * 3 : number * 3 + 3] for number in range(rng.randint(1, 5))]
    return vallelujah([army, *others], arena, options={"lead_all": rng.random() < 0.5})


RANDOM = {"halleluja": random_halleluja, "vallelujah": random_vallelujah}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_random_positions(ruleset, part):
    rng = random.Random(f"{ruleset}/{part}")
    kinds: dict[str, int] = {}
    for _ in range(POSITIONS // len(RULESETS) // PARTS):
        moves = agrees(RANDOM[ruleset](rng))
        for move in moves:
            kinds[move["type"]] = kinds.get(move["type"], 0) + 1
    expected = {"halleluja": {"play", "draw", "keep"}, "vallelujah": {"lead", "beat", "take"}}
    assert set(kinds) == expected[ruleset]


def test_a_list_of_legal_moves_is_the_same_however_it_is_read():
    rng = random.Random("lists")
    for _ in range(200):
        table = random_vallelujah(rng)
        moves = legal_moves(table.game, 0)
        written = [*moves]
        count = len(moves)
        assert count == len(written)
        assert moves == written
        assert moves != written[1:]
        assert repr(moves) == repr(written)
        assert [moves[place] for place in range(-count, count)] == written * 2
        assert moves[1:-1] == written[1:-1]
        assert written[-1] in moves
        for outside in (count, -count - 1):
            with pytest.raises(IndexError):
                moves[outside]


# ---- the worst positions


@pytest.mark.parametrize("number", range(40 if LONG else 3))
def test_thirty_units_against_four(number):
    rng = random.Random(number)
    units = rng.sample(UNITS, len(UNITS))
    while len(arena := random_battalion(rng, units, 9)) != 4:
        pass
    army = [unit for unit in units if unit not in arena][:30]
    agrees(vallelujah([army, ["gold-1" if "gold-1" not in army + arena else army.pop()]], arena))


def of_banners(*banners: str) -> list[str]:
    return [unit for unit in UNITS if naive_legality.banner(unit) in banners]


def of_powers(*powers: int) -> list[str]:
    return [unit for unit in UNITS if int(naive_legality.power(unit)) in powers]


ARMIES = {
    "one banner": of_banners("azure"),
    "a banner and a half": [*of_banners("azure"), *of_banners("coral")[::2]],
    "one power": of_powers(5),
    "the highest power": of_powers(9),
    "two powers": of_powers(5, 9),
    "one unit": ["azure-1"],
}
ARENAS = {
    "nothing": [],
    "the lowest": ["crimson-1"],
    "the highest": ["crimson-9"],
    "a pair of a power": ["crimson-4", "gold-4"],
    "a pair of a banner": ["crimson-9", "crimson-8"],
    "three of a banner": ["crimson-2", "crimson-3", "crimson-7"],
    "four of a power": ["crimson-6", "gold-6", "forest-6", "slate-6"],
    "five of a banner": [f"gold-{power}" for power in (9, 8, 7, 6, 4)],
    "six of a power": of_powers(3),
    "eight of a banner": [f"gold-{power}" for power in range(2, 10)],
    "a whole banner": of_banners("gold"),
}


@pytest.mark.parametrize("arena", ARENAS)
@pytest.mark.parametrize("army", ARMIES)
def test_armies_of_one_kind(army, arena):
    units = [unit for unit in ARMIES[army] if unit not in ARENAS[arena]]
    other = next(unit for unit in UNITS if unit not in units + ARENAS[arena])
    for lead_all in (False, True):
        agrees(vallelujah([units, [other]], ARENAS[arena], options={"lead_all": lead_all}))


def test_nearly_every_unit_in_one_army():
    for arena in (["crimson-5"], ["crimson-5", "gold-5"], ["crimson-8", "crimson-9"]):
        army = [unit for unit in UNITS if unit not in [*arena, "coral-1"]]
        agrees(vallelujah([army, ["coral-1"]], arena))


def test_a_whole_banner_can_only_be_taken_from():
    army = [unit for unit in UNITS if naive_legality.banner(unit) != "gold"][::3]
    moves = agrees(vallelujah([army, ["coral-9"]], of_banners("gold")))
    assert moves == [{"type": "take", "take": f"gold-{power}"} for power in range(1, 10)]


def test_nearly_every_card_in_one_hand():
    for top in CARDS:
        for wild in (False, True):
            hand = [card for card in CARDS if card != top][:-1]
            other = [card for card in CARDS if card not in [top, *hand]]
            agrees(halleluja([hand, other], top, [], options={"mitre_wild": wild}))


def test_hands_of_one_figure_and_of_one_symbol():
    for wild in (False, True):
        options = {"mitre_wild": wild}
        for top in ("A-rose", "E-apple", "G-clover", "H-strawberry"):
            hands = [[card for card in CARDS if card[0] == kind] for kind in "ABCDEFGH"]
            hands += [[card for card in CARDS if card[2:] == kind] for kind in SYMBOLS]
            for hand in hands:
                mine = [card for card in hand if card != top]
                other = next(card for card in CARDS if card not in [top, *mine])
                agrees(halleluja([mine, [other]], top, options=options))


# ---- what the referee accepts


def verdict(game: Game, secret: bytes, move: dict[str, Any]) -> str:
    """`legal`, or the code of the refusal."""
    try:
        decide(game, MakeMove(PLAYERS[game.turn.seat], move), Context(secret))
    except Refused as refused:
        return refused.code
    return "legal"


def every_move(table: Table) -> list[dict[str, Any]]:
    """Every well-formed move, as far as it names cards that are in sight; fully specified."""
    if table.game.ruleset == "halleluja":
        plays = [{"type": "play", "card": card} for card in CARDS]
        wishes = [{**play, "wish": symbol} for play in plays for symbol in SYMBOLS]
        return [*plays, *wishes, {"type": "draw"}, {"type": "keep"}]
    seen = table.seen(table.game.turn.seat)
    arena = seen["table"].get("arena", {"units": []})["units"]
    army = sorted(seen["you"]["hand"])
    wrong = next(unit for unit in UNITS if unit not in arena + army)
    sets = [list(units) for units in naive_legality.subsets([*army, wrong][-8:], len(arena))]
    moves: list[dict[str, Any]] = [{"type": "lead", "units": units} for units in sets]
    takes = [{"take": unit} for unit in [*arena, wrong]]
    moves += [{"type": "beat", "units": units} for units in sets]
    moves += [{"type": "beat", "units": units, **take} for units in sets for take in takes]
    return [*moves, {"type": "take"}, *({"type": "take", **take} for take in takes)]


def canonical_form(table: Table, move: dict[str, Any]) -> dict[str, Any]:
    """Where there is but one unit to take it may be named with a beat, or left out of a take."""
    seen = table.seen(table.game.turn.seat)
    arena = seen["table"].get("arena", {"units": []})["units"]
    if len(arena) != 1:
        return move
    if move == {"type": "take"}:
        return {"type": "take", "take": arena[0]}
    wins = len(move.get("units", [])) == len(seen["you"]["hand"])
    if move["type"] == "beat" and move.get("take") == arena[0] and not wins:
        return {"type": "beat", "units": move["units"]}
    return move


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_referee_accepts_exactly_the_legal_moves(ruleset):
    rng = random.Random(f"every move of {ruleset}")
    for _ in range(1000 if LONG else 30):
        table = RANDOM[ruleset](rng)
        legal = agrees(table)
        for move in every_move(table):
            wanted = "legal" if canonical_form(table, move) in legal else "illegal-move"
            assert verdict(table.game, table.secret, move) == wanted, move


# ---- counts, after the chess programmers' perft

PERFT: dict[tuple[str, int, tuple[str, ...]], dict[int, int]] = {
    ("halleluja", 2, ()): {1: 2, 2: 4, 4: 20, 8: 106, 14: 605, 18: 2593, 19: 4172},
    ("halleluja", 3, ()): {3: 1, 4: 2, 8: 16, 12: 70, 16: 282, 19: 1187},
    ("halleluja", 4, ()): {3: 15, 6: 56, 9: 229, 11: 687, 13: 1947, 15: 5678},
    ("halleluja", 2, ("annoyed_ends_turn",)): {3: 7, 8: 70, 14: 534, 17: 1835, 19: 4224},
    ("halleluja", 3, ("annoyed_stacks",)): {6: 7, 9: 27, 14: 118, 18: 602, 19: 876},
    ("halleluja", 4, ("annoyed_ends_turn", "annoyed_stacks", "mitre_wild")): {
        3: 45,
        5: 103,
        7: 865,
        9: 3516,
        10: 7818,
    },
    ("vallelujah", 2, ()): {1: 9, 2: 139, 3: 1343, 4: 16708},
    ("vallelujah", 3, ()): {1: 9, 2: 120, 3: 2520, 4: 15206},
    ("vallelujah", 4, ()): {1: 9, 2: 75, 3: 1071, 4: 35864},
    ("vallelujah", 6, ("lead_all",)): {1: 9, 2: 142, 3: 989, 4: 46023},
}
"""By ruleset, seats and options: how many sequences of so many moves a fixed deal allows."""

COUNTED = 100_000 if LONG else 3_000
COUNTED_NAIVELY = 100_000 if LONG else 300
"""Up to so many sequences are counted."""


def perft(game: Game, secret: bytes, depth: int) -> int:
    """As `naive_legality.perft`, by the product's own hands."""
    if depth == 0:
        return 1
    if game.turn is None or game.round > 1:
        return 0
    seat = game.turn.seat
    count = 0
    for move in legal_moves(game, seat):
        called = game.rules.with_due_call(game, seat, move)
        made = decide(game, MakeMove(PLAYERS[seat], called), Context(secret)).game
        count += perft(made, secret, depth - 1)
    return count


def naive_deal(table: Table) -> naive_legality.Deal:
    """The deal of `table` for the naive generator."""
    data = table.log[-1].data
    hands = {int(seat): hand for seat, hand in data["hands"].items()}
    if table.game.ruleset == "vallelujah":
        return VallelujahDeal(hands, data["first"], table.game.options)
    return HallelujaDeal(
        hands, data["first"], table.game.options, data["undealt"], data["turned_up"]
    )


@pytest.mark.parametrize(
    "cell", PERFT, ids=lambda cell: f"{cell[0]}-{cell[1]}-{'+'.join(cell[2]) or 'plain'}"
)
def test_perft(cell):
    ruleset, seats, flags = cell
    table = started(ruleset, seats, options=dict.fromkeys(flags, True))
    for depth, count in PERFT[cell].items():
        if count <= COUNTED:
            assert perft(table.game, table.secret, depth) == count
        if count <= COUNTED_NAIVELY:
            assert naive_legality.perft(naive_deal(table), depth) == count
