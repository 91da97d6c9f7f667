"""Halleluja: a test for each rule, ruling and option."""

import itertools

import pytest

from domain.game import listed_moves
from domain.registry import RULESETS

from . import naive
from .games import RandomGame
from .naive import SYMBOLS, jcs
from .positions import halleluja, only, started, turn_of, types

WORDS = ("amen", "halleluja", "mau", "mau-mau")
E_OPTIONS = [
    {"annoyed_ends_turn": ends, "annoyed_stacks": stacks}
    for ends, stacks in itertools.product((False, True), repeat=2)
]
THREE_HANDS = [
    ["E-rose", "B-clover", "C-clover"],
    ["E-clover", "D-rose", "F-apple"],
    ["F-clover", "A-apple"],
]
STACKS = {"annoyed_stacks": True}
BOTH = {"annoyed_stacks": True, "annoyed_ends_turn": True}


def plays(table, seat=None):
    return {move["card"] for move in table.legal(seat) if move["type"] == "play"}


def kinds(table):
    return {move["type"] for move in table.legal()}


def drawn(events):
    """Who drew how many and why, in order."""
    return [
        (event.data["seat"], event.data["reason"], event.data["count"])
        for event in events
        if event.type == "cards.drawn"
    ]


# ---- setup


@pytest.mark.parametrize("count", [2, 3, 4])
def test_setup(count):
    table = started("halleluja", count)
    dealt = table.log[-1].data
    assert all(len(hand) == 5 for hand in dealt["hands"].values())
    assert len(dealt["undealt"]) == 32 - 5 * count - 1
    assert dealt["first"] == (dealt["dealer"] + 1) % count
    assert table.game.turn.seat == dealt["first"]
    seen = table.seen(0)
    assert seen["table"]["top"] == dealt["turned_up"]
    assert seen["table"]["symbol_in_force"] == dealt["turned_up"].split("-")[1]
    assert seen["table"]["wished"] is False
    assert seen["table"]["discard_pile"] == 1


def test_seats_and_cards():
    ruleset = RULESETS["halleluja"]
    assert ruleset.seats == (2, 4)
    assert len(ruleset.cards) == 32
    assert started("halleluja").log[0].data["ruleset_version"] == "halleluja/1"


def test_options_and_their_defaults():
    options = {option.name: option for option in RULESETS["halleluja"].options}
    assert {name: option.default for name, option in options.items()} == {
        "rounds_to_win": 1,
        "away_after": 2,
        "pause_seconds": 5,
        "mitre_wild": False,
        "annoyed_ends_turn": False,
        "annoyed_stacks": False,
    }
    bounds = {n: (o.minimum, o.maximum) for n, o in options.items() if o.type == "integer"}
    assert bounds == {"rounds_to_win": (1, 9), "away_after": (1, 100), "pause_seconds": (0, 60)}


def test_the_turned_up_card_has_no_effect():
    """No draw for an E, no skip for an H, no wish for a G: neither when dealt nor later."""
    met = set()
    for seed in range(60):
        table = started("halleluja", 3, secret=bytes([seed]) * 32)
        assert types(table.log)[-2:] == ["game.started", "round.dealt"]
        top = table.log[-1].data["turned_up"]
        met.add(top[0])
        assert table.seen(0)["turn"].get("pending_draw") is None
        assert table.seen(0)["table"]["symbol_in_force"] == top[2:]
    assert {"E", "H", "G"} <= met


def test_each_later_deal_is_by_the_next_seat():
    table = halleluja(
        [["A-rose"], ["B-rose", "C-rose"], ["D-rose", "F-rose"]], "A-apple",
        dealer=2, options={"rounds_to_win": 2},
    )  # fmt: skip
    dealt = only(table.move(0, "play", card="A-rose", call="halleluja"), "round.dealt").data
    assert (dealt["dealer"], dealt["first"], dealt["round"]) == (0, 1, 2)
    assert dealt["turn"] == {"seat": 1, "number": 1}


# ---- matching


def test_a_card_matches_by_figure_or_by_symbol():
    hands = [["A-rose", "B-apple", "C-clover", "F-rose"], ["D-clover", "D-rose"]]
    table = halleluja(hands, "A-apple")
    assert plays(table) == {"A-rose", "B-apple"}
    assert kinds(table) == {"play"}
    refusal = table.illegal(0, "play", card="C-clover")
    assert refusal.rule == "halleluja.match"


def test_a_card_that_is_not_in_hand_cannot_be_played():
    table = halleluja([["A-rose", "B-apple"], ["D-apple", "D-rose"]], "A-apple")
    table.illegal(0, "play", card="D-apple")
    table.illegal(0, "play", card="F-apple")


def test_a_wish_stands_until_the_next_card_is_played():
    table = halleluja(
        [["B-clover", "B-apple", "C-rose"], ["D-clover", "D-rose", "F-apple"]],
        "G-apple", under=("C-apple",), wish="clover",
    )  # fmt: skip
    seen = table.seen(0)["table"]
    assert (seen["top"], seen["symbol_in_force"], seen["wished"]) == ("G-apple", "clover", True)
    assert plays(table) == {"B-clover"}  # the printed apple is not in force
    table.illegal(0, "play", card="B-apple")
    table.move(0, "play", card="B-clover")
    seen = table.seen(0)["table"]
    assert (seen["top"], seen["symbol_in_force"], seen["wished"]) == ("B-clover", "clover", False)
    assert plays(table) == {"D-clover"}


def test_a_wish_stands_through_draws():
    table = halleluja(
        [["B-apple", "C-rose"], ["D-clover", "D-rose"]], "G-apple", pile=["F-rose"],
        under=("C-apple",), wish="clover",
    )  # fmt: skip
    table.move(0, "draw")
    assert table.seen(1)["table"]["symbol_in_force"] == "clover"
    assert plays(table) == {"D-clover"}


def test_a_g_matches_a_wished_g_by_figure():
    table = halleluja(
        [["G-rose", "C-rose"], ["D-clover"]], "G-apple", under=("C-apple",), wish="clover"
    )
    assert plays(table) == {"G-rose"}


# ---- the figures


@pytest.mark.parametrize("figure", "ABCDF")
def test_figures_without_effect(figure):
    table = halleluja(
        [[f"{figure}-rose", "B-clover", "C-clover"], ["H-clover", "H-apple"], ["G-clover"]],
        "H-rose",
    )
    events = table.move(0, "play", card=f"{figure}-rose")
    assert types(events) == ["card.played"]
    assert turn_of(events) == {"seat": 1, "number": 2}


@pytest.mark.parametrize("wish", [None, *SYMBOLS])
def test_g_may_carry_a_wish_for_any_symbol(wish):
    table = halleluja([["G-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"]], "A-rose")
    named = {"wish": wish} if wish else {}
    events = table.move(0, "play", card="G-rose", **named)
    assert events[0].data.get("wish") == wish
    seen = table.seen(1)["table"]
    assert seen["symbol_in_force"] == (wish or "rose")
    assert seen["wished"] is (wish is not None)


def test_only_a_g_carries_a_wish():
    table = halleluja([["A-rose", "G-rose", "C-clover"], ["D-clover", "D-rose"]], "B-rose")
    refusal = table.refused(table.command(0, "play", card="A-rose", wish="clover"))
    assert refusal.code in ("illegal-move", "validation")
    assert refusal.rule


def test_g_is_not_wild():
    table = halleluja([["G-clover", "A-rose", "C-clover"], ["D-clover", "D-rose"]], "B-rose")
    assert plays(table) == {"A-rose"}
    assert table.illegal(0, "play", card="G-clover").rule == "halleluja.match"


def test_mitre_wild():
    """A G on any card, also on a G, also against a wish; a seat that holds one must play."""
    wild = {"mitre_wild": True}
    hands = [["G-clover", "C-strawberry", "D-strawberry"], ["F-clover", "D-rose"]]
    for table in (
        halleluja(hands, "B-rose", options=wild),
        halleluja(hands, "G-rose", options=wild),
        halleluja(hands, "G-rose", under=("B-rose",), wish="apple", options=wild),
        halleluja(hands, "H-rose", options=wild),
    ):
        assert plays(table) == {"G-clover"}
        assert kinds(table) == {"play"}
        table.illegal(0, "draw")
        table.move(0, "play", card="G-clover", wish="rose")
        assert plays(table) == {"D-rose"}


def test_mitre_wild_counts_for_a_drawn_card():
    table = halleluja(
        [["C-strawberry", "D-strawberry"], ["F-clover", "D-rose"]], "B-rose",
        pile=["G-apple"], options={"mitre_wild": True},
    )  # fmt: skip
    events = table.move(0, "draw")
    assert turn_of(events) is None
    assert plays(table) == {"G-apple"}
    table = halleluja(
        [["C-strawberry", "D-strawberry"], ["F-clover", "D-rose"]], "B-rose", pile=["G-apple"]
    )
    assert turn_of(table.move(0, "draw")) == {"seat": 1, "number": 2}


def test_e_the_next_seat_draws_two_and_takes_its_turn():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"], ["F-clover"]], "A-rose",
        pile=["A-clover", "B-apple", "C-apple"],
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played", "cards.drawn"]
    assert drawn(events) == [(1, "annoyed", 2)]
    assert events[1].data["cards"] == ["A-clover", "B-apple"]
    assert "turn" not in events[0].data
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert table.hand(1) == sorted(["D-clover", "D-rose", "A-clover", "B-apple"])
    assert plays(table) == {"D-rose"}


def test_e_draws_as_many_as_exist():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"]], "A-rose", pile=[]
    )
    # The A-rose under the E is all that can be drawn.
    events = table.move(0, "play", card="E-rose")
    assert drawn(events) == [(1, "annoyed", 1)]


def test_e_draws_are_not_passed_on():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["E-clover", "D-apple"], ["F-clover", "A-apple"]],
        "A-rose",
    )
    table.move(0, "play", card="E-rose")
    assert len(table.hand(1)) == 4
    events = table.move(1, "play", card="E-clover")
    assert drawn(events) == [(2, "annoyed", 2)]


def test_drawing_for_an_e_is_not_the_draw_of_the_turn():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover"]], "A-rose",
        pile=["A-clover", "B-apple", "C-apple", "C-strawberry"],
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    assert kinds(table) == {"draw"}
    events = table.move(1, "draw")
    assert drawn(events) == [(1, "no-match", 1)]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_annoyed_ends_turn(seats):
    hands = [["E-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"], ["F-clover"], ["F-apple"]]
    table = halleluja(hands[:seats], "A-rose", options={"annoyed_ends_turn": True})
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played", "cards.drawn"]
    assert drawn(events) == [(1, "annoyed", 2)]
    assert turn_of(events) == {"seat": 2 % seats, "number": 2}
    assert "turn" in events[1].data


def test_with_no_card_at_all_nothing_is_recorded_for_the_e():
    """The penalty for a forgotten call takes the only card there is; then the E finds none."""
    table = halleluja(
        [["E-rose", "B-clover"], ["D-clover", "D-rose"], ["F-clover"]], "A-rose", pile=[]
    )
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played", "pile.reshuffled", "cards.drawn"]
    assert drawn(events) == [(0, "forgotten-call", 1)]
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert "turn" in events[2].data


def test_annoyed_ends_turn_with_no_card_to_draw_passes_the_seat_over():
    table = halleluja(
        [["E-rose", "B-clover"], ["D-clover", "D-rose"], ["F-clover"]], "A-rose", pile=[],
        options={"annoyed_ends_turn": True},
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played", "pile.reshuffled", "cards.drawn", "turn.passed"]
    assert events[3].data == {"seat": 1, "turn": {"seat": 2, "number": 2}}


def test_annoyed_ends_turn_draws_what_there_is():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"]], "A-rose", pile=[],
        options={"annoyed_ends_turn": True},
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played", "pile.reshuffled", "cards.drawn"]
    assert drawn(events) == [(1, "annoyed", 1)]
    assert turn_of(events) == {"seat": 0, "number": 2}


@pytest.mark.parametrize("options", [STACKS, BOTH])
def test_annoyed_stacks_leaves_a_pending_draw(options):
    table = halleluja(
        THREE_HANDS,
        "A-rose", options=options,
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played"]
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert table.seen(None)["turn"]["pending_draw"] == 2
    assert table.legal() == [{"card": "E-clover", "type": "play"}, {"type": "draw"}]
    table.illegal(1, "play", card="D-rose")  # fits, but only an E passes the draw on
    table.illegal(1, "keep")
    events = table.move(1, "play", card="E-clover")
    assert types(events) == ["card.played"]
    assert turn_of(events) == {"seat": 2, "number": 3}
    assert table.seen(None)["turn"]["pending_draw"] == 4
    assert table.legal() == [{"type": "draw"}]


def test_annoyed_stacks_the_sum_is_drawn_and_the_turn_taken():
    table = halleluja(
        THREE_HANDS,
        "A-rose", options=STACKS,
        pile=["A-clover", "A-strawberry", "B-apple", "C-apple", "D-apple"],
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    table.move(1, "play", card="E-clover")
    before = table.game.due_at
    events = table.move(2, "draw")
    assert types(events) == ["cards.drawn"]
    assert drawn(events) == [(2, "annoyed", 4)]
    assert turn_of(events) is None
    assert (table.game.turn.seat, table.game.turn.number) == (2, 3)
    assert table.game.due_at == before
    assert "pending_draw" not in table.seen(2)["turn"]
    assert plays(table) == {"F-clover", "A-clover"}
    assert kinds(table) == {"play"}


def test_annoyed_stacks_after_the_sum_an_e_counts_anew():
    table = halleluja(
        THREE_HANDS,
        "A-rose", options=STACKS,
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    table.move(1, "draw")
    table.move(1, "play", card="E-clover")
    assert table.seen(None)["turn"]["pending_draw"] == 2


def test_annoyed_stacks_after_the_sum_the_seat_may_still_have_to_draw():
    """Drawing for an E is not the one draw of the turn."""
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-apple"], ["F-clover", "A-apple"]], "A-rose",
        options=STACKS, pile=["A-clover", "A-strawberry", "B-apple", "C-rose"],
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    table.move(1, "draw")
    assert kinds(table) == {"draw"}
    events = table.move(1, "draw")
    assert drawn(events) == [(1, "no-match", 1)]
    assert turn_of(events) == {"seat": 2, "number": 3}


def test_annoyed_stacks_and_ends_turn():
    table = halleluja(
        THREE_HANDS,
        "A-rose", options=BOTH,
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    events = table.move(1, "draw")
    assert types(events) == ["cards.drawn"]
    assert drawn(events) == [(1, "annoyed", 2)]
    assert turn_of(events) == {"seat": 2, "number": 3}
    assert "pending_draw" not in table.seen(None)["turn"]


def test_annoyed_stacks_draws_what_there_is():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-rose", "F-apple"]], "A-rose", pile=[],
        options=STACKS,
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    assert table.seen(None)["turn"]["pending_draw"] == 2
    events = table.move(1, "draw")
    assert types(events) == ["pile.reshuffled", "cards.drawn"]
    assert drawn(events) == [(1, "annoyed", 1)]
    assert table.hand(1) == ["A-rose", "D-rose", "F-apple"]
    assert plays(table) == {"A-rose", "D-rose"}


@pytest.mark.parametrize("options", [STACKS, BOTH])
def test_a_pending_draw_without_any_card_has_lapsed_for_good(options):
    """The penalty took the last card, so the next seat's turn begins with nothing pending; a hand
    laid under the pile later does not bring it back."""
    table = halleluja(
        [["E-rose", "B-clover"], ["D-rose", "E-clover"], ["F-clover", "C-apple"]], "A-rose",
        pile=[], options=options,
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert drawn(events) == [(0, "forgotten-call", 1)]
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert "pending_draw" not in table.seen(None)["turn"]
    assert plays(table) == {"D-rose", "E-clover"}
    assert kinds(table) == {"play"}
    table.resign(2)
    assert table.seen(None)["table"]["draw_pile"] == 2
    assert "pending_draw" not in table.seen(None)["turn"]
    table.move(1, "play", card="E-clover", call="amen")
    assert table.seen(None)["turn"]["pending_draw"] == 2


@pytest.mark.parametrize("options", [STACKS, BOTH])
def test_a_pending_draw_lapses_when_an_exclamation_takes_the_last_card(options):
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "F-apple"], ["F-clover", "C-apple"]],
        "A-rose", pile=[], options=options,
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    assert table.seen(None)["turn"]["pending_draw"] == 2
    assert drawn(table.move(2, "exclaim", word="mau")) == [(2, "worldly-call", 1)]
    assert "pending_draw" not in table.seen(None)["turn"]
    table.resign(2)
    assert "pending_draw" not in table.seen(None)["turn"]
    assert kinds(table) == {"draw"}  # the seat's one draw, as nothing fits
    events = table.move(1, "draw")
    assert drawn(events) == [(1, "no-match", 1)]


def test_a_pending_draw_lapses_with_the_seat_that_resigns():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "F-apple"], ["F-rose", "C-apple"]],
        "A-rose", options=STACKS,
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    events = table.resign(1)
    assert turn_of(events) == {"seat": 2, "number": 3}
    assert "pending_draw" not in table.seen(None)["turn"]
    assert plays(table) == {"F-rose"}


def test_a_pending_draw_stays_when_another_seat_resigns():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "F-apple"], ["F-rose", "C-apple"]],
        "A-rose", options=STACKS,
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    assert turn_of(table.resign(2)) is None
    assert table.seen(None)["turn"]["pending_draw"] == 2


@pytest.mark.parametrize(
    ("count", "expected"), [(2, (1, 0)), (3, (1, 2)), (4, (1, 2))], ids=["2", "3", "4"]
)
def test_h_skips_the_next_seat(count, expected):
    hands = [["H-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"], ["F-clover"], ["F-apple"]]
    table = halleluja(hands[:count], "A-rose")
    events = table.move(0, "play", card="H-rose")
    skipped, mover = expected
    assert types(events) == ["card.played", "turn.skipped"]
    assert events[1].data == {"seat": skipped, "turn": {"seat": mover, "number": 2}}
    assert events[1].by["seat"] == 0
    assert (table.game.turn.seat, table.game.turn.number) == (mover, 2)


def test_h_skips_over_resigned_seats():
    table = halleluja(
        [["H-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"], ["F-clover"], ["F-apple"]],
        "A-rose",
    )
    table.resign(1)
    events = table.move(0, "play", card="H-rose")
    assert events[1].data == {"seat": 2, "turn": {"seat": 3, "number": 2}}


def test_h_at_four_seats_with_two_left_gives_the_same_seat_another_turn():
    table = halleluja(
        [["H-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"], ["F-clover"], ["F-apple"]],
        "A-rose",
    )
    table.resign(1)
    table.resign(2)
    events = table.move(0, "play", card="H-rose")
    assert events[1].data == {"seat": 3, "turn": {"seat": 0, "number": 2}}


# ---- drawing


def test_a_seat_with_a_playable_card_must_play():
    table = halleluja([["A-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple")
    assert kinds(table) == {"play"}
    table.illegal(0, "draw")
    table.illegal(0, "keep")


def test_a_drawn_card_that_does_not_fit_ends_the_turn_at_once():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=["F-rose", "F-apple"]
    )
    assert table.legal() == [{"type": "draw"}]
    events = table.move(0, "draw")
    assert types(events) == ["cards.drawn"]
    assert drawn(events) == [(0, "no-match", 1)]
    assert events[0].data["cards"] == ["F-rose"]
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert table.hand(0) == ["B-rose", "C-clover", "F-rose"]


def test_a_drawn_card_that_fits_may_be_played_or_kept():
    def after_draw(card="F-apple"):
        table = halleluja(
            [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=[card, "F-rose"]
        )
        due = table.game.due_at
        events = table.move(0, "draw")
        assert turn_of(events) is None
        assert (table.game.turn.seat, table.game.turn.number) == (0, 1)
        assert table.game.due_at == due
        assert table.seen(0)["you"]["drawn"] == card
        return table

    table = after_draw()
    assert table.legal() == [{"card": "F-apple", "type": "play"}, {"type": "keep"}]
    table.illegal(0, "draw")
    events = table.move(0, "keep")
    assert types(events) == ["card.kept"]
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert table.hand(0) == ["B-rose", "C-clover", "F-apple"]
    assert "drawn" not in table.seen(0)["you"]

    table = after_draw()
    events = table.move(0, "play", card="F-apple")
    assert types(events) == ["card.played"]
    assert turn_of(events) == {"seat": 1, "number": 2}

    table = after_draw("G-apple")
    assert len(table.legal()) == 6  # with each wish, without one, or kept
    table.move(0, "play", card="G-apple", wish="rose")
    assert table.seen(1)["table"]["symbol_in_force"] == "rose"


def test_only_the_drawn_card_may_be_played_then():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple",
        pile=["F-apple", "B-apple", "C-apple", "D-apple"],
    )  # fmt: skip
    table.move(0, "draw")
    table.move(0, "exclaim", word="mau")  # three more that would fit
    assert table.legal() == [{"card": "F-apple", "type": "play"}, {"type": "keep"}]
    table.illegal(0, "play", card="B-apple")
    assert table.seen(0)["you"]["drawn"] == "F-apple"


def test_a_draw_after_a_penalty_is_still_the_turns_own():
    """Drawing for a call is not the draw of the turn: nothing fits, the seat may draw."""
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple",
        pile=["F-clover", "B-clover", "C-rose", "F-rose"],
    )  # fmt: skip
    table.move(0, "exclaim", word="mau-mau")
    assert table.legal() == [{"type": "draw"}]
    assert drawn(table.move(0, "draw")) == [(0, "no-match", 1)]


def test_a_penalty_card_that_fits_must_be_played():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple",
        pile=["F-apple", "B-clover", "C-rose"],
    )  # fmt: skip
    assert kinds(table) == {"draw"}
    table.move(0, "exclaim", word="mau")
    assert plays(table) == {"F-apple"}
    table.illegal(0, "draw")


def test_keep_without_a_drawn_card_is_refused():
    table = halleluja([["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple")
    table.illegal(0, "keep")


def test_one_draw_a_turn():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=["F-apple", "F-rose"]
    )
    table.move(0, "draw")
    table.illegal(0, "draw")


# ---- too few cards


def test_a_draw_from_too_small_a_pile_takes_what_is_left_first():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "D-apple"]], "A-rose",
        pile=["F-apple"], under=("C-apple", "B-apple"),
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played", "pile.reshuffled", "cards.drawn"]
    pile = events[1].data["draw_pile"]
    assert pile[0] == "F-apple"
    assert sorted(pile[1:]) == ["A-rose", "B-apple", "C-apple"]
    assert events[1].data["count"] == 4
    assert events[2].data["cards"] == pile[:2]
    seen = table.seen(None)["table"]
    assert (seen["draw_pile"], seen["discard_pile"], seen["top"]) == (2, 1, "E-rose")


def test_a_pile_with_just_enough_is_not_reshuffled():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-clover", "D-apple"]], "A-rose",
        pile=["F-apple", "F-rose"], under=("C-apple", "B-apple"),
    )  # fmt: skip
    assert types(table.move(0, "play", card="E-rose")) == ["card.played", "cards.drawn"]
    assert table.seen(None)["table"]["draw_pile"] == 0


def test_if_even_the_discards_are_too_few_as_many_as_exist_are_drawn():
    table = halleluja(
        [["A-rose", "B-clover", "C-clover"], ["D-clover", "D-apple"]], "B-rose", pile=["F-apple"]
    )
    events = table.move(0, "play", card="A-rose", call="mau")
    assert types(events) == ["card.played", "pile.reshuffled", "cards.drawn"]
    assert drawn(events) == [(0, "worldly-call", 2)]
    assert events[2].data["cards"] == ["F-apple", "B-rose"]


def test_with_only_the_top_card_laid_the_pile_is_drawn_without_a_reshuffle():
    table = halleluja(
        [["A-rose", "B-clover", "C-clover"], ["D-clover", "D-apple"]], "B-rose", pile=["F-apple"]
    )
    events = table.move(1, "exclaim", word="mau")
    assert types(events) == ["word.exclaimed", "cards.drawn"]
    assert drawn(events) == [(1, "worldly-call", 1)]


def test_a_turn_that_can_neither_play_nor_draw_passes():
    table = halleluja([["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=[])
    assert table.legal() == [{"type": "draw"}]
    events = table.move(0, "draw")
    assert types(events) == ["turn.passed"]
    assert events[0].data == {"seat": 0, "turn": {"seat": 1, "number": 2}}


def test_with_no_card_to_draw_no_draw_is_recorded():
    table = halleluja([["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=[])
    events = table.move(1, "exclaim", word="mau")
    assert types(events) == ["word.exclaimed"]


# ---- calls


def one_card_left(call, pile=None):
    table = halleluja([["A-rose", "B-clover"], ["D-clover", "D-rose"]], "A-apple", pile=pile)
    named = {"call": call} if call else {}
    return table, table.move(0, "play", card="A-rose", **named)


def no_card_left(call, pile=None, **options):
    table = halleluja(
        [["A-rose"], ["D-clover", "D-rose"]], "A-apple", pile=pile, options=options
    )
    named = {"call": call} if call else {}
    return table, table.move(0, "play", card="A-rose", **named)


@pytest.mark.parametrize(
    ("call", "cost"),
    [
        ("amen", None),
        (None, ("forgotten-call", 1)),
        ("halleluja", ("forgotten-call", 1)),
        ("mau", ("worldly-call", 3)),
        ("mau-mau", ("worldly-call", 3)),
    ],
)
def test_amen_is_due_when_the_play_leaves_one_card(call, cost):
    table, events = one_card_left(call)
    assert events[0].data.get("call") == call
    assert drawn(events) == ([(0, *cost)] if cost else [])
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert "turn" in events[-1].data
    assert len(table.hand(0)) == 1 + (cost[1] if cost else 0)


@pytest.mark.parametrize(
    ("call", "cost"),
    [
        ("halleluja", None),
        (None, ("forgotten-call", 1)),
        ("amen", ("forgotten-call", 1)),
        ("mau", ("worldly-call", 3)),
        ("mau-mau", ("worldly-call", 3)),
    ],
)
def test_halleluja_is_due_when_the_play_leaves_none(call, cost):
    table, events = no_card_left(call)
    if cost is None:
        assert types(events) == ["card.played", "round.won", "game.won"]
        assert events[1].data == {
            "round": 1, "seat": 0, "scores": {"0": 1, "1": 0}, "reason": "emptied",
        }  # fmt: skip
        return
    # A last card without "Halleluja!" draws and has not won.
    assert types(events) == ["card.played", "cards.drawn"]
    assert drawn(events) == [(0, *cost)]
    assert len(table.hand(0)) == cost[1]
    assert turn_of(events) == {"seat": 1, "number": 2}


@pytest.mark.parametrize("call", [None, *WORDS])
def test_a_call_that_is_not_due(call):
    """A pious word has no effect, a worldly one costs three."""
    table = halleluja([["A-rose", "B-clover", "C-clover"], ["D-clover", "D-rose"]], "A-apple")
    named = {"call": call} if call else {}
    events = table.move(0, "play", card="A-rose", **named)
    assert events[0].data.get("call") == call
    worldly = call in ("mau", "mau-mau")
    assert drawn(events) == ([(0, "worldly-call", 3)] if worldly else [])


def test_a_forgotten_halleluja_always_finds_a_card():
    """With an empty pile the card under the last one is drawn: such a play never wins."""
    _table, events = no_card_left(None, pile=[])
    assert types(events) == ["card.played", "pile.reshuffled", "cards.drawn"]
    assert events[2].data["cards"] == ["A-apple"]


def test_a_missing_call_and_a_figure_both_cost():
    """Penalty first, then the figure's effect."""
    table = halleluja(
        [["E-rose", "B-clover"], ["D-clover", "D-rose"]], "A-rose",
        pile=["A-clover", "B-apple", "C-apple", "D-apple"],
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert types(events) == ["card.played", "cards.drawn", "cards.drawn"]
    assert drawn(events) == [(0, "forgotten-call", 1), (1, "annoyed", 2)]
    assert events[1].data["cards"] == ["A-clover"]
    assert events[2].data["cards"] == ["B-apple", "C-apple"]
    assert "turn" in events[2].data


def test_a_last_card_without_halleluja_still_has_its_effect():
    table = halleluja([["H-rose"], ["D-clover", "D-rose"], ["F-rose", "F-clover"]], "A-rose")
    events = table.move(0, "play", card="H-rose")
    assert types(events) == ["card.played", "cards.drawn", "turn.skipped"]
    assert events[2].data == {"seat": 1, "turn": {"seat": 2, "number": 2}}


@pytest.mark.parametrize("card", ["E-rose", "H-rose", "G-rose"])
@pytest.mark.parametrize("options", E_OPTIONS)
def test_the_effect_of_a_winning_card_is_not_applied(card, options):
    hands = [[card], ["D-clover", "D-rose"], ["F-rose", "F-clover"]]
    table = halleluja(hands, "A-rose", options=options)
    events = table.move(0, "play", card=card, call="halleluja")
    assert types(events) == ["card.played", "round.won", "game.won"]


def test_a_call_with_anything_but_a_play_is_refused():
    table = halleluja([["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple")
    assert table.refused(table.command(0, "draw", call="amen")).code in (
        "validation", "illegal-move",
    )  # fmt: skip


def test_calls_count_for_a_drawn_card_too():
    table = halleluja([["B-rose"], ["D-clover", "D-rose"]], "A-apple", pile=["F-apple", "F-rose"])
    table.move(0, "draw")
    events = table.move(0, "play", card="F-apple")
    assert drawn(events) == [(0, "forgotten-call", 1)]


# ---- exclamations


@pytest.mark.parametrize("word", ["mau", "mau-mau"])
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_any_active_seat_may_exclaim_a_worldly_word(word, seat):
    table = halleluja(
        [["A-rose", "B-clover"], ["D-clover", "D-rose"], ["F-rose", "F-clover"]], "A-apple"
    )
    turn, due = table.game.turn, table.game.due_at
    before = (turn.seat, turn.number, turn.at)
    events = table.move(seat, "exclaim", word=word)
    assert types(events) == ["word.exclaimed", "cards.drawn"]
    assert events[0].data == {"seat": seat, "word": word}
    assert drawn(events) == [(seat, "worldly-call", 3)]
    assert turn_of(events) is None
    assert all(event.by["seat"] == seat for event in events)
    after = table.game.turn
    assert (after.seat, after.number, after.at) == before
    assert table.game.due_at == due
    assert len(table.hand(seat)) == 5


@pytest.mark.parametrize("word", ["amen", "halleluja", "hallelujah", "Mau"])
def test_only_worldly_words_are_exclaimed(word):
    table = halleluja([["A-rose", "B-clover"], ["D-clover", "D-rose"]], "A-apple")
    refusal = table.refused(table.command(0, "exclaim", word=word))
    assert refusal.code in ("illegal-move", "validation")


def test_a_resigned_seat_does_not_exclaim():
    table = halleluja(
        [["A-rose", "B-clover"], ["D-clover", "D-rose"], ["F-rose", "F-clover"]], "A-apple"
    )
    table.resign(2)
    assert table.refused(table.command(2, "exclaim", word="mau")).code == "forbidden"


def test_the_abbot_hears_three_worldly_words_from_a_seat_in_a_round():
    table = halleluja(
        [["A-rose", "A-clover", "C-clover"], ["A-strawberry", "D-rose", "F-rose"]], "A-apple"
    )
    table.move(0, "exclaim", word="mau")
    table.move(0, "play", card="A-rose", call="mau-mau")
    table.move(1, "exclaim", word="mau")  # another seat's count is its own
    table.move(0, "exclaim", word="mau-mau")
    table.illegal(0, "exclaim", word="mau")
    table.move(1, "play", card="A-strawberry")
    table.illegal(0, "play", card="A-clover", call="mau")
    table.move(0, "play", card="A-clover")
    table.move(1, "exclaim", word="mau")
    table.move(1, "exclaim", word="mau")
    table.illegal(1, "exclaim", word="mau")


def test_a_fourth_worldly_word_is_refused_though_no_card_was_there_to_draw():
    table = halleluja([["A-rose", "B-clover"], ["D-clover", "D-rose"]], "A-apple", pile=[])
    for _ in range(3):
        assert types(table.move(1, "exclaim", word="mau")) == ["word.exclaimed"]
    table.illegal(1, "exclaim", word="mau")


def test_the_count_of_worldly_words_starts_anew_each_round():
    table = halleluja(
        [["A-rose"], ["D-clover", "D-rose"]], "A-apple", options={"rounds_to_win": 2}
    )
    for _ in range(3):
        table.move(1, "exclaim", word="mau")
    table.move(0, "play", card="A-rose", call="halleluja")
    assert types(table.move(1, "exclaim", word="mau")) == ["word.exclaimed", "cards.drawn"]


def test_the_limit_leaves_the_play_itself_legal():
    table = halleluja([["A-rose", "B-clover"], ["D-clover", "D-rose"]], "A-apple")
    for _ in range(3):
        table.move(0, "exclaim", word="mau")
    before = len(table.hand(0))
    table.illegal(0, "play", card="A-rose", call="mau")
    events = table.move(0, "play", card="A-rose", call="amen")
    assert types(events)[0] == "card.played"
    assert len(table.hand(0)) == before - 1


def test_an_exclamation_is_not_in_the_canonical_list():
    table = halleluja([["A-rose", "B-clover"], ["D-clover", "D-rose"]], "A-apple")
    assert all(move["type"] != "exclaim" for move in table.legal())
    assert table.legal(1) == []


# ---- the end of a round


def test_rounds_to_win():
    table = halleluja(
        [["A-rose"], ["D-clover", "D-rose"]], "A-apple", options={"rounds_to_win": 2},
        scores={0: 0, 1: 1}, round=2,
    )  # fmt: skip
    events = table.move(0, "play", card="A-rose", call="halleluja")
    assert types(events)[:3] == ["card.played", "round.won", "round.dealt"]
    assert events[1].data["scores"] == {"0": 1, "1": 1}
    assert events[2].data["scores"] == {"0": 1, "1": 1}
    assert events[2].data["round"] == 3
    assert events[2].at == events[0].at
    assert table.game.status == "active"


def test_winning_the_match():
    _table, events = no_card_left("halleluja")
    won = events[-1]
    assert won.type == "game.won"
    assert won.data["seat"] == 0
    assert won.data["reason"] == "rounds"
    assert won.data["scores"] == {"0": 1, "1": 0}
    assert bytes.fromhex(won.data["secret"])


def test_the_500th_turn_is_played_and_the_501st_would_end_the_round():
    """It goes to the active seat with strictly the fewest cards."""
    table = halleluja(
        [["A-rose", "B-clover", "C-clover"], ["D-clover"]], "A-apple", turn=499
    )
    events = table.move(0, "play", card="A-rose")
    assert turn_of(events) == {"seat": 1, "number": 500}
    table = halleluja(
        [["A-rose", "B-clover", "C-clover"], ["D-clover"]], "A-apple", turn=500
    )
    events = table.move(0, "play", card="A-rose")
    assert types(events) == ["card.played", "round.won", "game.won"]
    assert events[1].data["seat"] == 1
    assert events[1].data["reason"] == "limit"
    assert events[0].data == {"seat": 0, "card": "A-rose"}


def test_a_round_at_its_limit_is_void_with_a_tie():
    table = halleluja(
        [
            ["A-rose", "B-clover", "C-clover"],
            ["D-clover", "F-clover"],
            ["D-rose", "F-rose", "A-clover"],
        ],
        "A-apple", turn=500, dealer=2,
    )  # fmt: skip
    events = table.move(0, "play", card="A-rose")
    assert types(events) == ["card.played", "round.void", "round.dealt"]
    assert events[1].data == {"round": 1, "reason": "limit"}
    assert events[2].data["voids"] == 1
    assert events[2].data["scores"] == {"0": 0, "1": 0, "2": 0}
    assert (events[2].data["dealer"], events[2].data["first"]) == (0, 1)


def test_at_the_limit_the_penalty_and_the_effect_are_recorded_first():
    table = halleluja(
        [["E-rose", "B-clover"], ["D-clover", "F-clover"], ["D-rose", "F-rose"]], "A-rose",
        turn=500,
    )  # fmt: skip
    events = table.move(0, "play", card="E-rose")
    assert types(events)[:4] == ["card.played", "cards.drawn", "cards.drawn", "round.void"]
    assert drawn(events) == [(0, "forgotten-call", 1), (1, "annoyed", 2)]
    table = halleluja(
        [["H-rose", "B-clover", "B-rose"], ["D-clover", "F-clover"], ["D-rose"]], "A-rose",
        turn=500,
    )  # fmt: skip
    events = table.move(0, "play", card="H-rose")
    assert types(events)[:3] == ["card.played", "turn.skipped", "round.won"]
    assert events[1].data == {"seat": 1}
    assert events[2].data["seat"] == 2


@pytest.mark.parametrize("pile", [["F-rose"], []])
def test_the_limit_also_ends_a_round_on_a_draw_or_a_pass(pile):
    table = halleluja(
        [["B-rose", "C-clover", "D-strawberry"], ["D-clover"]], "A-apple", pile=pile, turn=500
    )
    events = table.move(0, "draw")
    assert types(events)[:2] == ["cards.drawn" if pile else "turn.passed", "round.won"]
    assert turn_of(events[:1]) is None


def test_winning_at_the_limit_is_winning():
    table = halleluja([["A-rose"], ["D-clover", "D-rose"]], "A-apple", turn=500)
    events = table.move(0, "play", card="A-rose", call="halleluja")
    assert events[1].data["reason"] == "emptied"


def test_at_the_limit_a_resigned_seats_hand_does_not_count():
    table = halleluja(
        [["A-rose", "B-clover", "C-clover"], ["D-clover"], ["D-rose", "F-rose", "A-clover"]],
        "A-apple", turn=500,
    )  # fmt: skip
    table.resign(1)
    events = table.move(0, "play", card="A-rose")
    assert only(events, "round.won").data["seat"] == 0


# ---- resigning


def test_a_resigned_hand_is_laid_under_the_draw_pile():
    table = halleluja(
        [["A-rose", "B-clover"], ["D-rose", "F-clover", "D-clover"], ["F-rose", "C-apple"]],
        "A-apple", pile=["H-rose", "H-apple"],
    )  # fmt: skip
    events = table.resign(1)
    assert types(events) == ["seat.resigned", "pile.reshuffled"]
    pile = events[1].data["draw_pile"]
    assert pile[:2] == ["H-rose", "H-apple"]
    assert sorted(pile[2:]) == ["D-clover", "D-rose", "F-clover"]
    assert events[1].data["count"] == 5
    assert turn_of(events) is None
    assert table.seen(None)["table"]["draw_pile"] == 5
    assert table.game.turn.seat == 0


def test_resigning_in_ones_own_turn_lets_the_next_seat_begin():
    table = halleluja(
        [["A-rose", "B-clover"], ["D-rose", "F-clover"], ["F-rose", "C-apple"]], "A-apple"
    )
    events = table.resign(0)
    assert types(events) == ["seat.resigned", "pile.reshuffled"]
    assert "turn" not in events[0].data
    assert events[1].data["turn"] == {"seat": 1, "number": 2}


def test_resigning_with_a_drawn_card_in_hand():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-rose", "F-clover"], ["F-rose", "C-apple"]], "A-apple",
        pile=["F-apple", "H-rose"],
    )  # fmt: skip
    table.move(0, "draw")
    events = table.resign(0)
    assert sorted(events[1].data["draw_pile"][1:]) == ["B-rose", "C-clover", "F-apple"]
    assert turn_of(events) == {"seat": 1, "number": 2}
    assert kinds(table) == {"draw"}


def test_the_hand_stays_when_the_game_ends_with_the_resignation():
    table = halleluja([["A-rose", "B-clover"], ["D-rose", "F-clover"]], "A-apple")
    events = table.resign(0)
    assert types(events) == ["seat.resigned", "game.won"]
    table = halleluja(
        [["A-rose", "B-clover"], ["D-rose", "F-clover"], ["F-rose", "C-apple"]], "A-apple",
        bots=(1, 2),
    )  # fmt: skip
    events = table.resign(0)
    assert types(events) == ["seat.resigned", "game.abandoned"]


def test_a_resignation_at_the_limit_ends_the_round():
    table = halleluja(
        [["A-rose", "B-clover"], ["D-rose", "F-clover"], ["F-rose"]], "A-apple", turn=500
    )
    events = table.resign(0)
    assert types(events) == ["seat.resigned", "pile.reshuffled", "round.won", "game.won"]
    assert events[2].data["seat"] == 2
    assert turn_of(events[:2]) is None


# ---- the canonical list


def test_the_canonical_list_in_full():
    table = halleluja([["G-rose", "A-rose", "G-apple", "C-clover"], ["D-rose"]], "B-rose")
    expected = [
        {"type": "play", "card": "A-rose"},
        {"type": "play", "card": "G-rose"},
        *({"type": "play", "card": "G-rose", "wish": symbol} for symbol in SYMBOLS),
    ]
    assert table.legal() == sorted(expected, key=jcs)
    assert table.legal()[1] == {"card": "G-rose", "type": "play", "wish": "apple"}
    assert table.legal()[-1] == {"card": "G-rose", "type": "play"}


def test_listed_moves_group_the_wishes_and_name_the_call_that_is_due():
    table = halleluja([["G-rose", "A-rose"], ["D-rose"]], "B-rose", turn=7, round=2)
    listed = listed_moves(table.game, 0)
    by_card = {entry["move"]["card"]: entry for entry in listed}
    assert set(by_card) == {"G-rose", "A-rose"}
    g = by_card["G-rose"]
    assert g["move"] == {"type": "play", "card": "G-rose", "round": 2, "turn": 7}
    assert sorted(g["wish_from"]) == list(SYMBOLS)
    assert g["call_due"] == "amen"
    assert "wish_from" not in by_card["A-rose"]
    rules = {rule.id for rule in RULESETS["halleluja"].rules}
    assert all(set(entry["rules"]) <= rules and entry["rules"] for entry in listed)
    table = halleluja([["A-rose"], ["D-rose"]], "B-rose")
    assert listed_moves(table.game, 0)[0]["call_due"] == "halleluja"
    table = halleluja([["A-rose", "B-clover", "C-clover"], ["D-rose"]], "B-rose")
    assert "call_due" not in listed_moves(table.game, 0)[0]


# ---- auto-pick


def test_every_auto_picked_play_makes_the_call_that_is_due():
    for hand, call in ((["A-rose"], "halleluja"), (["A-rose", "B-clover"], "amen")):
        table = halleluja([hand, ["D-rose", "D-clover"]], "A-apple")
        played = only(table.expire(), "card.played")
        assert played.data["call"] == call
        assert played.by == {"kind": "clock", "seat": 0}
    table = halleluja([["A-rose", "B-clover", "C-clover"], ["D-rose", "D-clover"]], "A-apple")
    assert "call" not in only(table.expire(), "card.played").data


def test_an_expired_pending_draw_is_drawn_and_the_turn_played_on():
    table = halleluja(
        [["E-rose", "B-clover", "C-clover"], ["D-apple", "F-apple"]], "A-rose", options=STACKS,
        pile=["A-clover", "A-strawberry", "C-rose", "C-apple"],
    )  # fmt: skip
    table.move(0, "play", card="E-rose")
    events = table.expire()
    assert types(events)[:2] == ["turn.expired", "cards.drawn"]
    assert drawn(events)[0] == (1, "annoyed", 2)
    assert drawn(events)[1] == (1, "no-match", 1)
    assert table.game.turn.number > 2


# ---- over whole games


@pytest.mark.parametrize("options", E_OPTIONS)
def test_without_stacking_nothing_is_ever_pending(options):
    seen = set()
    for seed in range(4):
        play = RandomGame("halleluja", 3, options, seed=seed, troubled=False)
        for _ in play.play():
            turn = play.table.seen(None).get("turn") or {}
            seen.add(turn.get("pending_draw"))
    assert (seen - {None} != set()) == options["annoyed_stacks"]


def test_a_spectator_sees_counts_only():
    table = halleluja([["A-rose", "B-clover"], ["D-clover", "D-rose"]], "A-apple")
    seen = table.seen(None)
    assert "you" not in seen
    assert {entry["seat"]: entry["hand_size"] for entry in seen["seats"]} == {0: 2, 1: 2}
    text = jcs(seen).decode()
    assert [card for card in naive.CARDS if card in text] == ["A-apple"]
