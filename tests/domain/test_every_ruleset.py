"""What must hold of every registered ruleset, whatever game it is (after OpenSpiel's API tests).

The games are played by seats that know nothing of any rule: they choose from the legal moves, let
their time run out, leave, and come back. `ABBOT_LONG=1` plays many more.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from domain.canonical import canonical
from domain.commands import (
    BotMove,
    ComeBack,
    Context,
    CreateGame,
    ExpireTurn,
    MakeMove,
    Resign,
    SeatBot,
    StartGame,
    TakeSeat,
)
from domain.events import CATALOGUE, Recorded
from domain.game import (
    decide,
    evolve,
    explain,
    fold,
    legal_moves,
    listed_moves,
    new_game,
    push,
    view,
)
from domain.randomness import commitment
from domain.redaction import EVERYTHING, SPECTATOR, Viewer, redact
from domain.refusals import Refused
from domain.registry import RULESETS, get
from domain.ruleset import Ruleset
from domain.times import to_micros
from tests.golden import playthrough

from .positions import GAME_ID, PLAYERS, Table, lobby, plain

LONG = os.environ.get("ABBOT_LONG") == "1"
GAMES = 25 if LONG else 3
"""Games for each count of seats."""

FREE_MOVES = {"halleluja": [{"type": "exclaim", "word": "mau"}], "vallelujah": []}
"""Moves of each game that any seat may try at any time."""

CELLS = [
    pytest.param(rules, seats, id=f"{rules.name}-{seats}")
    for rules in RULESETS.values()
    for seats in range(rules.seats[0], rules.seats[1] + 1)
]
each_cell = pytest.mark.parametrize(("rules", "seats"), CELLS)
each_ruleset = pytest.mark.parametrize("rules", RULESETS.values(), ids=lambda rules: rules.name)


class RandomPlay:
    """One game of random commands. `commands` are those that were carried out, with the clock."""

    def __init__(self, rules: Ruleset, seats: int, seed: object) -> None:
        self.rules = rules
        self.rng = random.Random(f"{rules.name}/{seats}/{seed}")
        bots = self.rng.choice((0, 0, 1)) if seats > rules.seats[0] else 0
        seeds = {1: "c0ffee"} if self.rng.random() < 0.5 else {}
        self.table = lobby(
            rules.id,
            seats - bots,
            options=self._options(),
            bots=bots,
            seeds=seeds,
            secret=self.rng.randbytes(32),
            turn_seconds=self.rng.choice((3, 60, 1_209_600)),
        )
        self.commands: list[tuple[Any, int]] = []

    def _options(self) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for option in self.rules.options:
            if option.type == "boolean":
                chosen[option.name] = self.rng.random() < 0.5
            else:
                chosen[option.name] = min(self.rng.choice((1, 2, 3)), option.maximum or 3)
        return chosen

    def play(self, most: int = 400) -> Iterator[Table]:
        """Play on until the game is over, or for `most` commands; a stop after each command."""
        self.carry_out(StartGame(PLAYERS[0]))
        yield self.table
        while not self.table.game.over and len(self.commands) < most:
            self.carry_out(self.any_command())
            yield self.table

    def carry_out(self, command: Any) -> list[Recorded]:
        if isinstance(command, ExpireTurn):
            self.table.clock = to_micros(self.table.game.due_at) + 1
        else:
            self.table.clock += self.rng.randrange(3_000_000)
        self.commands.append((command, self.table.clock))
        return self.table.do(command, after=0)

    def any_command(self) -> Any:
        """Something that the referee takes; mostly a move."""
        game, rng = self.table.game, self.rng
        humans = [seat for seat in game.active if game.seats[seat].player_id is not None]
        kind = rng.random()
        if kind < 0.04:
            return ExpireTurn(game.round, game.turn.number)
        if kind < 0.05 and humans:
            return Resign(self.table.player(rng.choice(humans)))
        if kind < 0.10 and humans:
            return ComeBack(self.table.player(rng.choice(humans)))
        if kind < 0.14 and humans and FREE_MOVES[self.rules.id]:
            move = rng.choice(FREE_MOVES[self.rules.id])
            asked = MakeMove(self.table.player(rng.choice(humans)), move)
            if accepted(self.table, asked):
                return asked
        move = rng.choice(legal_moves(game, game.turn.seat))
        if rng.random() < 0.9:
            move = self.rules.with_due_call(game, game.turn.seat, move)
        return as_command(self.table, move)


def as_command(table: Table, move: dict[str, Any]) -> Any:
    """`move` as the seat to move makes it."""
    game = table.game
    player = game.seats[game.turn.seat].player_id
    if player is None:
        return BotMove(game.turn.seat, move, game.round, game.turn.number)
    return MakeMove(player, move)


def outcome(table: Table, command: Any) -> list[Any] | Refused:
    """The events that `command` would lead to, or the refusal."""
    try:
        return decide(table.game, command, Context(table.secret, table.now)).events
    except Refused as refusal:
        return refusal


def accepted(table: Table, command: Any) -> bool:
    return not isinstance(outcome(table, command), Refused)


def games(rules: Ruleset, seats: int, count: int = GAMES) -> Iterator[RandomPlay]:
    for seed in range(count):
        yield RandomPlay(rules, seats, seed)


def completions(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """A listed move with its choices made in every way: `take_from` is a choice that must be made,
    `wish_from` one that may."""
    move = {name: part for name, part in entry["move"].items() if name not in ("round", "turn")}
    if "take_from" in entry:
        return [{**move, "take": unit} for unit in entry["take_from"]]
    return [move, *({**move, "wish": symbol} for symbol in entry.get("wish_from", []))]


# ---- what is registered


@each_ruleset
def test_a_ruleset_describes_itself(rules):
    assert get(rules.name) is rules
    assert get(rules.id) is rules
    assert rules.name == f"{rules.id}/{rules.version}"
    assert 2 <= rules.seats[0] <= rules.seats[1]
    assert len(set(rules.cards)) == len(rules.cards)
    assert rules.hand_size * rules.seats[1] + rules.turns_up <= len(rules.cards)
    ids = [rule.id for rule in rules.rules]
    assert len(set(ids)) == len(ids)
    assert {id_.split(".")[0] for id_ in ids} == {rules.id, "table"}
    assert all(rule.wording.endswith((".", "”")) for rule in rules.rules)
    assert {rule.source for rule in rules.rules} <= {"rulebook", "interpretation", "ruling"}
    assert rules.free_moves == {move["type"] for move in FREE_MOVES[rules.id]}
    for option in rules.options:
        assert option.fault(option.default) is None
        wrong: tuple[Any, ...] = (None, "yes", 1.5, [], {})
        wrong += (0, 1) if option.type == "boolean" else (True, option.minimum - 1)
        wrong += () if option.type == "boolean" else (option.maximum + 1,)
        assert all(option.fault(value) for value in wrong)


def test_an_unknown_ruleset_is_not_found():
    for name in ("", "chess", "halleluja/0", "Halleluja"):
        with pytest.raises(KeyError):
            get(name)


@each_ruleset
def test_a_ruleset_has_golden_playthroughs_of_all_its_rules(rules):
    shown = playthrough.tags(rules)
    assert [id_ for id_ in playthrough.needed(rules) if id_ not in shown] == []


# ---- legal moves


@each_cell
def test_legal_moves_are_sorted_unique_and_stable(rules, seats):
    for play in games(rules, seats):
        for table in play.play():
            game = table.game
            mover = game.turn.seat if game.turn else None
            for seat in range(-1, rules.seats[1] + 2):
                moves, listed = legal_moves(game, seat), listed_moves(game, seat)
                assert bool(moves) == bool(listed) == (seat == mover)
                keys = [canonical(move) for move in moves]
                assert keys == sorted(set(keys))
                assert moves == legal_moves(game, seat)
                assert listed == listed_moves(game, seat)


@each_cell
def test_looking_changes_nothing(rules, seats):
    for play in games(rules, seats, 1):
        for table in play.play(60):
            game = table.game
            before = plain(game)
            for seat in game.seats:
                legal_moves(game, seat)
                listed_moves(game, seat)
                view(game, Viewer(seat))
            for viewer in (SPECTATOR, EVERYTHING):
                view(game, viewer)
            assert plain(game) == before


@each_cell
def test_every_listed_move_can_be_posted_and_is_a_legal_move(rules, seats):
    for play in games(rules, seats):
        for table in play.play():
            game = table.game
            if game.turn is None or play.rng.random() > 0.25:
                continue
            seat = game.turn.seat
            listed = listed_moves(game, seat)
            spelled_out = [move for entry in listed for move in completions(entry)]
            assert sorted(spelled_out, key=canonical) == list(legal_moves(game, seat))
            known = {rule.id for rule in rules.rules}
            if game.seats[seat].player_id is None:
                continue
            for entry in listed:
                assert (entry["move"]["round"], entry["move"]["turn"]) == (
                    game.round,
                    game.turn.number,
                )
                assert entry["rules"]
                assert set(entry["rules"]) <= known
                move = play.rng.choice(completions(entry))
                if "call_due" in entry:
                    due = rules.with_due_call(game, seat, move)
                    assert due == {**move, "call": entry["call_due"]}
                    move = due
                asked = MakeMove(table.player(seat), move, game.round, game.turn.number)
                assert accepted(table, asked)


@each_cell
def test_what_is_accepted_is_exactly_what_is_legal(rules, seats):
    """Each legal move does something of its own; a move that is legal elsewhere is refused here,
    or is another way to write one that is legal."""
    for play in games(rules, seats):
        pool: dict[bytes, dict[str, Any]] = {}
        for table in play.play():
            game = table.game
            if game.turn is None:
                continue
            moves = legal_moves(game, game.turn.seat)
            pool |= {canonical(move): move for move in moves}
            if play.rng.random() > 0.15:
                continue
            done = [outcome(table, as_command(table, move)) for move in moves]
            assert not [each for each in done if isinstance(each, Refused)]
            data = [canonical(each[0].data) for each in done if each[0].type != "seat.back"]
            assert len(set(data)) == len(data) == len(moves)
            others = [move for key, move in pool.items() if move not in moves]
            for move in play.rng.sample(others, min(len(others), 12)):
                result = outcome(table, as_command(table, move))
                if isinstance(result, Refused):
                    assert result.code == "illegal-move"
                    assert result.rule in {rule.id for rule in rules.rules}
                else:
                    assert canonical(result[0].data) in data


@each_cell
def test_an_explanation_says_what_the_referee_does(rules, seats):
    for play in games(rules, seats, 1):
        pool: dict[bytes, dict[str, Any]] = {}
        for table in play.play(80):
            game = table.game
            if game.turn is None:
                continue
            pool |= {canonical(move): move for move in legal_moves(game, game.turn.seat)}
            wording = {rule.id: rule.wording for rule in rules.rules}
            for _ in range(8):
                seat = play.rng.choice(list(game.seats))
                if game.seats[seat].player_id is None:
                    continue
                asked = MakeMove(table.player(seat), play.rng.choice(list(pool.values())))
                result, said = outcome(table, asked), explain(game, asked)
                assert said.legal == (not isinstance(result, Refused))
                assert said.wording == wording[said.rule]
                assert said.rule in said.rules
                assert said.detail
                if isinstance(result, Refused):
                    assert (said.code, said.rule, said.detail, said.facts) == (
                        result.code,
                        result.rule,
                        result.detail,
                        result.facts,
                    )


@each_cell
def test_pushing_a_move_is_deciding_it_in_place(rules, seats):
    for play in games(rules, seats, 1):
        pool: dict[bytes, dict[str, Any]] = {}
        for table in play.play(120):
            game = table.game
            if game.turn is None:
                continue
            context = Context(table.secret, table.now)
            pool |= {canonical(move): move for move in legal_moves(game, game.turn.seat)}
            for move in play.rng.sample(list(pool.values()), min(len(pool), 4)):
                pushed = game.copy()
                result = outcome(table, as_command(table, move))
                if isinstance(result, Refused):
                    with pytest.raises(Refused) as caught:
                        push(pushed, move, context)
                    assert (caught.value.rule, caught.value.facts) == (result.rule, result.facts)
                    assert plain(pushed) == plain(game)
                else:
                    push(pushed, move, context)
                    assert plain(pushed) == plain(
                        decide(game, as_command(table, move), context).game
                    )


# ---- what is refused


MALFORMED: list[dict[str, Any]] = [
    {},
    {"type": None},
    {"type": "fly"},
    {"type": ["play"]},
    {"type": "pass"},
    {"type": "play", "card": 7},
    {"type": "play", "card": ["A-rose"]},
    {"type": "play", "card": {"card": "A-rose"}},
    {"type": "play", "card": "A-rose", "wish": ["rose"]},
    {"type": "draw", "count": 2},
    {"type": "exclaim"},
    {"type": "exclaim", "word": {}},
    {"type": "lead"},
    {"type": "lead", "units": []},
    {"type": "lead", "units": "gold-4"},
    {"type": "lead", "units": {"gold-4": 1}},
    {"type": "lead", "units": [["gold-4"]]},
    {"type": "lead", "units": [None]},
    {"type": "beat", "units": ["gold-4", "gold-4"]},
    {"type": "beat", "units": ["gold-10"]},
    {"type": "take", "take": ["gold-4"]},
]


@each_ruleset
def test_what_is_no_move_is_refused(rules):
    play = RandomPlay(rules, rules.seats[0], "malformed")
    foreign = [
        move
        for other in RULESETS.values()
        if other is not rules
        for table in RandomPlay(other, other.seats[0], 0).play(30)
        if table.game.turn
        for move in legal_moves(table.game, table.game.turn.seat)
    ]
    for table in play.play(3):
        for move in [*MALFORMED, *foreign]:
            for seat in range(rules.seats[0]):
                refused = outcome(table, MakeMove(PLAYERS[seat], move))
                assert isinstance(refused, Refused), move
                assert refused.code == "validation"
                assert refused.errors
                assert all(set(error) == {"field", "message"} for error in refused.errors)


@each_cell
def test_wrong_seats_and_turns_are_refused(rules, seats):
    play = RandomPlay(rules, seats, "wrong")
    for table in play.play(40):
        game = table.game
        if game.turn is None:
            break
        move = play.rng.choice(legal_moves(game, game.turn.seat))
        before = plain(game)
        stranger = outcome(table, MakeMove(PLAYERS[9], move))
        assert stranger.code == "forbidden"
        for seat, at in game.seats.items():
            if at.player_id is None:
                continue
            for round_, turn in ((game.round, game.turn.number + 1), (game.round + 1, 1)):
                refused = outcome(table, MakeMove(at.player_id, move, round_, turn))
                expected = ("forbidden",) if seat in game.resigned else ("stale-turn",)
                assert refused.code in expected
            if seat != game.turn.seat:
                refused = outcome(table, MakeMove(at.player_id, move))
                late = "turn-expired" if game.expired[seat] else "not-your-turn"
                assert refused.code == ("forbidden" if seat in game.resigned else late)
                assert refused.rule in {rule.id for rule in rules.rules}
        wrong_bot = BotMove(game.turn.seat + 1, move, game.round, game.turn.number)
        late_bot = BotMove(game.turn.seat, move, game.round, game.turn.number + 1)
        late_clock = ExpireTurn(game.round, game.turn.number + 1)
        assert [outcome(table, each) for each in (wrong_bot, late_bot, late_clock)] == [[]] * 3
        assert plain(game) == before


@each_cell
def test_nothing_happens_in_a_game_that_is_over(rules, seats):
    ends = set()
    for play in games(rules, seats):
        moves: list[dict[str, Any]] = []
        for table in play.play(4000):
            if table.game.turn:
                moves = legal_moves(table.game, table.game.turn.seat)
        game = table.game
        assert game.over
        ends.add(game.status)
        assert game.turn is None
        assert game.due_at is None
        for seat in range(rules.seats[1]):
            assert legal_moves(game, seat) == listed_moves(game, seat) == []
        for at in game.seats.values():
            if at.player_id is None:
                continue
            for command in (
                MakeMove(at.player_id, moves[0]),
                MakeMove(at.player_id, moves[0], 1, 1),
                ComeBack(at.player_id),
                StartGame(at.player_id),
            ):
                assert isinstance(outcome(table, command), Refused)
            resigned = outcome(table, Resign(at.player_id))
            assert resigned == [] or isinstance(resigned, Refused)
        assert isinstance(outcome(table, TakeSeat(PLAYERS[9])), Refused)
        assert isinstance(outcome(table, SeatBot(PLAYERS[0], "random")), Refused)
        assert outcome(table, ExpireTurn(game.round, 1)) == []
    assert ends <= {"finished", "abandoned"}


# ---- who knows what


def shown_to(log: list[Recorded], viewer: Viewer) -> list[dict[str, Any]]:
    """The events as `viewer` sees them, without their hashes."""
    redacted = [redact(event, viewer, False) for event in log]
    return [{k: v for k, v in each.items() if k not in ("hash", "prev_hash")} for each in redacted]


def cards_in(value: Any, cards: frozenset[str]) -> set[str]:
    """Every card that is named anywhere in `value`."""
    return set(re.findall(r"[A-Za-z]+-[a-z0-9]+", json.dumps(value))) & cards


def secretly(log: list[Recorded], viewer: Viewer, cards: frozenset[str],
             rng: random.Random) -> list[Recorded]:  # fmt: skip
    """A record that `viewer` cannot tell from `log`: the cards that stayed hidden from it since
    some deal or shuffle have changed places, and the salts are others."""
    hides = [
        number
        for number, event in enumerate(log)
        if cards_in(event.data, cards) > cards_in(redact(event, viewer, False)["data"], cards)
    ]
    start = rng.choice(hides[-3:])
    hidden = cards_in(log[start].data, cards)
    for event in log[start:]:
        hidden -= cards_in(redact(event, viewer, False)["data"], cards)
    old = sorted(hidden)
    new = rng.sample(old, len(old))
    other = dict(zip(old, new, strict=True))

    def exchanged(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: exchanged(part) for name, part in value.items()}
        if isinstance(value, list):
            return [exchanged(part) for part in value]
        return other.get(value, value) if isinstance(value, str) else value

    twin = []
    for number, event in enumerate(log):
        data = exchanged(event.data) if number >= start else event.data
        if "salt" in data:
            data = {**data, "salt": rng.randbytes(16).hex()}
        twin.append(replace(event, data=data))
    return twin


@each_cell
def test_perfect_recall(rules, seats):
    """What a seat was shown determines what it sees: two records that look the same to it, with
    other cards where it cannot see them, give it the same view and the same moves."""
    cards = frozenset(rules.cards)
    different = 0
    for play in games(rules, seats):
        for table in play.play():
            if table.game.over or play.rng.random() > 0.2:
                continue
            viewers = [SPECTATOR, *(Viewer(seat) for seat in table.game.seats)]
            viewer = play.rng.choice(viewers)
            twin = secretly(table.log, viewer, cards, play.rng)
            assert shown_to(twin, viewer) == shown_to(table.log, viewer)
            other = fold(GAME_ID, twin)
            different += plain(other) != plain(table.game)
            assert view(other, viewer) == view(table.game, viewer)
            if viewer.seat is not None:
                mine = legal_moves(table.game, viewer.seat), listed_moves(table.game, viewer.seat)
                assert (legal_moves(other, viewer.seat), listed_moves(other, viewer.seat)) == mine
    assert different > 3


@each_cell
def test_views_and_events_show_nothing_hidden(rules, seats):
    cards = frozenset(rules.cards)
    for play in games(rules, seats):
        secret = play.table.secret.hex()
        known: dict[int | None, set[str]] = {}
        running = new_game(GAME_ID)
        for table in play.play():
            game = table.game
            viewers = {seat: Viewer(seat) for seat in (None, *game.seats)}
            for event in table.log[running.version :]:
                evolve(running, event)
                listed = {field.name for field in CATALOGUE[event.type].fields}
                assert set(event.data) <= listed
                if event.type == "round.dealt":
                    known = {seat: set() for seat in viewers}
                if game.over or not known:
                    continue
                open_cards = cards_in(view(running, SPECTATOR)["table"], cards)
                for seat, viewer in viewers.items():
                    seen = redact(event, viewer, False)
                    said = json.dumps(seen)
                    assert secret not in said
                    assert "salt" not in said
                    new = cards_in(seen["data"], cards) - known[seat]
                    own = set() if seat is None else set(view(running, viewer)["you"]["hand"])
                    assert new <= open_cards | own, "an event shows a card that lies face down"
                    known[seat] |= new
            if game.over:
                shown = view(game, SPECTATOR)
                assert shown["shuffle"] == {
                    "commitment": commitment(table.secret, GAME_ID),
                    "secret": secret,
                }
                assert all("hand" in each for each in shown["seats"])
                break
            for seat, viewer in viewers.items():
                shown = view(game, viewer)
                said = json.dumps(shown)
                assert secret not in said
                assert "salt" not in said
                assert cards_in(shown, cards) <= known[seat]
                assert not any("hand" in each for each in shown["seats"])
                assert ("you" in shown) == (seat is not None)
                shown.pop("you", None)
                assert shown == view(game, SPECTATOR)


# ---- the record


@each_cell
def test_a_game_can_be_restored_from_its_events_anywhere(rules, seats):
    for play in games(rules, seats):
        running = new_game(GAME_ID)
        copies = []
        for table in play.play():
            for event in table.log[running.version :]:
                evolve(running, event)
            assert plain(running) == plain(table.game)
            if play.rng.random() < 0.1:
                copies.append((running.copy(), table.game.copy(), plain(running)))
        log, end = play.table.log, plain(play.table.game)
        for folded, decided, looked in copies:
            for copy in (folded, decided):
                assert plain(copy) == looked, "a copy changed with its original"
                for event in log[copy.version :]:
                    evolve(copy, event)
                assert plain(copy) == end
        for _ in range(4):
            version = play.rng.randrange(len(log))
            restored = fold(GAME_ID, log[:version])
            assert restored.version == version
            for event in log[version:]:
                evolve(restored, event)
            assert plain(restored) == end


@each_cell
def test_the_same_seed_and_commands_give_the_same_game(rules, seats):
    for play in games(rules, seats):
        lobbied = play.table.copy()
        marks = []
        for table in play.play():
            marks.append(table.game.version)
        commands = play.commands
        for start in (0, play.rng.randrange(len(commands))):
            again = lobbied.copy()
            if start:
                again.log = play.table.log[: marks[start - 1]]
                again.game = fold(GAME_ID, again.log)
            for command, clock in commands[start:]:
                again.clock = clock
                again.do(command, after=0)
            assert again.log == play.table.log
            assert plain(again.game) == plain(play.table.game)


@each_ruleset
def test_another_secret_is_another_game(rules):
    deals = set()
    for secret in range(20):
        table = lobby(rules.id, rules.seats[1], secret=bytes(31) + bytes([secret]))
        deals.add(canonical(table.do(StartGame(PLAYERS[0]))[-1].data["hands"]))
    for seed in range(20):
        table = lobby(rules.id, rules.seats[1], seeds={1: f"{seed:02x}"})
        deals.add(canonical(table.do(StartGame(PLAYERS[0]))[-1].data["hands"]))
    assert len(deals) == 40


@each_ruleset
def test_events_out_of_order_and_of_no_known_type_are_refused(rules):
    play = RandomPlay(rules, rules.seats[0], "order")
    for _ in play.play(12):
        pass
    log = play.table.log
    for story in (log[1:], [*log[:3], log[4]], [*log, log[-1]], [log[0], log[0]]):
        with pytest.raises(ValueError, match=r"event|record"):
            fold(GAME_ID, story)
    odd = replace(log[3], type="card.eaten")
    with pytest.raises(ValueError, match=r"card\.eaten"):
        fold(GAME_ID, [*log[:3], odd])
    elsewhere = replace(log[0], type="seat.taken")
    with pytest.raises(ValueError, match=r"game\.created"):
        fold(GAME_ID, [elsewhere])
    with pytest.raises(Refused):
        decide(new_game(GAME_ID), CreateGame(PLAYERS[0], "chess"), Context(bytes(32)))
