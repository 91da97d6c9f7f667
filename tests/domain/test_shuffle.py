"""Shuffles, lots, picks, salts and the commitment, recomputed as any auditor would."""

import hashlib
import hmac

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.commands import ChangeSeat, LeaveSeat, StartGame
from domain.randomness import commitment, salt
from domain.registry import RULESETS

from . import naive
from .positions import (
    GAME_ID,
    PLAYERS,
    SECRET,
    halleluja,
    lobby,
    only,
    started,
    turn_of,
    types,
    vallelujah,
)

SECRETS = st.binary(min_size=32, max_size=32)
CLIENT_SEEDS = st.one_of(st.none(), st.binary(min_size=1, max_size=32).map(bytes.hex))
GAMES = st.sampled_from(
    [("halleluja", seats) for seats in (2, 3, 4)] + [("vallelujah", seats) for seats in range(2, 7)]
)
quick = settings(max_examples=60, deadline=None)


def stream(purpose, n, *, round_number=1, secret=SECRET, seeds=("", "")):
    return naive.words(
        naive.key(secret, GAME_ID, purpose=purpose, round_number=round_number, n=n, seeds=seeds)
    )


# ---- the procedures themselves


def test_the_naive_stream_is_the_contracts():
    """Anchors for the test's own code: the words are those of SHA-256(key || counter)."""
    key = bytes(range(32))
    words = naive.words(key)
    first_nine = [next(words) for _ in range(9)]
    blocks = [hashlib.sha256(key + bytes([0, 0, 0, n])).digest() for n in (0, 1)]
    assert first_nine[0] == int.from_bytes(blocks[0][:4], "big")
    assert first_nine[7] == int.from_bytes(blocks[0][28:], "big")
    assert first_nine[8] == int.from_bytes(blocks[1][:4], "big")


def test_a_word_that_would_favour_some_is_rejected_and_used_up():
    limit = 2**32 - 2**32 % 3
    words = iter([limit, 2**32 - 1, 7, 9])
    assert naive.below(words, 3) == 1
    assert next(words) == 9


@given(SECRETS)
@quick
def test_commitment(secret):
    assert commitment(secret, GAME_ID) == hashlib.sha256(secret + GAME_ID.encode()).hexdigest()
    assert lobby(secret=secret).log[0].data["commitment"] == naive.commitment(secret, GAME_ID)


@given(SECRETS, st.integers(1, 10**6))
@quick
def test_salt(secret, version):
    expected = hmac.new(secret, b"salt:" + str(version).encode(), hashlib.sha256).hexdigest()[:32]
    assert salt(secret, version) == expected


def test_the_unshuffled_orders():
    assert RULESETS["halleluja"].cards == tuple(naive.CARDS)
    assert RULESETS["halleluja"].cards[:9] == (
        "A-apple", "B-apple", "C-apple", "D-apple", "E-apple", "F-apple", "G-apple", "H-apple",
        "A-clover",
    )  # fmt: skip
    assert RULESETS["halleluja"].cards[-1] == "H-strawberry"
    assert RULESETS["vallelujah"].cards == tuple(naive.UNITS)
    assert RULESETS["vallelujah"].cards[8:10] == ("crimson-9", "azure-1")
    assert RULESETS["vallelujah"].cards[-1] == "coral-9"


# ---- lot and first deal


@given(GAMES, SECRETS, st.lists(CLIENT_SEEDS, min_size=6, max_size=6))
@quick
def test_first_lot_and_deal(game, secret, given_seeds):
    """The lot says who deals or leads; the deal goes one card at a time from element 0 on."""
    ruleset, count = game
    table = lobby(ruleset, count, secret=secret, seeds=dict(enumerate(given_seeds)))
    if given_seeds[0]:
        table.do(ChangeSeat(PLAYERS[0], given_seeds[0]))
    dealt = only(table.do(StartGame(PLAYERS[0])), "round.dealt").data

    seeds = [given_seeds[seat] or "" for seat in range(count)]
    seats = list(range(count))
    lot = naive.below(stream("lot", 0, round_number=0, secret=secret, seeds=seeds), count)
    first = (lot + 1) % count if ruleset == "halleluja" else lot
    whole, each = (naive.CARDS, 5) if ruleset == "halleluja" else (naive.UNITS, 9)
    hands, rest = naive.deal(
        stream("deal", 0, secret=secret, seeds=seeds), whole, seats, first, each
    )

    assert dealt["first"] == first
    assert dealt.get("dealer") == (lot if ruleset == "halleluja" else None)
    assert dealt["hands"] == {str(seat): hand for seat, hand in hands.items()}
    if ruleset == "halleluja":
        assert dealt["turned_up"] == rest.pop(0)
    assert dealt["undealt"] == rest
    assert dealt["turn"] == {"seat": first, "number": 1}
    assert dealt["round"] == 1
    assert dealt["salt"] == naive.salt(secret, table.game.version)


def test_a_lot_among_seats_with_gaps_is_an_index():
    firsts = set()
    for n in range(12):
        secret = bytes([n]) * 32
        table = lobby("vallelujah", 4, secret=secret)
        table.do(LeaveSeat(PLAYERS[1]))
        dealt = only(table.do(StartGame(PLAYERS[0])), "round.dealt").data
        lot = naive.below(stream("lot", 0, round_number=0, secret=secret, seeds=("",) * 3), 3)
        assert dealt["first"] == (0, 2, 3)[lot]
        firsts.add(dealt["first"])
    assert firsts == {0, 2, 3}


def test_the_last_seed_given_counts():
    table = lobby("vallelujah", 2, seeds={1: "aa"})
    table.do(ChangeSeat(PLAYERS[1], "bb"))
    dealt = only(table.do(StartGame(PLAYERS[0])), "round.dealt").data
    lot = naive.below(stream("lot", 0, round_number=0, seeds=("", "bb")), 2)
    hands, _ = naive.deal(stream("deal", 0, seeds=("", "bb")), naive.UNITS, [0, 1], lot, 9)
    assert dealt["hands"]["0"] == hands[0]


# ---- later deals


def test_a_later_deal_uses_its_rounds_number_and_the_seeds_of_all_who_started():
    """Also of seats that resigned: seeds are in seat order of everyone who started."""
    table = vallelujah(
        [["crimson-1"], ["azure-2", "azure-3"], ["gold-5", "gold-6"]],
        seeds={0: "00ff", 2: "abcd"}, round=4, to_move=0,
    )  # fmt: skip
    table.resign(2)
    dealt = only(table.move(0, "lead", units=["crimson-1"]), "round.dealt").data
    seeds = ("00ff", "", "abcd")
    hands, rest = naive.deal(
        stream("deal", 0, round_number=5, seeds=seeds), naive.UNITS, [0, 1], 1, 9
    )
    assert dealt["hands"] == {"0": hands[0], "1": hands[1]}
    assert dealt["undealt"] == rest
    assert len(rest) == 54 - 18


def test_a_later_halleluja_deal():
    table = halleluja(
        [["A-rose"], ["B-apple", "C-apple"]], "A-apple", options={"rounds_to_win": 2}, round=2
    )
    dealt = only(table.move(0, "play", card="A-rose", call="halleluja"), "round.dealt").data
    assert dealt["dealer"] == 0  # the builder let seat 1 deal
    hands, rest = naive.deal(stream("deal", 0, round_number=3), naive.CARDS, [0, 1], 1, 5)
    assert dealt["hands"] == {"0": hands[0], "1": hands[1]}
    assert dealt["turned_up"] == rest[0]
    assert dealt["undealt"] == rest[1:]


# ---- reshuffles


@given(SECRETS)
@quick
def test_reshuffle_starts_from_the_discards_in_the_order_laid(secret):
    under = ("C-rose", "C-apple", "A-apple", "B-apple", "B-clover", "D-clover")
    table = halleluja(
        [["A-strawberry", "F-strawberry"], ["B-rose"]], "H-clover",
        pile=[], under=under, secret=secret,
    )  # fmt: skip
    events = table.move(0, "draw")
    shuffled = naive.shuffled(stream("reshuffle", 0, secret=secret), under)
    assert types(events)[:2] == ["pile.reshuffled", "cards.drawn"]
    assert events[0].data["draw_pile"] == shuffled
    assert events[0].data["count"] == len(under)
    assert events[0].data["salt"] == naive.salt(secret, events[0].version)
    assert events[1].data["cards"] == shuffled[:1]
    assert events[1].data["salt"] == naive.salt(secret, events[1].version)


def test_reshuffles_and_resigned_hands_are_counted_together_within_the_round():
    table = halleluja(
        [["E-rose", "F-rose", "F-apple"], ["B-rose"], ["H-strawberry", "A-apple", "D-rose"]],
        "E-clover", pile=["C-clover"], under=("C-rose", "C-apple"), round=3,
    )  # fmt: skip
    left = table.resign(2)
    assert types(left) == ["seat.resigned", "pile.reshuffled"]
    seeds = ("", "", "")
    resigned = naive.shuffled(
        stream("reshuffle", 0, round_number=3, seeds=seeds),
        ["A-apple", "D-rose", "H-strawberry"],  # in the unshuffled order
    )
    assert left[1].data["draw_pile"] == ["C-clover", *resigned]
    assert left[1].data["count"] == 4
    # Seat 1 draws 2 for the E, seat 0 swears for 3: the pile of 2 is too few.
    table.move(0, "play", card="E-rose")
    again = table.move(1, "exclaim", word="mau")
    laid = ["C-rose", "C-apple", "E-clover"]
    shuffled = naive.shuffled(stream("reshuffle", 1, round_number=3, seeds=seeds), laid)
    reshuffled = only(again, "pile.reshuffled").data
    assert reshuffled["draw_pile"] == [*resigned[1:], *shuffled]
    assert only(again, "cards.drawn").data["cards"] == [*resigned[1:], *shuffled][:3]


def test_the_count_of_reshuffles_starts_anew_in_the_next_round():
    table = halleluja(
        [["A-rose"], ["B-rose", "C-rose"], ["D-rose", "F-rose"]], "A-apple",
        pile=[], under=("B-apple", "C-apple"), options={"rounds_to_win": 2},
    )  # fmt: skip
    table.move(1, "exclaim", word="mau")  # n = 0 of round 1
    dealt = only(table.move(0, "play", card="A-rose", call="halleluja"), "round.dealt").data
    events = table.resign(1)
    hand = sorted(dealt["hands"]["1"], key=naive.CARDS.index)
    shuffled = naive.shuffled(stream("reshuffle", 0, round_number=2, seeds=("",) * 3), hand)
    assert only(events, "pile.reshuffled").data["draw_pile"] == [*dealt["undealt"], *shuffled]


# ---- picks


@given(SECRETS)
@quick
def test_auto_pick_is_uniform_from_the_canonical_list_by_the_seed(secret):
    """`n` is the version of the event right before the picked move's first: of the expiry."""
    table = vallelujah(
        [["crimson-1", "azure-2", "gold-7", "gold-8"], ["coral-9", "coral-8"]], secret=secret
    )
    moves = table.legal()
    events = table.expire()
    assert types(events) == ["turn.expired", "battalion.led"]
    pick = naive.below(stream("auto-pick", events[0].version, secret=secret), len(moves))
    assert events[1].data["units"] == moves[pick]["units"]


def test_auto_pick_goes_on_until_the_turn_has_passed_on():
    """A draw that fits leaves a choice in the same turn; it is picked with a new `n`."""
    kept = played = 0
    for n in range(10):
        secret = bytes([n]) * 32
        table = halleluja(
            [["B-rose", "C-rose", "D-rose"], ["B-clover", "C-clover"]], "A-apple",
            pile=["G-apple", "F-clover"], secret=secret,
        )  # fmt: skip
        events = table.expire()
        assert types(events)[:2] == ["turn.expired", "cards.drawn"]
        choice = sorted(
            [
                {"type": "keep"},
                {"type": "play", "card": "G-apple"},
                *({"type": "play", "card": "G-apple", "wish": s} for s in naive.SYMBOLS),
            ],
            key=naive.jcs,
        )
        pick = naive.below(stream("auto-pick", events[1].version, secret=secret), 6)
        last = events[2]
        if choice[pick]["type"] == "keep":
            kept += 1
            assert last.type == "card.kept"
        else:
            played += 1
            assert last.type == "card.played"
            assert last.data.get("wish") == choice[pick].get("wish")
        assert turn_of(events) == {"seat": 1, "number": 2}
        assert len(events) == 3
    assert played
    assert kept + played == 10


def test_auto_pick_after_seat_away_counts_from_that_event():
    for n in range(6):
        secret = bytes([n]) * 32
        table = vallelujah(
            [["crimson-1", "azure-2", "gold-7"], ["coral-9", "coral-8"]],
            options={"away_after": 1}, secret=secret,
        )  # fmt: skip
        moves = table.legal()
        events = table.expire()
        assert types(events)[:3] == ["turn.expired", "seat.away", "battalion.led"]
        pick = naive.below(stream("auto-pick", events[1].version, secret=secret), len(moves))
        assert events[2].data["units"] == moves[pick]["units"]


def test_all_legal_moves_come_up_about_equally_often():
    """A deterministic pick is ruled out: over many secrets each of three leads is picked."""
    counts = {"azure-2": 0, "crimson-1": 0, "gold-7": 0}
    for n in range(300):
        secret = hashlib.sha256(b"pick" + bytes([n // 256, n % 256])).digest()
        table = vallelujah([["crimson-1", "azure-2", "gold-7"], ["coral-9"]], secret=secret)
        counts[table.expire()[1].data["units"][0]] += 1
    assert all(70 <= count <= 130 for count in counts.values()), counts


@pytest.mark.parametrize(("ruleset", "count"), [("halleluja", 4), ("vallelujah", 6)])
def test_the_same_secret_and_seeds_give_the_same_game(ruleset, count):
    one, other = (started(ruleset, count, seeds={1: "c0ffee"}) for _ in range(2))
    assert one.log == other.log
    assert started(ruleset, count).log != one.log
