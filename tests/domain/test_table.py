"""The table around both games: lobby, turns, timer, away, resigning, rounds and the match."""

import itertools

import pytest

from domain.commands import (
    BotMove,
    ChangeSeat,
    ChangeTable,
    CloseTable,
    ComeBack,
    CreateGame,
    ExpireTurn,
    LeaveSeat,
    MakeMove,
    RemoveSeat,
    Resign,
    SeatBot,
    StartGame,
    TakeSeat,
)
from domain.game import legal_moves, overdue
from domain.times import from_micros, to_micros

from . import naive
from .games import RandomGame
from .positions import (
    DEFAULTS,
    GAME_ID,
    PLAYERS,
    SECRET,
    Table,
    halleluja,
    lobby,
    only,
    started,
    turn_of,
    types,
    vallelujah,
)

BOTH = pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
SEED = "00ff" * 16


def by(seat):
    return {"kind": "player", "seat": seat, "player_id": PLAYERS[seat]}


def later(time, seconds):
    return from_micros(to_micros(time) + round(seconds * 1_000_000))


def three(**more):
    """Three seats in a Vallelujah round where anything can be led."""
    hands = [["crimson-1", "crimson-2"], ["azure-1", "azure-2"], ["gold-1", "gold-2"]]
    return vallelujah(hands, **more)


# ---- opening a table


@BOTH
def test_a_new_table(ruleset):
    table = Table()
    events = table.do(CreateGame(PLAYERS[0], ruleset), after=0)
    assert types(events) == ["game.created", "seat.taken"]
    assert events[0].data == {
        "ruleset": ruleset, "ruleset_version": f"{ruleset}/1", "options": DEFAULTS[ruleset],
        "turn_seconds": 60, "max_seats": 4 if ruleset == "halleluja" else 6,
        "visibility": "public", "commitment": naive.commitment(SECRET, GAME_ID),
    }  # fmt: skip
    assert events[0].by == {"kind": "player", "player_id": PLAYERS[0]}
    assert events[1].data == {"seat": 0, "player_id": PLAYERS[0]}
    assert events[1].by == by(0)
    assert [event.version for event in events] == [1, 2]
    game = table.game
    assert (game.status, game.host, game.turn, game.due_at) == ("lobby", 0, None, None)
    assert game.seat_of(PLAYERS[0]) == 0
    assert game.seat_of(PLAYERS[1]) is None


def test_options_given_are_in_force_beside_the_defaults():
    table = lobby("halleluja", 1, options={"mitre_wild": True, "rounds_to_win": 9})
    options = table.log[0].data["options"]
    assert options == {**DEFAULTS["halleluja"], "mitre_wild": True, "rounds_to_win": 9}
    assert lobby("halleluja", 1, turn_seconds=3, visibility="private").log[0].data[
        "visibility"
    ] == "private"


@pytest.mark.parametrize(
    "options",
    [
        {"rounds_to_win": 0}, {"rounds_to_win": 10}, {"away_after": 0}, {"away_after": 101},
        {"pause_seconds": -1}, {"pause_seconds": 61}, {"mitre_wild": 1}, {"rounds_to_win": True},
        {"lead_all": True}, {"no_such_option": 1}, {"annoyed_stacks": "yes"},
    ],
    ids=str,
)  # fmt: skip
def test_options_out_of_range_or_unknown_are_refused_by_name(options):
    refusal = Table().refused(CreateGame(PLAYERS[0], "halleluja", options))
    assert refusal.code == "validation"
    assert refusal.errors
    assert next(iter(options)) in refusal.errors[0]["field"]
    table = lobby()
    assert table.refused(ChangeTable(PLAYERS[0], options=options)).code == "validation"


@pytest.mark.parametrize(
    "settings",
    [
        {"turn_seconds": 2}, {"turn_seconds": 14 * 86_400 + 1}, {"max_seats": 1},
        {"max_seats": 5}, {"ruleset": "canasta"}, {"visibility": "secret"},
    ],
    ids=str,
)  # fmt: skip
def test_settings_out_of_range_are_refused(settings):
    command = CreateGame(PLAYERS[0], **{"ruleset": "halleluja", **settings})
    assert Table().refused(command).code == "validation"


@pytest.mark.parametrize("seconds", [3, 60, 14 * 86_400])
def test_turns_last_from_three_seconds_to_two_weeks(seconds):
    assert lobby(turn_seconds=seconds).game.turn_seconds == seconds


# ---- taking and leaving seats


def test_a_newcomer_takes_the_lowest_free_seat():
    table = lobby("vallelujah", 4)
    assert sorted(table.game.seats) == [0, 1, 2, 3]
    table.do(LeaveSeat(PLAYERS[1]))
    table.do(LeaveSeat(PLAYERS[2]))
    assert sorted(table.game.seats) == [0, 3]  # never renumbered
    assert table.do(TakeSeat(PLAYERS[5]))[0].data == {"seat": 1, "player_id": PLAYERS[5]}
    assert table.do(SeatBot(PLAYERS[0], "greedy"))[0].data == {"seat": 2, "bot": "greedy"}
    assert table.do(TakeSeat(PLAYERS[6]))[0].data["seat"] == 4


def test_a_game_may_start_with_gaps():
    table = lobby("vallelujah", 4)
    table.do(LeaveSeat(PLAYERS[1]))
    events = table.do(StartGame(PLAYERS[0]))
    assert events[0].data == {"seats": [0, 2, 3]}
    assert events[1].data["active"] == [0, 2, 3]
    order = [table.game.turn.seat]
    for _ in range(3):
        table.expire()
        order.append(table.game.turn.seat)
    start = (0, 2, 3).index(order[0])
    assert order == [(0, 2, 3)[(start + n) % 3] for n in range(4)]


def test_taking_a_seat_with_a_seed():
    events = lobby().do(TakeSeat(PLAYERS[2], SEED))
    assert events[0].data == {"seat": 2, "player_id": PLAYERS[2], "client_seed": SEED}
    assert events[0].by == by(2)


def test_taking_a_second_seat_is_refused():
    assert lobby().refused(TakeSeat(PLAYERS[1])).code == "already-seated"
    assert lobby().refused(TakeSeat(PLAYERS[0])).code == "already-seated"


@pytest.mark.parametrize(("most", "settings"), [(4, {}), (3, {"max_seats": 3})])
def test_a_full_table(most, settings):
    table = lobby("halleluja", most, **settings)
    assert table.refused(TakeSeat(PLAYERS[9])).code == "table-full"
    assert table.refused(SeatBot(PLAYERS[0], "random")).code == "table-full"
    table.do(LeaveSeat(PLAYERS[2]))
    assert table.do(TakeSeat(PLAYERS[9]))[0].data["seat"] == 2


def test_seats_kept_for_a_rematch():
    """Seat numbers are kept for the same players; a newcomer takes the lowest that nobody has."""
    table = lobby("halleluja", 1)
    kept = {PLAYERS[1]: 1, PLAYERS[2]: 2}
    assert table.do(TakeSeat(PLAYERS[9], kept=kept))[0].data["seat"] == 3
    assert table.refused(TakeSeat(PLAYERS[8], kept=kept)).code == "table-full"
    assert table.do(TakeSeat(PLAYERS[2], kept=kept))[0].data["seat"] == 2
    assert table.do(TakeSeat(PLAYERS[1], kept=kept))[0].data["seat"] == 1
    assert Table().do(CreateGame(PLAYERS[0], "halleluja", seat=3))[1].data["seat"] == 3


def test_the_host_seats_computer_players():
    table = lobby()
    events = table.do(SeatBot(PLAYERS[0], "random"))
    assert types(events) == ["seat.taken"]
    assert events[0].data == {"seat": 2, "bot": "random"}
    assert events[0].by == by(0)
    assert table.refused(SeatBot(PLAYERS[1], "random")).code == "forbidden"
    assert table.refused(SeatBot(PLAYERS[9], "random")).code == "forbidden"
    assert table.refused(SeatBot(PLAYERS[0], "clairvoyant")).code == "validation"


def test_leaving_before_the_start():
    table = lobby(players=3)
    events = table.do(LeaveSeat(PLAYERS[1]))
    assert types(events) == ["seat.left"]
    assert events[0].data["seat"] == 1
    assert events[0].data.get("host", 0) == 0
    assert events[0].by == by(1)
    assert table.game.host == 0
    table.do(TakeSeat(PLAYERS[1]))  # who left may come back


def test_a_leaving_host_hands_the_table_to_the_next_human_seat_clockwise():
    table = lobby("vallelujah", 1)
    table.do(SeatBot(PLAYERS[0], "random"))
    for player in (2, 3):
        table.do(TakeSeat(PLAYERS[player]))
    events = table.do(LeaveSeat(PLAYERS[0]))
    assert events[0].data == {"seat": 0, "host": 2}
    assert table.game.host == 2
    # Round again: seat 3 joins at 0, then host 3's next human is seat 0.
    table.do(LeaveSeat(PLAYERS[2]))
    assert table.game.host == 3
    table.do(TakeSeat(PLAYERS[5]))
    assert table.do(LeaveSeat(PLAYERS[3]))[0].data == {"seat": 3, "host": 0}


@pytest.mark.parametrize("bots", [0, 2])
def test_the_last_human_to_leave_cancels_the_game(bots):
    table = lobby(players=1, bots=bots)
    events = table.do(LeaveSeat(PLAYERS[0]))
    assert types(events) == ["seat.left", "game.cancelled"]
    assert events[0].data == {"seat": 0}
    assert events[1].data == {"reason": "empty"}
    assert events[1].by == by(0)
    assert table.game.status == "cancelled"
    assert table.game.over
    for command in (TakeSeat(PLAYERS[1]), StartGame(PLAYERS[0])):
        table.refused(command)


def test_the_clock_closes_a_table_that_nobody_starts():
    table = lobby(players=3, bots=1)
    table.do(LeaveSeat(PLAYERS[0]))
    version = table.game.version
    assert table.game.host == 1
    assert table.do(CloseTable(version - 1)) == []
    events = table.do(CloseTable(version))
    assert types(events) == ["seat.left", "seat.left", "game.cancelled"]
    assert [event.data for event in events] == [{"seat": 2}, {"seat": 1}, {"reason": "empty"}]
    assert [event.by for event in events] == [{"kind": "clock", "seat": s} for s in (2, 1, 1)]
    assert table.game.status == "cancelled"
    assert table.do(CloseTable(table.game.version)) == []


def test_the_host_removes_someone_who_cannot_come_back():
    table = lobby(players=3)
    events = table.do(RemoveSeat(PLAYERS[0], 1))
    assert types(events) == ["seat.left"]
    assert events[0].data["seat"] == 1
    assert events[0].by == by(0)
    assert table.game.seat_of(PLAYERS[1]) is None
    assert table.refused(TakeSeat(PLAYERS[1])).code == "forbidden"
    table.do(TakeSeat(PLAYERS[5]))
    assert table.game.seat_of(PLAYERS[5]) == 1
    assert table.refused(RemoveSeat(PLAYERS[2], 1)).code == "forbidden"


def test_the_host_removes_a_computer_player():
    table = lobby(players=2, bots=1)
    table.do(RemoveSeat(PLAYERS[0], 2))
    assert sorted(table.game.seats) == [0, 1]
    assert table.do(SeatBot(PLAYERS[0], "random"))[0].data["seat"] == 2


def test_only_a_seated_player_changes_a_seat():
    for command in (ChangeSeat(PLAYERS[9], SEED), ChangeSeat(PLAYERS[9], ready=True)):
        assert lobby().refused(command).code in ("forbidden", "not-found")
    # Nobody is there to leave: what is asked for is so already.
    assert lobby().do(LeaveSeat(PLAYERS[9])) == []


# ---- seeds and being ready


def test_a_seed_is_recorded_once():
    table = lobby()
    events = table.do(ChangeSeat(PLAYERS[1], SEED))
    assert types(events) == ["seat.seeded"]
    assert events[0].data == {"seat": 1, "client_seed": SEED}
    assert events[0].by == by(1)
    assert table.do(ChangeSeat(PLAYERS[1], SEED)) == []


@pytest.mark.parametrize("seed", ["", "zz", "abc", "AB", "00" * 33, "0x11"])
def test_a_seed_is_lower_case_hex_of_1_to_32_bytes(seed):
    assert lobby().refused(ChangeSeat(PLAYERS[1], seed)).code == "validation"
    assert lobby().refused(TakeSeat(PLAYERS[2], seed)).code == "validation"


def test_joining_is_being_ready():
    table = lobby(players=2, bots=1)
    assert all(seat.ready for seat in table.game.seats.values())
    assert table.do(ChangeSeat(PLAYERS[1], ready=True)) == []
    statuses = {entry["seat"]: entry["status"] for entry in table.seen(0)["seats"]}
    assert statuses == {0: "ready", 1: "ready", 2: "ready"}


def test_a_change_of_the_table_unreadies_the_other_humans():
    table = lobby(players=3, bots=1)
    events = table.do(ChangeTable(PLAYERS[0], turn_seconds=30))
    assert types(events) == ["table.changed"]
    assert events[0].data == {"turn_seconds": 30}
    assert events[0].by == by(0)
    assert {number: seat.ready for number, seat in table.game.seats.items()} == {
        0: True, 1: False, 2: False, 3: True,
    }  # fmt: skip
    statuses = {entry["seat"]: entry["status"] for entry in table.seen(0)["seats"]}
    assert statuses == {0: "ready", 1: "seated", 2: "seated", 3: "ready"}
    assert table.refused(StartGame(PLAYERS[0])).code == "not-ready"
    assert types(table.do(ChangeSeat(PLAYERS[1], ready=True))) == ["seat.ready"]
    assert table.refused(StartGame(PLAYERS[0])).code == "not-ready"
    ready = table.do(ChangeSeat(PLAYERS[2], ready=True))
    assert ready[0].data == {"seat": 2}
    assert ready[0].by == by(2)
    assert types(table.do(StartGame(PLAYERS[0])))[0] == "game.started"


def test_only_what_changed_is_recorded_options_whole():
    table = lobby()
    events = table.do(
        ChangeTable(PLAYERS[0], options={"mitre_wild": True}, turn_seconds=60, max_seats=3)
    )
    assert events[0].data == {
        "options": {**DEFAULTS["halleluja"], "mitre_wild": True}, "max_seats": 3,
    }  # fmt: skip
    assert table.game.options["mitre_wild"] is True
    assert table.do(ChangeTable(PLAYERS[0], options={"mitre_wild": True}, max_seats=3)) == []
    assert table.game.seats[1].ready is False


def test_a_change_that_changes_nothing_unreadies_nobody():
    table = lobby()
    assert table.do(ChangeTable(PLAYERS[0], turn_seconds=60)) == []
    assert table.game.seats[1].ready


def test_only_the_host_changes_the_table_and_only_in_the_lobby():
    assert lobby().refused(ChangeTable(PLAYERS[1], turn_seconds=30)).code == "forbidden"
    assert started().refused(ChangeTable(PLAYERS[0], turn_seconds=30)).code == "not-in-lobby"


def test_the_table_cannot_shrink_below_who_sits_there():
    table = lobby(players=3)
    refusal = table.refused(ChangeTable(PLAYERS[0], max_seats=2))
    assert refusal.code == "validation"
    assert "max_seats" in refusal.errors[0]["field"]


# ---- starting


@BOTH
def test_start(ruleset):
    table = lobby(ruleset, 2)
    events = table.do(StartGame(PLAYERS[0]))
    assert types(events) == ["game.started", "round.dealt"]
    assert events[0].data == {"seats": [0, 1]}
    assert all(event.by == by(0) for event in events)
    dealt = events[1].data
    assert dealt["scores"] == {"0": 0, "1": 0}
    assert dealt["expired"] == {"0": 0, "1": 0}
    assert dealt["active"] == [0, 1]
    assert dealt["away"] == []
    assert dealt["voids"] == 0
    game = table.game
    assert (game.status, game.round, game.turn.number) == ("active", 1, 1)
    assert tuple(game.started) == tuple(game.active) == (0, 1)


def test_start_refusals():
    table = lobby(players=1)
    assert table.refused(StartGame(PLAYERS[0])).code == "not-enough-seats"
    table = lobby()
    assert table.refused(StartGame(PLAYERS[1])).code == "forbidden"
    assert table.refused(StartGame(PLAYERS[9])).code == "forbidden"


def test_a_human_and_a_computer_are_enough():
    assert types(lobby(players=1, bots=1).do(StartGame(PLAYERS[0])))[0] == "game.started"


def test_what_the_lobby_allows_ends_with_the_start():
    table = started(players=3)
    for command in (
        TakeSeat(PLAYERS[5]), SeatBot(PLAYERS[0], "random"), LeaveSeat(PLAYERS[1]),
        RemoveSeat(PLAYERS[0], 1), ChangeSeat(PLAYERS[1], SEED),
    ):  # fmt: skip
        assert table.refused(command).code == "not-in-lobby", command


def test_what_belongs_to_play_is_refused_in_the_lobby():
    table = lobby()
    for command in (
        MakeMove(PLAYERS[0], {"type": "draw"}), Resign(PLAYERS[0]), ComeBack(PLAYERS[0]),
    ):  # fmt: skip
        assert table.refused(command).code == "game-not-active", command


# ---- turns


def test_turns_go_clockwise_and_are_numbered_from_1_in_each_round():
    table = three(options={"rounds_to_win": 2})
    assert turn_of(table.move(0, "lead", units=["crimson-2"])) == {"seat": 1, "number": 2}
    assert turn_of(table.move(1, "beat", units=["azure-1", "azure-2"])) == {"seat": 1, "number": 1}
    assert table.game.round == 2


def test_not_your_turn():
    table = three()
    refusal = table.refused(table.command(1, "lead", units=["azure-1"]))
    assert refusal.code == "not-your-turn"
    assert refusal.rule
    assert legal_moves(table.game, 1) == []
    assert table.seen(1)["you"].get("legal_moves", []) == []


def test_who_is_not_seated_does_not_move():
    table = three()
    move = {"type": "lead", "units": ["azure-1"]}
    assert table.refused(MakeMove(PLAYERS[9], move)).code == "forbidden"
    assert table.refused(Resign(PLAYERS[9])).code == "forbidden"
    assert table.refused(ComeBack(PLAYERS[9])).code == "forbidden"


def test_a_move_may_name_its_round_and_turn():
    table = three(turn=5, round=2)
    for wrong in ({"round": 1}, {"turn": 4}, {"round": 2, "turn": 6}, {"round": 3, "turn": 5}):
        refusal = table.refused(table.command(0, "lead", units=["crimson-1"], **wrong))
        assert refusal.code == "stale-turn"
        assert refusal.rule
    assert table.copy().move(0, "lead", units=["crimson-1"], round=2)
    assert table.copy().move(0, "lead", units=["crimson-1"], turn=5)
    assert table.move(0, "lead", units=["crimson-1"], round=2, turn=5)


def test_a_doubled_move_cannot_land_on_a_later_turn_of_the_same_seat():
    table = halleluja([["H-rose", "H-clover", "A-clover"], ["D-rose", "D-clover"]], "A-rose")
    double = table.command(0, "play", card="H-rose", round=1, turn=1)
    table.do(double)
    assert table.game.turn.seat == 0
    assert table.refused(double).code == "stale-turn"
    other = table.command(0, "play", card="H-clover", round=1, turn=1)
    assert table.refused(other).code == "stale-turn"


def test_a_move_for_ones_own_turn_that_ran_out():
    table = vallelujah([["crimson-1", "crimson-2", "crimson-3"], ["azure-8", "azure-9", "gold-1"]])
    late = table.command(0, "lead", units=["crimson-1"], round=1, turn=1)
    table.expire()
    refusal = table.refused(late)
    assert refusal.code == "turn-expired"
    assert refusal.rule


def test_each_of_ones_own_turns_that_ran_out_is_remembered():
    table = vallelujah(
        [["crimson-1", "crimson-2", "crimson-3"], ["azure-8", "azure-9", "gold-1"]],
        options={"away_after": 9},
    )
    late = table.command(0, "lead", units=["crimson-1"], round=1, turn=1)
    for _ in range(4):
        table.expire()
    assert table.refused(late).code == "turn-expired"
    strangers = table.command(1, "lead", units=["azure-8"], round=1, turn=1)
    assert table.refused(strangers).code == "stale-turn"


def test_a_late_move_that_names_no_turn_is_late_whoever_was_first():
    table = vallelujah([["crimson-1", "crimson-2", "crimson-3"], ["azure-8", "azure-9", "gold-1"]])
    late = table.command(0, "lead", units=["crimson-1"])
    table.expire()
    refusal = table.refused(late)
    assert (refusal.code, refusal.rule) == ("turn-expired", "table.turn-timer")
    table.move(1, **next(iter_moves(table)))
    assert table.game.turn.seat == 0
    table.move(0, **next(iter_moves(table)))
    assert table.refused(table.command(0, "lead", units=["crimson-1"])).code == "not-your-turn"


def iter_moves(table):
    return iter(legal_moves(table.game, table.game.turn.seat))


def test_an_exclamation_for_another_turn_is_refused():
    table = halleluja([["A-rose", "H-clover"], ["D-rose", "D-clover"]], "A-clover", turn=3)
    refusal = table.refused(table.command(1, "exclaim", word="mau", turn=2))
    assert refusal.code == "stale-turn"
    assert table.move(1, "exclaim", word="mau", turn=3)


def test_a_second_try_of_a_move_is_refused_where_the_turn_was_touched():
    """A seat's own draw touches its turn, another's exclamation does not."""
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=["F-apple", "F-rose"]
    )
    seen = table.game.touched
    table.move(1, "exclaim", word="mau")
    move = {"type": "draw"}
    assert table.copy().do(MakeMove(PLAYERS[0], move, 1, 1, touched=seen))
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=["F-apple", "F-rose"]
    )
    seen = table.game.touched
    table.move(0, "draw")
    again = MakeMove(PLAYERS[0], {"type": "keep"}, 1, 1, touched=seen)
    assert table.refused(again).code == "stale-turn"


def test_a_computers_move():
    table = vallelujah([["crimson-1", "crimson-2"], ["azure-1", "azure-2"]], bots=(0,))
    move = {"type": "lead", "units": ["crimson-1"]}
    events = table.do(BotMove(0, move, 1, 1))
    assert events[0].by == {"kind": "bot", "seat": 0}
    assert turn_of(events) == {"seat": 1, "number": 2}


# ---- the timer


@pytest.mark.parametrize(("pause", "seconds"), [(0, 3), (5, 60), (60, 1_209_600)])
def test_due_times(pause, seconds):
    """A round's first turn gets the pause on top, no other turn does."""
    table = started(
        "vallelujah", 2, options={"pause_seconds": pause}, turn_seconds=seconds
    )
    dealt = table.log[-1]
    assert table.game.due_seconds == seconds + pause
    assert table.game.due_at == later(dealt.at, seconds + pause)
    assert table.seen(None)["turn"]["due_at"] == table.game.due_at
    seat = table.game.turn.seat
    table.do(MakeMove(PLAYERS[seat], table.legal()[0]), after=0.5)
    assert table.log[-1].at == later(dealt.at, 0.5)
    assert table.game.due_seconds == seconds
    assert table.game.due_at == later(dealt.at, 0.5 + seconds)


def test_each_rounds_first_turn_gets_the_pause():
    table = vallelujah([["crimson-1"], ["azure-8", "azure-9"]], options={"pause_seconds": 7})
    table.move(0, "lead", units=["crimson-1"])
    assert table.game.round == 2
    assert table.game.due_at == later(table.log[-1].at, 67)


def test_the_pause_goes_with_the_first_turn_not_with_the_seat():
    table = three(options={"pause_seconds": 30})
    table.resign(0)
    assert table.game.due_at == later(table.log[-1].at, 60)


def test_what_does_not_begin_a_turn_does_not_move_the_due_time():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"], ["H-rose", "H-clover"]], "A-apple",
        pile=["F-apple", "F-rose", "F-clover", "A-rose", "A-clover"],
    )  # fmt: skip
    due = table.game.due_at
    for events in (
        table.move(0, "draw"),
        table.move(1, "exclaim", word="mau"),
        table.move(0, "exclaim", word="mau"),
        table.resign(2),
    ):
        assert turn_of(events) is None
        assert table.game.due_at == due


def test_overdue():
    """At the due time a move still counts; an expiry is later than it."""
    table = three()
    due = table.game.due_at
    assert not overdue(table.game, later(due, -1))
    assert not overdue(table.game, due)
    assert overdue(table.game, later(due, 0.000001))
    assert not overdue(lobby().game, later(due, 10**6))


def test_time_given_back_after_an_outage():
    table = three()
    due = table.game.due_at
    clock = {"kind": "clock", "seat": 0}
    table.happened("turn.extended", clock, seat=0, seconds=90, reason="outage")
    assert table.game.due_at == later(due, 90)
    table.happened("turn.extended", clock, seat=0, seconds=10, reason="outage")
    assert table.game.due_at == later(due, 100)
    assert table.game.due_seconds == 165
    expired = table.expire()[0]
    assert expired.data["due_at"] == later(due, 100)
    assert table.game.due_at == later(table.log[-1].at, 60)


# ---- expiry


def test_an_expired_turn_is_played_for_its_seat():
    table = vallelujah([["crimson-1", "crimson-2", "gold-9"], ["azure-8", "azure-9", "gold-1"]])
    due = table.game.due_at
    events = table.expire()
    assert types(events) == ["turn.expired", "battalion.led"]
    assert events[0].data == {"seat": 0, "due_at": due}
    assert all((event.by["kind"], event.by["seat"]) == ("clock", 0) for event in events)
    assert events[0].at == events[1].at
    assert turn_of(events) == {"seat": 1, "number": 2}


def test_what_follows_from_a_move_made_for_a_seat_is_by_the_clock_too():
    table = halleluja([["A-rose"], ["D-rose", "D-clover"]], "A-apple", options={"rounds_to_win": 2})
    events = table.expire()
    assert types(events) == ["turn.expired", "card.played", "round.won", "round.dealt"]
    assert all((event.by["kind"], event.by["seat"]) == ("clock", 0) for event in events)


def test_an_expiry_of_a_turn_that_no_longer_runs_does_nothing():
    table = three(turn=3, round=2)
    for round_, turn in ((1, 3), (2, 2), (2, 4), (3, 3)):
        assert table.do(ExpireTurn(round_, turn)) == []
    assert lobby().do(ExpireTurn(1, 1)) == []
    over = three()
    over.resign(0)
    over.resign(1)
    assert over.game.over
    assert over.do(ExpireTurn(1, 1)) == []


def test_an_expiry_in_the_middle_of_a_turn_plays_the_rest_of_it():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=["F-apple", "F-rose"]
    )
    table.move(0, "draw")
    events = table.expire()
    assert types(events)[0] == "turn.expired"
    assert types(events)[1] in ("card.kept", "card.played")
    assert turn_of(events)["seat"] == 1


def test_a_bots_turn_expires_like_any_other():
    table = vallelujah(
        [["crimson-1", "crimson-2"], ["azure-1", "azure-2"]], bots=(0,), options={"away_after": 1}
    )
    events = table.expire()
    assert types(events)[:2] == ["turn.expired", "seat.away"]
    assert events[2].type == "battalion.led"
    assert table.game.status == "active"


# ---- away


def long_round(**more):
    """Three seats with many units, so that nobody wins soon."""
    suits = ("crimson", "azure", "gold")
    return vallelujah([[f"{suit}-{n}" for n in range(1, 9)] for suit in suits], **more)


def play_on(table, seat=None):
    """The seat to move plays as few units as it can, in time."""
    seat = table.game.turn.seat if seat is None else seat
    move = min(table.legal(seat), key=lambda move: len(move.get("units", [])))
    return table.do(MakeMove(PLAYERS[seat], move))


@pytest.mark.parametrize("away_after", [1, 2, 3])
def test_away_after_so_many_expired_turns_in_a_row(away_after):
    table = long_round(options={"away_after": away_after})
    for n in range(1, away_after + 1):
        events = table.expire()
        if n < away_after:
            assert "seat.away" not in types(events)
            play_on(table, 1)
            play_on(table, 2)
    assert types(events)[:2] == ["turn.expired", "seat.away"]
    assert types(events)[2].startswith(("battalion.", "arena."))
    assert events[1].data == {"seat": 0}
    assert (events[1].by["kind"], events[1].by["seat"]) == ("clock", 0)
    assert table.game.away == {0}
    assert table.game.turn.seat == 1
    statuses = {entry["seat"]: entry["status"] for entry in table.seen(1)["seats"]}
    assert statuses == {0: "away", 1: "active", 2: "active"}


def test_an_away_seats_turn_is_played_in_the_append_that_began_it():
    table = long_round(away=(1,), expired={1: 2})
    events = play_on(table, 0)
    assert events[0].by == by(0)
    assert events[0].data["turn"] == {"seat": 1, "number": 2}
    picked = events[1]
    assert (picked.by["kind"], picked.by["seat"]) == ("clock", 1)
    assert picked.data["turn"] == {"seat": 2, "number": 3}
    assert "turn.expired" not in types(events)
    assert picked.at == events[0].at
    assert picked.type == "battalion.beaten"  # one unit more always beats


def test_an_away_seats_turn_can_be_the_first_of_a_round():
    table = vallelujah(
        [["crimson-1"], ["azure-8", "azure-9"], ["gold-1", "gold-2"]], away=(1,), expired={1: 2}
    )
    events = table.move(0, "lead", units=["crimson-1"])
    assert types(events) == ["battalion.led", "round.won", "round.dealt", "battalion.led"]
    assert events[2].data["away"] == [1]
    assert events[2].data["first"] == 1
    assert events[2].by == by(0)
    assert events[3].by["kind"] == "clock"
    assert table.game.turn.seat == 2
    # The pause belongs to the round's first turn alone.
    assert table.game.due_at == later(events[0].at, 60)


def test_the_count_goes_on_across_rounds():
    table = vallelujah(
        [["crimson-1"], ["azure-8", "azure-9"]], to_move=0, first=1, options={"away_after": 3},
    )  # fmt: skip
    events = table.expire()
    dealt = only(events, "round.dealt").data
    assert dealt["expired"] == {"0": 1, "1": 0}
    assert dealt["first"] == 0
    events = table.expire()
    assert "seat.away" not in types(events)
    play_on(table, 1)
    assert types(table.expire())[:2] == ["turn.expired", "seat.away"]


def test_a_turn_that_ends_in_time_sets_the_count_to_0():
    table = long_round()
    table.expire()
    play_on(table, 1)
    play_on(table, 2)
    play_on(table, 0)
    play_on(table, 1)
    play_on(table, 2)
    assert "seat.away" not in types(table.expire())
    play_on(table, 1)
    play_on(table, 2)
    assert "seat.away" in types(table.expire())


def test_an_exclamation_alone_does_not_set_the_count_to_0():
    hands = [["A-rose", "B-rose", "C-rose", "D-rose"], ["A-clover", "B-clover", "C-clover"]]
    table = halleluja(hands, "F-rose", expired={0: 1}, pile=["H-apple", "F-apple"])
    table.move(0, "exclaim", word="mau")
    assert types(table.expire())[:2] == ["turn.expired", "seat.away"]


def test_the_count_is_in_the_next_deal():
    table = vallelujah(
        [["crimson-1", "gold-1"], ["azure-9"]], to_move=0, options={"away_after": 5},
        expired={0: 3, 1: 2},
    )  # fmt: skip
    table.expire()
    dealt = only(table.move(1, "beat", units=["azure-9"]), "round.dealt").data
    assert dealt["expired"] == {"0": 4, "1": 0}


def test_coming_back_by_saying_so():
    table = long_round(away=(1,), expired={1: 2})
    events = table.back(1)
    assert types(events) == ["seat.back"]
    assert events[0].data == {"seat": 1}
    assert events[0].by == by(1)
    assert table.game.away == set()
    assert table.back(1) == []
    events = play_on(table, 0)
    assert types(events) == ["battalion.led"]
    assert table.game.turn.seat == 1
    assert "seat.away" not in types(table.expire())  # the count began at 0 again
    assert table.back(0) == []


def test_coming_back_by_an_exclamation():
    table = halleluja(
        [["A-rose", "B-clover"], ["D-clover", "D-rose"], ["F-rose", "F-clover"]], "A-apple",
        away=(1,), expired={1: 2},
    )  # fmt: skip
    events = table.move(1, "exclaim", word="mau")
    assert types(events) == ["seat.back", "word.exclaimed", "cards.drawn"]
    assert all(event.by == by(1) for event in events)
    assert table.game.away == set()


def test_a_refused_exclamation_does_not_bring_a_seat_back():
    table = halleluja(
        [["A-rose", "B-clover"], ["D-clover", "D-rose"], ["F-rose", "F-clover"]], "A-apple",
    )
    for _ in range(3):
        table.move(1, "exclaim", word="mau")
    table.happened("seat.away", seat=1)
    table.illegal(1, "exclaim", word="mau")
    assert table.game.away == {1}


def test_two_seats_away_in_a_row_are_both_played():
    table = long_round(away=(1, 2), expired={1: 2, 2: 2})
    events = play_on(table, 0)
    assert [(event.by["kind"], event.by["seat"]) for event in events] == [
        ("player", 0), ("clock", 1), ("clock", 2),
    ]  # fmt: skip
    assert table.game.turn.seat == 0


def test_an_away_seat_that_sits_plays_again_in_the_same_append():
    """H with two seats gives the same seat the next turn, which is played for it as well."""
    for n in range(20):
        table = halleluja(
            [["A-rose", "A-clover"], ["H-rose", "H-clover", "H-apple", "H-strawberry", "B-apple"]],
            "B-rose", away=(1,), expired={1: 2}, secret=bytes([n]) * 32,
        )  # fmt: skip
        events = table.move(0, "play", card="A-rose", call="amen")
        plays = [event for event in events if event.type == "card.played" and event.data["seat"]]
        assert plays[0].data["card"] == "H-rose"
        assert len(plays) > 1
        assert table.game.over or table.game.turn.seat == 0


def test_away_in_every_view_and_deal_until_back():
    table = long_round(away=(1,), expired={1: 2})
    play_on(table, 0)
    assert table.game.away == {1}
    assert {entry["seat"]: entry["status"] for entry in table.seen(None)["seats"]}[1] == "away"


# ---- abandoned


def test_when_nobody_is_left_the_game_is_abandoned_and_nothing_more_is_played():
    table = long_round(options={"away_after": 1}, away=(1, 2), expired={1: 1, 2: 1})
    events = table.expire()
    assert types(events) == ["turn.expired", "seat.away", "game.abandoned"]
    assert events[2].data == {"reason": "no-players", "secret": SECRET.hex()}
    assert (events[2].by["kind"], events[2].by["seat"]) == ("clock", 0)
    assert table.game.status == "abandoned"
    assert table.game.over
    assert table.game.due_at is None
    assert table.seen(None)["result"]["outcome"] == "abandoned"
    assert "winner" not in table.seen(None)["result"]


def test_bots_do_not_keep_a_game_alive():
    table = long_round(options={"away_after": 1}, bots=(1, 2))
    assert types(table.expire()) == ["turn.expired", "seat.away", "game.abandoned"]


def test_a_game_of_present_humans_goes_on_though_bots_are_away():
    table = long_round(bots=(1, 2), away=(1, 2), expired={1: 2, 2: 2})
    play_on(table, 0)
    assert table.game.status == "active"
    assert table.game.turn.seat == 0


def test_abandoned_by_the_resignation_of_the_last_one_present():
    table = long_round(away=(1, 2), expired={1: 2, 2: 2})
    events = table.resign(0)
    assert types(events) == ["seat.resigned", "game.abandoned"]
    assert all(event.by == by(0) for event in events)
    assert "turn" not in events[0].data


def test_an_away_seat_that_resigns_abandons_nothing():
    table = long_round(away=(1,), expired={1: 2})
    assert types(table.resign(1)) == ["seat.resigned"]
    assert table.game.status == "active"
    assert 1 not in table.game.away


# ---- resigning


@BOTH
@pytest.mark.parametrize("seat", [0, 1, 2])
def test_resigning_at_any_time_by_any_seat(ruleset, seat):
    table = started(ruleset, 3)
    mover = table.game.turn.seat
    events = table.resign(seat)
    assert events[0].type == "seat.resigned"
    assert events[0].data["seat"] == seat
    assert all(event.by == by(seat) for event in events)
    assert len(events) == (2 if ruleset == "halleluja" else 1)
    after = next(s for s in ((seat + 1) % 3, (seat + 2) % 3))
    if seat == mover:
        assert turn_of(events) == {"seat": after, "number": 2}
        assert "turn" in events[-1].data
        assert table.game.due_at == later(events[0].at, 60)
    else:
        assert turn_of(events) is None
        assert table.game.turn.seat == mover
    assert seat not in table.game.active
    assert set(table.game.resigned) == {seat}
    statuses = {entry["seat"]: entry["status"] for entry in table.seen(None)["seats"]}
    assert statuses[seat] == "resigned"


def test_a_resigned_seat_moves_no_more_and_resigns_but_once():
    table = started("vallelujah", 3)
    seat = table.game.turn.seat
    table.resign(seat)
    assert table.resign(seat) == []
    refusal = table.refused(table.command(seat, "lead", units=["gold-1"]))
    assert refusal.code == "forbidden"
    assert legal_moves(table.game, seat) == []


@BOTH
@pytest.mark.parametrize("seat", [0, 1])
def test_when_one_seat_is_left_it_wins_the_match(ruleset, seat):
    table = started(ruleset, 2)
    events = table.resign(seat)
    assert types(events) == ["seat.resigned", "game.won"]
    assert events[1].data == {
        "seat": 1 - seat, "scores": {"0": 0, "1": 0}, "reason": "resignations",
        "secret": SECRET.hex(),
    }  # fmt: skip
    assert "turn" not in events[0].data
    assert table.game.status == "finished"
    assert table.seen(None)["result"] == {
        "outcome": "won", "winner": 1 - seat, "scores": {"0": 0, "1": 0},
        "reason": "resignations",
    }  # fmt: skip


def test_the_last_seat_wins_though_it_is_a_bot_or_away():
    """This comes before abandoning."""
    hands = [["crimson-1", "crimson-2"], ["azure-1", "azure-2"]]
    for table in (vallelujah(hands, bots=(1,)), vallelujah(hands, away=(1,), expired={1: 2})):
        events = table.resign(0)
        assert types(events) == ["seat.resigned", "game.won"]
        assert events[1].data["seat"] == 1


def test_the_score_does_not_matter_for_the_last_seat():
    table = three(scores={0: 2, 1: 0, 2: 1})
    table.resign(0)
    events = table.resign(2)
    assert events[1].data["seat"] == 1
    assert events[1].data["scores"] == {"0": 2, "1": 0, "2": 1}


def test_resigning_into_the_turn_of_an_away_seat():
    table = long_round(away=(1,), expired={1: 2})
    events = table.resign(0)
    assert events[0].data["turn"] == {"seat": 1, "number": 2}
    assert events[1].type == "battalion.led"
    assert (events[1].by["kind"], events[1].by["seat"]) == ("clock", 1)
    assert table.game.turn.seat == 2


def test_a_host_who_resigns_changes_nothing_else():
    table = three()
    table.resign(0)
    assert table.game.status == "active"
    assert table.game.turn.seat == 1


# ---- rounds and the match


def test_scores_and_the_next_deal():
    table = three(scores={1: 1}, round=2)
    table.move(0, "lead", units=["crimson-1"])
    events = table.move(1, "beat", units=["azure-1", "azure-2"])
    assert types(events) == ["battalion.beaten", "round.won", "round.dealt"]
    assert events[1].data == {
        "round": 2, "seat": 1, "scores": {"0": 0, "1": 2, "2": 0}, "reason": "emptied",
    }  # fmt: skip
    assert events[2].data["scores"] == {"0": 0, "1": 2, "2": 0}
    assert events[2].data["round"] == 3
    assert {event.at for event in events} == {events[0].at}
    assert all(event.by == by(1) for event in events)
    assert table.game.scores == {0: 0, 1: 2, 2: 0}


@pytest.mark.parametrize("rounds", [1, 2, 9])
def test_the_match_is_first_to_rounds_to_win(rounds):
    hands = [["crimson-1"], ["azure-1", "azure-2"]]
    table = vallelujah(hands, options={"rounds_to_win": rounds}, scores={0: rounds - 1})
    events = table.move(0, "lead", units=["crimson-1"])
    assert types(events) == ["battalion.led", "round.won", "game.won"]
    assert events[2].data == {
        "seat": 0, "scores": {"0": rounds, "1": 0}, "reason": "rounds", "secret": SECRET.hex(),
    }  # fmt: skip
    table = vallelujah(hands, options={"rounds_to_win": rounds + 1}, scores={0: rounds - 1}) if (
        rounds < 9
    ) else vallelujah(hands, options={"rounds_to_win": 9}, scores={0: 7})
    assert table.move(0, "lead", units=["crimson-1"])[-1].type == "round.dealt"


def test_a_won_match_is_over():
    table = vallelujah(
        [["crimson-1"], ["azure-1", "azure-2"], ["gold-1", "gold-2"]], scores={0: 2}
    )
    table.move(0, "lead", units=["crimson-1"])
    game = table.game
    assert (game.status, game.over, game.due_at) == ("finished", True, None)
    assert table.seen(None)["result"] == {
        "outcome": "won", "winner": 0, "scores": {"0": 3, "1": 0, "2": 0}, "reason": "rounds",
    }  # fmt: skip
    assert table.seen(None)["shuffle"]["secret"] == SECRET.hex()
    for command in (
        table.command(1, "lead", units=["azure-1"]), Resign(PLAYERS[1]), ComeBack(PLAYERS[1]),
    ):  # fmt: skip
        assert table.refused(command).code == "game-not-active", command
    for seat in (0, 1, 2):
        assert legal_moves(game, seat) == []


def test_every_hand_is_open_once_the_game_is_over():
    table = vallelujah([["crimson-1"], ["azure-1", "azure-2"]], scores={0: 2})
    assert all("hand" not in entry for entry in table.seen(0)["seats"])
    table.move(0, "lead", units=["crimson-1"])
    hands = {entry["seat"]: sorted(entry["hand"]) for entry in table.seen(None)["seats"]}
    assert hands == {0: [], 1: ["azure-1", "azure-2"]}


@BOTH
@pytest.mark.parametrize("voids", [0, 1])
def test_a_void_round_scores_nobody_and_moves_on(ruleset, voids):
    table, end = at_the_limit(ruleset, voids=voids, scores={0: 0, 1: 0})
    events = end()
    assert types(events)[-2:] == ["round.void", "round.dealt"]
    assert events[-1].data["voids"] == voids + 1
    assert events[-1].data["scores"] == {"0": 0, "1": 0}
    assert events[-1].data["first"] == 1
    assert table.game.turn.seat == 1


def at_the_limit(ruleset, **more):
    """A position whose next move ends the round by its limit, with a tie."""
    options = {"rounds_to_win": 3}
    if ruleset == "halleluja":
        table = halleluja(
            [["A-rose", "B-clover", "C-clover"], ["D-rose", "D-clover"]], "A-apple",
            turn=500, options=options, **more,
        )  # fmt: skip
        return table, lambda: table.move(0, "play", card="A-rose")
    table = vallelujah(
        [["crimson-1", "crimson-2"], ["azure-9"]], turn=300, options=options, **more
    )
    return table, lambda: table.move(0, "lead", units=["crimson-1"])


@BOTH
@pytest.mark.parametrize(
    ("scores", "winner"), [((0, 0), None), ((2, 2), None), ((1, 0), 0), ((1, 2), 1)]
)
def test_three_void_rounds_in_a_row_end_the_match(ruleset, scores, winner):
    table, end = at_the_limit(ruleset, voids=2, scores=dict(enumerate(scores)), round=7)
    events = end()
    tally = {"0": scores[0], "1": scores[1]}
    if winner is None:
        assert types(events)[-2:] == ["round.void", "game.drawn"]
        assert events[-1].data == {"reason": "void-rounds", "secret": SECRET.hex()}
        assert table.seen(None)["result"]["outcome"] == "drawn"
        assert "winner" not in table.seen(None)["result"]
    else:
        assert types(events)[-2:] == ["round.void", "game.won"]
        assert events[-1].data == {
            "seat": winner, "scores": tally, "reason": "void-rounds", "secret": SECRET.hex(),
        }  # fmt: skip
    assert table.game.status == "finished"
    assert all(event.by == by(0) for event in events)


def test_the_highest_score_of_a_resigned_seat_does_not_count():
    table = vallelujah(
        [["crimson-1", "crimson-2"], ["azure-9"], ["gold-1", "gold-2"]], turn=300, voids=2,
        scores={0: 0, 1: 1, 2: 2},
    )  # fmt: skip
    table.resign(2)
    events = table.move(0, "lead", units=["crimson-1"])
    assert events[-1].type == "game.won"
    assert events[-1].data["seat"] == 1
    assert events[-1].data["scores"] == {"0": 0, "1": 1, "2": 2}


def test_a_won_round_ends_the_row_of_void_rounds():
    table = vallelujah([["crimson-1"], ["azure-9", "azure-8"]], voids=2)
    dealt = only(table.move(0, "lead", units=["crimson-1"]), "round.dealt").data
    assert dealt["voids"] == 0


def test_a_whole_match_by_repetition_is_drawn():
    """Three void rounds, each played out turn by turn."""
    table = vallelujah([["slate-7", "coral-7"], ["crimson-8", "gold-7"]], voids=2)
    for _ in range(2):
        for seat in (0, 1):
            table.move(seat, "lead", units=["slate-7"])
            table.move(1 - seat, "beat", units=["crimson-8"])
            events = table.move(seat, "take")
    assert types(events) == ["arena.taken", "round.void", "game.drawn"]


@BOTH
def test_whole_matches(ruleset):
    """Rounds are numbered, scores add up, and the deal or lead goes round the active seats."""
    rounds = 0
    for seed in range(12):
        play = RandomGame(ruleset, 3, {}, seed=("match", seed))
        for _ in play.play():
            pass
        log = play.table.log
        deals = [event.data for event in log if event.type == "round.dealt"]
        assert [deal["round"] for deal in deals] == list(range(1, len(deals) + 1))
        for before, after in itertools.pairwise(deals):
            who = "dealer" if ruleset == "halleluja" else "first"
            seats = after["active"]
            expected = next((s for s in seats if s > before[who]), seats[0])
            assert after[who] == expected
        rounds += len(deals)
        last = log[-1]
        if last.type == "game.won" and last.data["reason"] == "rounds":
            won = [e.data["seat"] for e in log if e.type == "round.won"]
            for seat, score in last.data["scores"].items():
                assert won.count(int(seat)) == score
            assert last.data["scores"][str(last.data["seat"])] == play.options["rounds_to_win"]
    assert rounds > 20


# ---- the view


@BOTH
def test_the_lobbys_view(ruleset):
    table = lobby(ruleset, 2, bots=1)
    seen = table.seen(1)
    assert seen["status"] == "lobby"
    assert seen["version"] == table.game.version
    assert seen["shuffle"] == {"commitment": naive.commitment(SECRET, GAME_ID)}
    assert seen["host"] == 0
    assert seen["seats"][0]["player"]["player_id"] == PLAYERS[0]
    assert seen["seats"][2]["bot"] == "random"
    assert not {"round", "turn", "table", "result"} & set(seen)
    assert seen["options"] == DEFAULTS[ruleset]


@BOTH
def test_a_running_games_view(ruleset):
    table = started(ruleset, 3)
    mover = table.game.turn.seat
    seen = table.seen(mover)
    first = table.log[-1].data["first"]
    assert seen["round"] == {"number": 1, "first": first}
    assert seen["turn"]["seat"] == first
    assert seen["turn"]["number"] == 1
    assert "result" not in seen
    assert "secret" not in seen["shuffle"]
    assert seen["you"]["seat"] == mover
    dealt = table.log[-1].data["hands"][str(mover)]
    assert sorted(seen["you"]["hand"]) == sorted(dealt)
    for entry in seen["seats"]:
        assert entry["status"] == "active"
        assert entry["hand_size"] == len(dealt)
        assert entry["score"] == 0
        assert "hand" not in entry
    assert "you" not in table.seen(None)
    names = "game_id ruleset ruleset_version visibility turn_seconds max_seats"
    for name in names.split():
        assert seen[name] == getattr(table.game, name)


def test_versions_have_no_gap():
    for ruleset in ("halleluja", "vallelujah"):
        play = RandomGame(ruleset, 4, {}, seed="versions")
        for _ in play.play():
            pass
        log = play.table.log
        assert [event.version for event in log] == list(range(1, len(log) + 1))
        assert log[-1].type.startswith("game.")
