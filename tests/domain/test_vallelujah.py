"""Vallelujah: a test for each rule, ruling and option."""

import itertools

import pytest

from domain.game import listed_moves
from domain.registry import RULESETS

from . import naive
from .naive import jcs
from .positions import halleluja, only, started, turn_of, types, vallelujah

FILLER = ["forest-1", "forest-2", "forest-3"]  # units that beat nothing here


def units_of(table, kind):
    return {tuple(move["units"]) for move in table.legal() if move["type"] == kind}


# ---- setup


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
def test_setup(count):
    table = started("vallelujah", count)
    dealt = table.log[-1].data
    assert all(len(hand) == 9 for hand in dealt["hands"].values())
    assert len(dealt["undealt"]) == 54 - 9 * count
    assert "dealer" not in dealt
    assert "turned_up" not in dealt
    assert dealt["turn"] == {"seat": dealt["first"], "number": 1}
    assert list(dealt["hands"])
    assert set(dealt["hands"]) == {str(seat) for seat in range(count)}


def test_seats_and_units():
    ruleset = RULESETS["vallelujah"]
    assert ruleset.seats == (2, 6)
    assert len(ruleset.cards) == 54
    assert started("vallelujah").log[0].data["ruleset_version"] == "vallelujah/1"


def test_options_and_their_defaults():
    options = {option.name: option.default for option in RULESETS["vallelujah"].options}
    assert options == {
        "rounds_to_win": 3, "away_after": 2, "pause_seconds": 5, "lead_all": False,
    }  # fmt: skip


def test_units_out_of_play_stay_unseen():
    table = started("vallelujah", 3)
    hidden = set(table.log[-1].data["undealt"])
    for seat in (None, 0, 1, 2):
        text = jcs([table.seen(seat), table.redacted(seat)]).decode()
        assert not [unit for unit in hidden if f'"{unit}"' in text]


def test_each_later_round_is_led_by_the_seat_after_the_last_leader():
    """Not by the winner, nor by the seat after whoever played last."""
    table = vallelujah(
        [["gold-1", "gold-2"], ["azure-1", "azure-2"], ["crimson-1"]], to_move=2, first=0, round=1
    )
    dealt = only(table.move(2, "lead", units=["crimson-1"]), "round.dealt").data
    assert (dealt["first"], dealt["round"]) == (1, 2)
    assert dealt["turn"] == {"seat": 1, "number": 1}


def test_the_lead_passes_over_resigned_seats():
    table = vallelujah(
        [["gold-1", "gold-2"], ["azure-1", "azure-2"], ["crimson-1"]], to_move=2, first=0
    )
    table.resign(1)
    dealt = only(table.move(2, "lead", units=["crimson-1"]), "round.dealt").data
    assert dealt["first"] == 2
    assert dealt["active"] == [0, 2]
    assert set(dealt["hands"]) == {"0", "2"}
    assert len(dealt["undealt"]) == 36


def test_the_lead_moves_on_when_the_last_leader_has_resigned():
    table = vallelujah(
        {1: ["gold-1", "gold-2"], 3: ["azure-1", "azure-2"], 4: ["crimson-1"]}, to_move=4, first=3
    )
    table.resign(3)
    dealt = only(table.move(4, "lead", units=["crimson-1"]), "round.dealt").data
    assert dealt["first"] == 4


# ---- leading


def test_an_empty_arena_is_led_with_exactly_one_unit():
    table = vallelujah([["crimson-1", "crimson-2", "gold-2"], ["azure-9"]])
    assert units_of(table, "lead") == {("crimson-1",), ("crimson-2",), ("gold-2",)}
    assert {move["type"] for move in table.legal()} == {"lead"}
    table.illegal(0, "lead", units=["crimson-1", "crimson-2"])
    table.illegal(0, "take", take="azure-9")
    table.illegal(0, "beat", units=["crimson-1"])
    events = table.move(0, "lead", units=["crimson-2"])
    assert types(events) == ["battalion.led"]
    assert events[0].data == {
        "seat": 0, "units": ["crimson-2"], "strength": 2, "turn": {"seat": 1, "number": 2},
    }  # fmt: skip
    assert table.seen(None)["table"]["arena"] == {
        "units": ["crimson-2"], "strength": 2, "seat": 0,
    }  # fmt: skip


def test_one_unit_even_if_the_whole_army_is_a_legal_set():
    table = vallelujah([["crimson-1", "crimson-2"], ["azure-9", "azure-8"]])
    assert units_of(table, "lead") == {("crimson-1",), ("crimson-2",)}
    table.illegal(0, "lead", units=["crimson-1", "crimson-2"])


def test_lead_all():
    table = vallelujah(
        [["crimson-2", "crimson-1", "crimson-7"], ["azure-9", "azure-8"]],
        options={"lead_all": True, "rounds_to_win": 1},
    )  # fmt: skip
    assert units_of(table, "lead") == {
        ("crimson-1",), ("crimson-2",), ("crimson-7",), ("crimson-1", "crimson-2", "crimson-7"),
    }  # fmt: skip
    table.illegal(0, "lead", units=["crimson-1", "crimson-2"])
    events = table.move(0, "lead", units=["crimson-1", "crimson-2", "crimson-7"])
    assert types(events) == ["battalion.led", "round.won", "game.won"]
    assert events[0].data["strength"] == 721


def test_lead_all_needs_one_valid_battalion():
    table = vallelujah(
        [["crimson-2", "crimson-1", "gold-7"], ["azure-9"]], options={"lead_all": True}
    )
    assert len(table.legal()) == 3
    table.illegal(0, "lead", units=["crimson-1", "crimson-2", "gold-7"])
    alike = vallelujah(
        [["crimson-7", "slate-7", "gold-7"], ["azure-9"]], options={"lead_all": True}
    )
    assert ("crimson-7", "gold-7", "slate-7") in units_of(alike, "lead")


def test_lead_all_changes_nothing_for_a_beat():
    table = vallelujah(
        [["crimson-9", "crimson-8", "crimson-7"], ["azure-9"]], ["gold-1"],
        options={"lead_all": True},
    )  # fmt: skip
    assert max(len(units) for units in units_of(table, "beat")) == 2


def test_leading_the_last_unit_wins_the_round():
    table = vallelujah([["crimson-1"], ["azure-9", "azure-8"]])
    events = table.move(0, "lead", units=["crimson-1"])
    assert types(events) == ["battalion.led", "round.won", "round.dealt"]
    assert events[1].data == {
        "round": 1, "seat": 0, "scores": {"0": 1, "1": 0}, "reason": "emptied",
    }  # fmt: skip
    assert "turn" not in events[0].data


def test_a_unit_that_is_not_in_the_army_cannot_be_led():
    table = vallelujah([["crimson-1", "gold-4"], ["azure-9"]])
    table.illegal(0, "lead", units=["azure-9"])
    table.illegal(0, "lead", units=["coral-9"])


# ---- battalions and beats


def test_a_battalion_is_of_one_banner_or_of_one_power():
    table = vallelujah(
        [["crimson-9", "crimson-3", "gold-3", "gold-8", "slate-1"], ["azure-9"]], ["coral-2"]
    )
    two = {units for units in units_of(table, "beat") if len(units) == 2}
    assert two == {("crimson-3", "crimson-9"), ("crimson-3", "gold-3"), ("gold-3", "gold-8")}
    table.illegal(0, "beat", units=["crimson-9", "gold-8"])


def test_same_count_or_one_more():
    army = [f"crimson-{power}" for power in range(1, 10)]
    table = vallelujah([army, ["azure-1"]], ["gold-4", "gold-5"])
    assert {len(units) for units in units_of(table, "beat")} == {2, 3}
    table.illegal(0, "beat", units=["crimson-9"], take="gold-4")
    table.illegal(0, "beat", units=army[-4:], take="gold-4")


def test_strictly_higher():
    table = vallelujah(
        [["crimson-5", "crimson-6", "crimson-4", "azure-1"], FILLER], ["gold-5"]
    )
    singles = {units for units in units_of(table, "beat") if len(units) == 1}
    assert singles == {("crimson-6",)}
    table.illegal(0, "beat", units=["crimson-5"])
    table.illegal(0, "beat", units=["crimson-4"])


def test_strength_is_the_powers_high_to_low_as_one_number():
    """72 beats 71 though the sum of 71 and 54 would say otherwise; 90 would never come up."""
    table = vallelujah(
        [["crimson-7", "crimson-2", "azure-6", "azure-5", "coral-1"], FILLER[:1]],
        ["gold-1", "gold-7"],
    )
    two = {units for units in units_of(table, "beat") if len(units) == 2}
    assert two == {("crimson-2", "crimson-7")}
    events = table.move(0, "beat", units=["crimson-7", "crimson-2"], take="gold-7")
    assert events[0].data["strength"] == 72
    assert events[0].data["units"] == ["crimson-2", "crimson-7"]


def test_an_equal_strength_does_not_beat():
    table = vallelujah(
        [["crimson-7", "crimson-2", "azure-1"], FILLER[:1]], ["gold-2", "gold-7"]
    )
    assert {move["type"] for move in table.legal()} == {"take"}
    table.illegal(0, "beat", units=["crimson-2", "crimson-7"], take="gold-7")


def test_one_unit_more_is_always_higher():
    table = vallelujah([["crimson-1", "crimson-2", "azure-1"], FILLER[:1]], ["gold-9"])
    assert units_of(table, "beat") == {("crimson-1", "crimson-2"), ("azure-1", "crimson-1")}


def test_an_empty_army_of_choices_is_refused():
    table = vallelujah([["crimson-8", "azure-1"], FILLER], ["gold-5"])
    for units in ([], ["crimson-8", "crimson-8"]):
        refusal = table.refused(table.command(0, "beat", units=units))
        assert refusal.code in ("illegal-move", "validation")


def test_with_a_beat_in_hand_the_seat_must_beat():
    table = vallelujah([["crimson-8", "azure-1"], FILLER], ["gold-5"])
    assert {move["type"] for move in table.legal()} == {"beat"}
    refusal = table.illegal(0, "take", take="gold-5")
    assert refusal.rule == "vallelujah.must-beat"
    table.illegal(0, "lead", units=["azure-1"])
    table.illegal(0, "lead", units=["crimson-8"])


@pytest.mark.parametrize("kind", ["pass", "draw", "keep", "exclaim", "play"])
def test_any_pass_is_refused(kind):
    table = vallelujah([["crimson-8", "azure-1"], FILLER], ["gold-5"])
    refusal = table.refused(table.command(0, kind))
    assert refusal.code in ("illegal-move", "validation")


# ---- captures


def test_a_beat_captures_one_unit_of_the_movers_choice():
    table = vallelujah(
        [["crimson-8", "crimson-7", "azure-1"], FILLER], ["gold-5", "gold-4"], options={}
    )
    beats = [move for move in table.legal() if move["type"] == "beat"]
    assert [(move["units"], move["take"]) for move in beats] == [
        (["crimson-7", "crimson-8"], "gold-4"),
        (["crimson-7", "crimson-8"], "gold-5"),
    ]
    events = table.move(0, "beat", units=["crimson-8", "crimson-7"], take="gold-4")
    assert types(events) == ["battalion.beaten"]
    assert events[0].data == {
        "seat": 0, "units": ["crimson-7", "crimson-8"], "strength": 87, "captured": "gold-4",
        "discarded": ["gold-5"], "turn": {"seat": 1, "number": 3},
    }  # fmt: skip
    assert table.hand(0) == ["azure-1", "gold-4"]
    seen = table.seen(1)["table"]
    assert seen["discarded"] == ["gold-5"]
    assert seen["arena"] == {"units": ["crimson-7", "crimson-8"], "strength": 87, "seat": 0}


def test_a_choice_among_several_must_be_made_and_be_of_the_battalion():
    table = vallelujah([["crimson-8", "crimson-7", "azure-1"], FILLER], ["gold-5", "gold-4"])
    refusal = table.refused(table.command(0, "beat", units=["crimson-8", "crimson-7"]))
    assert refusal.code in ("illegal-move", "validation")
    table.illegal(0, "beat", units=["crimson-8", "crimson-7"], take="gold-9")
    table.illegal(0, "beat", units=["crimson-8", "crimson-7"], take="azure-1")


def test_a_defeated_single_needs_no_choice_but_may_be_named():
    def table():
        return vallelujah([["crimson-8", "azure-1"], FILLER], ["gold-5"])

    assert table().legal() == [{"type": "beat", "units": ["crimson-8"]}]
    silent = table().move(0, "beat", units=["crimson-8"])
    named = table().move(0, "beat", units=["crimson-8"], take="gold-5")
    assert silent == named
    assert silent[0].data["captured"] == "gold-5"
    assert silent[0].data["discarded"] == []
    table().illegal(0, "beat", units=["crimson-8"], take="gold-6")


def test_captures_are_public():
    table = vallelujah([["crimson-8", "azure-1"], FILLER], ["gold-5"])
    table.move(0, "beat", units=["crimson-8"])
    for seat in (None, 1):
        assert table.redacted(seat)[-1]["data"]["captured"] == "gold-5"


def test_a_captured_unit_can_be_played_again():
    table = vallelujah([["crimson-8", "gold-1", "azure-2"], ["coral-3", "forest-1"]], ["gold-5"])
    table.move(0, "beat", units=["crimson-8"])
    table.move(1, "take")
    table.move(0, "lead", units=["azure-2"])
    table.move(1, "beat", units=["coral-3"])
    assert units_of(table, "beat") == {("gold-5",), ("gold-1", "gold-5")}


def test_a_beat_with_the_last_units_wins_and_captures_nothing():
    table = vallelujah([["crimson-8", "crimson-7"], FILLER], ["gold-5", "gold-4"])
    assert table.legal() == [{"type": "beat", "units": ["crimson-7", "crimson-8"]}]
    table.illegal(0, "beat", units=["crimson-7", "crimson-8"], take="gold-5")
    events = table.move(0, "beat", units=["crimson-8", "crimson-7"])
    assert types(events) == ["battalion.beaten", "round.won", "round.dealt"]
    assert events[0].data == {
        "seat": 0, "units": ["crimson-7", "crimson-8"], "strength": 87,
        "discarded": ["gold-4", "gold-5"],
    }  # fmt: skip
    assert events[1].data["seat"] == 0


def test_a_single_beat_with_the_last_unit_wins():
    table = vallelujah([["crimson-8"], FILLER], ["gold-5"])
    table.illegal(0, "beat", units=["crimson-8"], take="gold-5")
    events = table.move(0, "beat", units=["crimson-8"])
    assert "captured" not in events[0].data
    assert events[0].data["discarded"] == ["gold-5"]
    assert events[1].type == "round.won"


# ---- taking


def test_without_a_beat_one_unit_is_taken_and_the_arena_clears():
    table = vallelujah([["crimson-4", "azure-1"], FILLER, ["slate-9"]], ["gold-8", "gold-4"])
    assert table.legal() == [{"take": "gold-4", "type": "take"}, {"take": "gold-8", "type": "take"}]
    table.illegal(0, "beat", units=["crimson-4"], take="gold-4")
    table.illegal(0, "lead", units=["crimson-4"])
    table.illegal(0, "take", take="slate-9")
    events = table.move(0, "take", take="gold-8")
    assert types(events) == ["arena.taken"]
    assert events[0].data == {
        "seat": 0, "captured": "gold-8", "discarded": ["gold-4"],
        "turn": {"seat": 1, "number": 3},
    }  # fmt: skip
    assert table.hand(0) == ["azure-1", "crimson-4", "gold-8"]
    assert {move["type"] for move in table.legal()} == {"lead"}
    seen = table.seen(None)["table"]
    assert not seen.get("arena")
    assert seen["discarded"] == ["gold-4"]


def test_a_take_of_a_single_may_leave_the_unit_out():
    table = vallelujah([["crimson-4", "azure-1"], FILLER], ["gold-9"])
    silent = table.copy().move(0, "take")
    named = table.copy().move(0, "take", take="gold-9")
    assert silent == named
    assert silent[0].data["captured"] == "gold-9"
    assert silent[0].data["discarded"] == []


def test_a_take_of_several_must_name_one():
    table = vallelujah([["crimson-4", "azure-1"], FILLER], ["gold-8", "gold-4"])
    refusal = table.refused(table.command(0, "take"))
    assert refusal.code in ("illegal-move", "validation")


def test_the_rule_texts_examples():
    """Ava leads gold 4, Ben beats it with azure 7 and captures it, Cora with forest 8 and 2."""
    table = vallelujah(
        [["gold-4", "slate-1"], ["azure-7", "slate-2"], ["forest-8", "forest-2", "slate-3"]]
    )
    table.move(0, "lead", units=["gold-4"])
    assert table.move(1, "beat", units=["azure-7"])[0].data["captured"] == "gold-4"
    beaten = table.move(2, "beat", units=["forest-8", "forest-2"])[0].data
    assert beaten["strength"] == 82
    assert beaten["captured"] == "azure-7"
    # Ava leads a crimson 9, Ben cannot go and takes it; with two players Ava leads again.
    table = vallelujah([["crimson-9", "slate-1"], ["azure-7", "slate-2"]])
    table.move(0, "lead", units=["crimson-9"])
    events = table.move(1, "take")
    assert events[0].data["captured"] == "crimson-9"
    assert turn_of(events) == {"seat": 0, "number": 3}


# ---- repetition


def cycle(table):
    """Six turns that lead back to where they began: two sevens against an 8 and a 7."""
    yield table.move(0, "lead", units=["slate-7"])
    yield table.move(1, "beat", units=["crimson-8"])
    yield table.move(0, "take")
    yield table.move(1, "lead", units=["slate-7"])
    yield table.move(0, "beat", units=["crimson-8"])
    yield table.move(1, "take")


def test_the_third_time_a_position_begins_a_turn_the_round_is_void():
    table = vallelujah([["slate-7", "coral-7"], ["crimson-8", "gold-7"]])
    events = [events for _ in range(2) for events in cycle(table)]
    assert all(types(step) and "round.void" not in types(step) for step in events[:-1])
    assert types(events[-1]) == ["arena.taken", "round.void", "round.dealt"]
    assert "turn" not in events[-1][0].data  # the 13th turn never began
    assert events[-2][0].data["turn"] == {"seat": 1, "number": 12}
    assert events[-1][1].data == {"round": 1, "reason": "repetition"}
    dealt = events[-1][2].data
    assert dealt["voids"] == 1
    assert dealt["scores"] == {"0": 0, "1": 0}
    assert (dealt["round"], dealt["first"]) == (2, 1)


def test_a_position_counts_by_every_units_place():
    """Equal powers in the same hands are no repetition if two sevens have changed about."""
    table = vallelujah([["slate-7", "coral-7"], ["crimson-8", "gold-7"]])
    for leads in (("slate-7", "gold-7"), ("gold-7", "slate-7")):
        for seat, unit in enumerate(leads):
            table.move(seat, "lead", units=[unit])
            table.move(1 - seat, "beat", units=["crimson-8"])
            events = table.move(seat, "take")
    assert types(events) == ["arena.taken"]
    assert turn_of(events) == {"seat": 0, "number": 13}
    assert table.hand(0) == ["coral-7", "slate-7"]


def test_repetition_comes_before_the_limit():
    table = vallelujah([["slate-7", "coral-7"], ["crimson-8", "gold-7"]], turn=289)
    events = [events for _ in range(2) for events in cycle(table)]
    assert table.game.round == 2
    assert only(events[-1], "round.void").data["reason"] == "repetition"


def test_a_resignation_makes_a_new_position():
    """Each active seat's hand is part of the position, so the count starts over."""
    table = vallelujah([["slate-7", "coral-7"], ["crimson-8", "gold-7"], ["azure-1", "azure-2"]])
    table.resign(2)
    both = [types(events) for _ in range(2) for events in cycle(table)]
    # Three times the same cards in these two hands, but once there was a third army.
    assert both[-1] == ["arena.taken"]
    # The position after the first lead was already one of two armies: here it comes thrice.
    assert types(next(cycle(table))) == ["battalion.led", "round.void", "round.dealt"]


# ---- the limit


def test_the_300th_turn_is_played_and_the_301st_would_end_the_round():
    table = vallelujah([["crimson-1", "crimson-2", "gold-3"], ["azure-9"]], turn=299)
    assert turn_of(table.move(0, "lead", units=["gold-3"])) == {"seat": 1, "number": 300}
    events = table.move(1, "beat", units=["azure-9"])
    assert only(events, "round.won").data["reason"] == "emptied"
    table = vallelujah([["crimson-1", "crimson-2", "gold-3"], ["azure-9"]], turn=300)
    events = table.move(0, "lead", units=["gold-3"])
    assert types(events) == ["battalion.led", "round.won", "round.dealt"]
    assert events[1].data == {
        "round": 1, "seat": 1, "scores": {"0": 0, "1": 1}, "reason": "limit",
    }  # fmt: skip


def test_a_round_at_its_limit_is_void_with_a_tie():
    table = vallelujah([["crimson-1", "crimson-2"], ["azure-9"]], turn=300, round=4)
    events = table.move(0, "lead", units=["crimson-2"])
    assert types(events) == ["battalion.led", "round.void", "round.dealt"]
    assert events[1].data == {"round": 4, "reason": "limit"}
    assert events[2].data["voids"] == 1


# ---- resigning


def test_a_resigned_army_stays_out_of_play():
    table = vallelujah([["crimson-1", "crimson-2"], ["azure-8", "azure-9"], ["gold-1", "gold-2"]])
    events = table.resign(1)
    assert types(events) == ["seat.resigned"]
    assert events[0].data == {"seat": 1}
    text = jcs([table.seen(0), table.seen(2), table.seen(None), table.redacted(0)]).decode()
    assert "azure-8" not in text
    assert turn_of(table.move(0, "lead", units=["crimson-1"])) == {"seat": 2, "number": 2}


def test_a_resigned_seats_battalion_stays_in_the_arena():
    table = vallelujah(
        [["crimson-1", "azure-6"], ["azure-8", "azure-9"], ["gold-1", "gold-2"]], ["coral-5"]
    )
    events = table.resign(2)  # seat 2 led the coral-5
    assert types(events) == ["seat.resigned"]
    arena = table.seen(None)["table"]["arena"]
    assert (arena["units"], arena["strength"], arena["seat"]) == (["coral-5"], 5, 2)
    assert table.legal() == [{"type": "beat", "units": ["azure-6"]}]
    table.move(0, "beat", units=["azure-6"])
    assert "coral-5" in table.hand(0)


def test_resigning_in_ones_own_turn_lets_the_next_seat_face_the_arena():
    table = vallelujah(
        [["crimson-1", "azure-6"], ["azure-8", "azure-9"], ["gold-1", "gold-2"]], ["coral-5"]
    )
    # What was listed for the one seat is not what the next one can do.
    assert units_of(table, "beat") == {("azure-6",)}
    events = table.resign(0)
    assert types(events) == ["seat.resigned"]
    assert events[0].data == {"seat": 0, "turn": {"seat": 1, "number": 3}}
    assert units_of(table, "beat") == {("azure-8",), ("azure-9",), ("azure-8", "azure-9")}


def test_the_resigned_are_dealt_no_more():
    table = vallelujah([["crimson-1"], ["azure-8", "azure-9"], ["gold-1", "gold-2"]])
    table.resign(2)
    dealt = only(table.move(0, "lead", units=["crimson-1"]), "round.dealt").data
    assert dealt["active"] == [0, 1]
    assert set(dealt["hands"]) == {"0", "1"}
    assert len(dealt["undealt"]) == 36
    assert set(dealt["scores"]) == set(dealt["expired"]) == {"0", "1", "2"}


# ---- the canonical list


def test_the_canonical_list_in_full():
    table = vallelujah(
        [["gold-9", "gold-8", "azure-9", "coral-1"], FILLER[:1]], ["slate-5", "slate-2"]
    )
    battalions = (["azure-9", "gold-9"], ["gold-8", "gold-9"])
    expected = [
        {"type": "beat", "units": units, "take": unit}
        for units, unit in itertools.product(battalions, ("slate-2", "slate-5"))
    ]
    assert table.legal() == sorted(expected, key=jcs)
    assert table.legal()[0] == {"take": "slate-2", "type": "beat", "units": ["azure-9", "gold-9"]}


def test_a_winning_beat_in_the_list_names_no_take():
    table = vallelujah([["gold-9", "gold-8", "gold-7"], FILLER], ["slate-5", "slate-2"])
    assert {"type": "beat", "units": ["gold-7", "gold-8", "gold-9"]} in table.legal()
    assert len(table.legal()) == 3 * 2 + 1
    assert table.legal()[-1] == {"type": "beat", "units": ["gold-7", "gold-8", "gold-9"]}


def test_units_may_be_named_in_any_order():
    table = vallelujah([["gold-9", "gold-8", "coral-1"], FILLER[:1]], ["slate-5", "slate-2"])
    there = table.copy().move(0, "beat", units=["gold-9", "gold-8"], take="slate-2")
    back = table.copy().move(0, "beat", units=["gold-8", "gold-9"], take="slate-2")
    assert there == back


def test_listed_moves_say_where_a_unit_is_to_be_chosen():
    table = vallelujah([["gold-9", "gold-8", "gold-7"], FILLER], ["slate-5", "slate-2"], turn=5)
    listed = listed_moves(table.game, 0)
    assert len(listed) == 4
    for entry in listed:
        winning = len(entry["move"]["units"]) == 3
        assert ("take_from" in entry) != winning
        assert sorted(entry.get("take_from", ["slate-2", "slate-5"])) == ["slate-2", "slate-5"]
        assert "take" not in entry["move"]
        assert (entry["move"]["round"], entry["move"]["turn"]) == (1, 5)
    rules = {rule.id for rule in RULESETS["vallelujah"].rules}
    assert all(entry["rules"] and set(entry["rules"]) <= rules for entry in listed)


# ---- both games' rules as they are served


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_rules_have_ids_wordings_and_sources(ruleset):
    rules = RULESETS[ruleset].rules
    assert len({rule.id for rule in rules}) == len(rules) > 15
    assert {rule.source for rule in rules} <= {"rulebook", "interpretation", "ruling"}
    other = "vallelujah" if ruleset == "halleluja" else "halleluja"
    for rule in rules:
        assert rule.wording.strip() == rule.wording != ""
        assert rule.id.split(".")[0] in (ruleset, "table")
        assert other not in rule.id
    sources = {rule.id: rule.source for rule in rules}
    if ruleset == "halleluja":
        assert sources["halleluja.match"] == "rulebook"
    else:
        assert sources["vallelujah.must-beat"] == "rulebook"


def test_the_builders_use_every_card_once():
    for table, whole in (
        (halleluja([["A-rose"], ["B-rose"]], "C-rose"), naive.CARDS),
        (vallelujah([["gold-1"], ["gold-2"]]), naive.UNITS),
    ):
        dealt = table.log[-1].data
        cards = [card for hand in dealt["hands"].values() for card in hand] + dealt["undealt"]
        cards += [dealt["turned_up"]] if "turned_up" in dealt else []
        assert sorted(cards) == sorted(whole)
