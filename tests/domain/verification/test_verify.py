"""Whoever could write a record and chain it anew is found out all the same."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from domain.canonical import canonical
from domain.commands import ChangeSeat, CloseTable, LeaveSeat, SeatBot, StartGame
from domain.events import Recorded
from domain.registry import RULESETS
from domain.verification import CHECKS, verify
from tests.domain.games import RandomGame
from tests.domain.positions import PLAYERS, lobby
from tests.domain.verification.records import (
    as_seen,
    at,
    by_name,
    chained,
    changed,
    finished,
    play_out,
    wrong,
)

SECOND = 1_000_000


@pytest.fixture(scope="module")
def records() -> list[list[Recorded]]:
    """The shorter ones of many: every check looks at a whole record."""
    return sorted(finished(24), key=len)[:19]


def first(records: list[list[Recorded]], *types: str, hidden: str = "", by: str = ""):
    """A record and the index of its first event of one of these types."""
    for record in records:
        for index, event in enumerate(record):
            if event.type not in types or (by and event.by["kind"] != by):
                continue
            if not hidden or hidden in event.data:
                return record, index
    raise AssertionError(f"no record has {types}")


def test_honest_records_pass_every_check(records):
    met = set()
    for record in records:
        checks = verify(record)
        assert [check.check for check in checks] == list(CHECKS)
        assert [check for check in checks if check.ok is not True] == []
        met |= {event.type for event in record}
    assert {"turn.expired", "seat.away", "seat.back", "seat.resigned", "pile.reshuffled"} <= met


def test_it_takes_the_secret_of_a_running_game(records):
    for record in records[:6]:
        secret = bytes.fromhex(record[-1].data["secret"])
        ends = [i for i in range(1, len(record)) if record[i].at != record[i - 1].at]
        running = record[: ends[len(ends) // 2]]
        checks = by_name(verify(running, secret=secret))
        assert {name for name, check in checks.items() if check.ok is not True} == {"result"}
        assert by_name(verify(running))["shuffle"].ok is None
        assert wrong(running, secret=bytes(32))[0] == ("commitment", running[-1].version)


# -- the chain and the commitment


def test_a_link_that_is_broken_is_named(records):
    record = records[0]
    for index in (0, 5, len(record) - 1):
        edited = replace(record[index], hash="00" * 32)
        assert ("chain", index + 1) in wrong([*record[:index], edited, *record[index + 1 :]])
    assert wrong(record[3:])[0] == ("chain", 1)
    assert wrong([*record[:4], record[5], record[4], *record[6:]])[0] == ("chain", 5)
    foreign = [*record[:4], replace(record[4], game_id=PLAYERS[0]), *record[5:]]
    assert wrong(foreign)[0] == ("chain", 5)


def test_another_secret_and_another_commitment(records):
    record = records[0]
    other = changed(record, len(record) - 1, lambda data: data.update(secret="11" * 32))
    assert ("commitment", len(record)) in wrong(other)
    for bad in ("", "zz", 7, None):
        hidden = changed(record, len(record) - 1, lambda data, bad=bad: data.update(secret=bad))
        assert ("commitment", len(record)) in wrong(hidden)
    # What is no hash at all needs no secret to be wrong.
    for text in ("", "AB" * 32, "22" * 31):
        odd = changed(record, 0, lambda data, text=text: data.update(commitment=text))
        assert ("commitment", 1) in wrong(odd)
        assert ("commitment", 1) in wrong(odd[:-1])
    recommitted = changed(record, 0, lambda data: data.update(commitment="22" * 32))
    assert ("commitment", len(record)) in wrong(recommitted)


# -- chance


def swap(cards):
    cards[0], cards[1] = cards[1], cards[0]


@pytest.mark.parametrize(
    ("type_", "change"),
    [
        ("round.dealt", lambda data: swap(data["undealt"])),
        ("round.dealt", lambda data: swap(next(iter(data["hands"].values())))),
        ("round.dealt", lambda data: data.update(salt="0" * 32)),
        ("pile.reshuffled", lambda data: swap(data["draw_pile"])),
        ("cards.drawn", lambda data: data.update(salt="0" * 32)),
        ("cards.drawn", lambda data: data["cards"].append("A-apple")),
    ],
)
def test_cards_that_were_chosen(records, type_, change):
    record, index = first(records, type_)
    assert wrong(changed(record, index, change)) == [("shuffle", index + 1)]


def test_another_dealer(records):
    record, index = first(records, "round.dealt", hidden="dealer")
    (found,) = wrong(changed(record, index, lambda data: data.update(dealer=data["first"])))
    assert found == ("shuffle", index + 1)


def test_a_seed_that_was_changed_is_another_shuffle(records):
    record, index = first(records, "seat.seeded", "seat.taken", hidden="client_seed")
    dealt = next(i for i, event in enumerate(record) if event.type == "round.dealt")
    forged = changed(record, index, lambda data: data.update(client_seed="00ff"))
    assert wrong(forged) == [("shuffle", dealt + 1)]


def test_a_pick_that_was_chosen():
    """Of an expired turn another card is played than the secret picks."""
    for seed in range(30):
        game = RandomGame("vallelujah", 2, seed=("picks", seed))
        record = play_out(game)
        for index, event in enumerate(record):
            if event.type != "battalion.led" or event.by["kind"] != "clock":
                continue
            deal = max(i for i in range(index) if record[i].type == "round.dealt")
            hand = set(record[deal].data["hands"][str(event.data["seat"])])
            played = {unit for e in record[deal:index] for unit in e.data.get("units", ())}
            others = sorted(hand - played - set(event.data["units"]))
            if not others:
                continue
            unit = others[0]
            forged = changed(
                record, index, lambda data, unit=unit: data.update(
                    units=[unit], strength=int(unit[-1])
                ),
            )  # fmt: skip
            assert wrong(forged) == [("shuffle", index + 1)]
            not_held = changed(record, index, lambda data: data.update(units=["red-1"]))
            assert wrong(not_held) == [("legality", index + 1)]
            return
    raise AssertionError("nothing was picked")


# -- who did what, and was it allowed


def test_a_move_that_was_not_legal(records):
    record, index = first(records, "card.played", by="player")
    cards = RULESETS["halleluja"].cards
    refused = 0
    for card in random.Random(1).sample(cards, 12):
        forged = changed(record, index, lambda data, card=card: data.update(card=card))
        if card != record[index].data["card"]:
            found = wrong(forged)
            assert found[0][0] in ("legality", "shuffle")
            refused += found == [("legality", index + 1)]
    assert refused >= 8


@pytest.mark.parametrize(
    ("type_", "name", "value"),
    [
        ("game.created", "turn_seconds", 2),
        ("game.created", "turn_seconds", True),
        ("game.created", "max_seats", 99),
        ("game.created", "visibility", "secret"),
        ("game.created", "extra", 1),
        ("game.created", "ruleset", "chess"),
        ("game.created", "ruleset_version", 7),
        ("seat.taken", "seat", 9),
        ("seat.taken", "seat", True),
        ("seat.taken", "player_id", PLAYERS[9]),
        ("game.started", "seats", [0]),
        ("round.dealt", "voids", 1),
        ("round.dealt", "away", [0]),
        ("card.played", "seat", 3),
        ("card.played", "turn", {"seat": 0, "number": 77}),
        ("card.played", "wish", "clover"),
        ("battalion.led", "strength", 99),
        ("battalion.beaten", "discarded", ["gold-1", "gold-2"]),
        ("arena.taken", "captured", "gold-1"),
        ("turn.expired", "seat", 5),
        ("seat.away", "seat", 5),
        ("cards.drawn", "reason", "annoyed"),
        ("cards.drawn", "count", 9),
    ],
)
def test_what_does_not_follow(records, type_, name, value):
    record, index = first(records, type_)
    forged = changed(record, index, lambda data: data.update({name: value}))
    found = wrong(forged)
    assert len(found) == 1
    check, version = found[0]
    assert check == "legality"
    # A move that is not the one is found where its seat's first event stands.
    assert index <= version <= index + 1


@pytest.mark.parametrize(
    "by",
    [
        {"kind": "ghost"}, {}, {"kind": "clock", "seat": 0}, {"kind": "bot", "seat": 0},
        {"kind": "player", "seat": 0, "player_id": PLAYERS[9]},
        {"kind": "player", "seat": 7, "player_id": PLAYERS[0]},
        {"kind": "player", "seat": 0, "player_id": PLAYERS[0], "note": 1},
        {"kind": "player", "seat": 0, "player_id": ["x"]},
        {"kind": "player", "seat": 0},
    ],
)  # fmt: skip
def test_someone_else(records, by):
    for types in (("card.played",), ("battalion.led",), ("round.dealt",)):
        record, index = first(records, *types)
        forged = chained([*record[:index], replace(record[index], by=by), *record[index + 1 :]])
        if forged[index].by != record[index].by:
            assert [check for check, _ in wrong(forged)] == ["legality"]


def test_events_that_are_left_out_put_in_or_moved(records):
    for record in records[:8]:
        dice = random.Random(len(record))
        for _ in range(12):
            index = dice.randrange(2, len(record) - 1)
            for forged in (
                [*record[:index], *record[index + 1 :]],
                [*record[: index + 1], *record[index:]],
                [*record[:index], record[index + 1], record[index], *record[index + 2 :]],
            ):
                rebuilt = chained(forged)
                if [e.data for e in rebuilt] != [e.data for e in record]:
                    assert wrong(rebuilt)


def test_a_record_that_stops_within_a_decision(records):
    record, index = first(records, "round.dealt")
    assert wrong(record[:index]) == []  # without the deal no card is known: it is followed blindly
    secret = bytes.fromhex(record[-1].data["secret"])
    assert wrong(record[:index], secret=secret) == [("legality", index + 1)]


def test_a_shuffle_for_a_move_that_is_not_there(records):
    """It is the move after it that is wrong."""
    for record in records:
        for index, event in enumerate(record[:-1]):
            draw = record[index + 1]
            if event.type == "pile.reshuffled" and draw.data.get("reason") == "no-match":
                assert record[index - 1].type != "seat.resigned"
                forged = changed(record, index + 1, lambda data: data.update(reason="annoyed"))
                assert wrong(forged) == [("legality", index + 2)]
                return
    raise AssertionError("nothing was shuffled for a draw")


def test_a_host_in_a_seat_that_is_not_there(records):
    for seat in (-1, 9, True, "0", None):
        forged = changed(records[0], 1, lambda data, seat=seat: data.update(seat=seat))
        assert wrong(forged) == [("legality", 2)]


def test_what_comes_after_the_end(records):
    record = records[0]
    more = chained([*record, replace(record[-3], at=record[-1].at)])
    assert wrong(more)
    assert wrong(chained([*record, record[-1]]))


# -- time


def test_a_move_that_came_too_late(records):
    record, index = first(records, "card.played", by="player")
    late = [at(event, 3_000 * 86_400 * SECOND) for event in record[index:]]
    assert wrong(chained([*record[:index], *late])) == [("deadlines", index + 1)]


def test_an_expiry_that_came_too_soon_or_names_another_time(records):
    record, index = first(records, "turn.expired")
    event = record[index]
    soon = [replace(e, at=event.data["due_at"]) if e.at == event.at else e for e in record]
    assert wrong(chained(soon)) == [("deadlines", index + 1)]
    renamed = changed(record, index, lambda data: data.update(due_at=record[0].at))
    assert wrong(renamed) == [("deadlines", index + 1)]


def test_what_follows_has_the_time_of_what_it_follows_from(records):
    record, index = first(records, "round.dealt")
    later = [*record[:index], *(at(event, 1) for event in record[index:])]
    assert wrong(chained(later)) == [("deadlines", index + 1)]


def test_a_time_that_goes_back_is_no_chain(records):
    record = records[0]
    back = [*record[:5], replace(record[5], at="2001-01-01T00:00:00.000000Z"), *record[6:]]
    assert ("chain", 6) in wrong(chained(back))
    for text in ("2026-11-30 09:32:10.123456Z", "2026-11-30T09:32:10Z", "now", ""):
        odd = chained([*record[:5], replace(record[5], at=text), *record[6:]])
        assert ("chain", 6) in wrong(odd)


@pytest.mark.parametrize("players", [1, 3])
@pytest.mark.parametrize("bot", [False, True])
def test_a_table_that_the_clock_closes(players, bot):
    table = lobby("vallelujah", players)
    if bot:
        table.do(SeatBot(PLAYERS[0], "greedy"))
    table.do(CloseTable(table.game.version), after=86_400.0)
    record = chained(table.log)
    assert record[-1].type == "game.cancelled"
    assert {event.by["kind"] for event in record[-1 - players :]} == {"clock"}
    assert wrong(record) == []
    assert by_name(verify(record))["legality"].ok is True
    # The clock has everyone leave, not one of them, and in their order.
    if players > 1:
        assert wrong(chained([*record[:-3], *record[-2:]])) == [("legality", len(record) - 2)]
        other = chained([*record[:-3], record[-2], record[-3], record[-1]])
        assert wrong(other) == [("legality", len(record) - 2)]


def test_a_table_that_its_players_close():
    table = lobby("halleluja", 2)
    for player in (PLAYERS[0], PLAYERS[1]):
        table.do(LeaveSeat(player))
    assert table.log[-1].type == "game.cancelled"
    assert wrong(chained(table.log)) == []
    assert wrong(chained([*table.log[:-1], replace(table.log[-1], by={"kind": "clock"})]))


def extended(seconds, **more):
    table = lobby("vallelujah", 2)
    table.do(ChangeSeat(PLAYERS[1], "aa"))
    table.do(StartGame(PLAYERS[0]))
    seat = table.game.turn.seat
    clock = {"kind": "clock", "seat": seat}
    table.happened(
        "turn.extended", clock, **{"seat": seat, "seconds": seconds, "reason": "outage", **more}
    )
    # Within the time that was given back.
    table.clock += 70 * SECOND
    unit = table.game.rules.hand(table.game, seat)[0]
    table.move(seat, "lead", units=[unit])
    return chained(table.log), table.secret


def test_time_that_was_given_back():
    record, secret = extended(100)
    assert wrong(record, secret=secret) == []
    assert wrong(record) == []
    lead = record[-1].version
    record, secret = extended(1)
    assert wrong(record, secret=secret) == [("deadlines", lead)]
    assert wrong(record) == [("deadlines", lead)]
    for more in ({"reason": "mercy"}, {"seat": 5}):
        record, secret = extended(100, **more)
        assert wrong(record, secret=secret) == [("legality", lead - 1)]
    for seconds in (0, -5, True):
        record, secret = extended(seconds)
        assert wrong(record, secret=secret)[0] == ("legality", lead - 1)


# -- the result


def test_another_winner(records):
    record, index = first(records, "game.won")
    for name, value in (("seat", 77), ("reason", "resignations"), ("scores", {"0": 9})):
        if record[index].data[name] != value:
            forged = changed(record, index, lambda data, n=name, v=value: data.update({n: v}))
            assert wrong(forged) == [("result", index + 1)]
    record, index = first(records, "round.won")
    forged = changed(record, index, lambda data: data.update(scores={"0": 9}))
    assert wrong(forged) == [("result", index + 1)]


# -- while the game runs


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_a_players_view_of_a_running_game_is_checked_as_far_as_it_goes(records, seat):
    for record in records:
        dealt = next(i for i, event in enumerate(record) if event.type == "round.dealt")
        running = as_seen(record[: (dealt + len(record)) // 2], seat)
        checks = by_name(verify(running))
        assert {name: check.ok for name, check in checks.items()} == {
            "chain": None, "commitment": None, "shuffle": None, "legality": None,
            "deadlines": True, "result": None,
        }  # fmt: skip
        assert "hidden" in checks["chain"].detail


def test_a_view_in_which_something_public_is_wrong(records):
    record, index = first(records, "card.played", by="player")
    running = as_seen(record[: index + 1], None)
    other = next(s for s in (0, 1) if s != running[index].by["seat"])
    player = next(
        e.data["player_id"] for e in record if e.type == "seat.taken" and e.data["seat"] == other
    )
    stolen = {"kind": "player", "seat": other, "player_id": player}
    forged = [*running[:index], replace(running[index], by=stolen)]
    assert ("legality", index + 1) in wrong(forged)
    ghost = [*running[:index], replace(running[index], by={**running[index].by, "player_id": "x"})]
    assert ("legality", index + 1) in wrong(ghost)
    late = [*running[:index], at(running[index], 3_000 * 86_400 * SECOND)]
    assert ("deadlines", index + 1) in wrong(late)
    # What is wholly public can be hashed, whatever is hidden elsewhere.
    assert ("chain", index + 1) in wrong(late)


def test_a_finished_game_hides_nothing(records):
    record, index = first(records, "cards.drawn")
    bare = dict(record[index].data)
    del bare["cards"]
    hidden = [*record[:index], replace(record[index], data=bare), *record[index + 1 :]]
    assert ("chain", index + 1) in wrong(hidden)


def test_rules_that_are_not_known_here(records):
    record = changed(records[0], 0, lambda data: data.update(ruleset_version="halleluja/99"))
    checks = by_name(verify(record))
    assert checks["chain"].ok
    assert checks["commitment"].ok
    assert checks["legality"].ok is None
    assert "halleluja/99" in checks["legality"].detail


def test_nothing_is_no_record():
    assert wrong([]) == [("chain", None)]


@pytest.mark.parametrize("value", [None, [], {}, "x", 1, -1, True, [[]], {"seat": []}])
def test_values_of_any_kind_are_wrong_and_no_more(records, value):
    """Each field of each type of event, as any kind of JSON."""
    done = set()
    for record in records[:4]:
        for index, event in enumerate(record[:60]):
            for name in event.data:
                if (event.type, name) in done:
                    continue
                done.add((event.type, name))
                forged = changed(record, index, lambda data, n=name: data.update({n: value}))
                if canonical(forged[index].data) != canonical(event.data):
                    assert wrong(forged), (event.type, name)
    assert len(done) > 30
