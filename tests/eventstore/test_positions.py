"""Positions that a process keeps: one round trip for a move, and never a wrong answer from them."""

from __future__ import annotations

import contextlib
import logging
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from domain.commands import Context, CreateGame, MakeMove, Resign, StartGame, TakeSeat
from domain.game import Game, decide, differences, fold, legal_moves, view
from domain.redaction import Viewer
from domain.refusals import (
    FORBIDDEN,
    ILLEGAL_MOVE,
    NOT_YOUR_TURN,
    STALE_TURN,
    TURN_EXPIRED,
    Refused,
)
from eventstore.database import Database
from eventstore.errors import GameNotFound
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import Pool, open_pool
from eventstore.positions import Loaded, Positions
from eventstore.store import Store
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, a_request, open_table, with_call


class Trips(Database):
    """Counts how often a connection was used: each time is one round trip."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self.count = 0

    @contextlib.contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection, counted."""
        self.count += 1
        with super().connection() as connection:
            yield connection


@pytest.fixture
def counted(pool: Pool) -> tuple[Executor, Trips]:
    """An executor, and how many round trips it makes."""
    store = Store(pool)
    store.database = trips = Trips(pool)
    return Executor(store), trips


def _named(table: Table, game: Game | None = None) -> MakeMove:
    """A legal move of the seat to move, tied to its turn as legal-moves gives it."""
    game = game or table.game()
    assert game.turn is not None
    player = table.players[game.turn.seat]
    assert player is not None
    moves = legal_moves(game, game.turn.seat)
    return MakeMove(player, with_call(game, moves[0]), game.round, game.turn.number)


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_a_move_is_one_round_trip(counted: tuple[Executor, Trips], ruleset: str) -> None:
    executor, trips = counted
    table = open_table(executor, ruleset, rounds_to_win=1)
    game = table.game()
    for _ in range(20):
        command = _named(table, game)
        trips.count = 0
        game = executor.execute(table.game_id, command).game
        assert trips.count == 1
        if game.over:
            break
    assert differences(game, fold(table.game_id, table.events())) == []


def test_a_read_is_one_round_trip(counted: tuple[Executor, Trips]) -> None:
    executor, trips = counted
    table = open_table(executor)
    cold = Store(executor.store.pool)
    cold.database = trips
    for store in (executor.store, cold, cold):
        trips.count = 0
        assert store.load(table.game_id) is not None
        assert trips.count == 1


def test_an_expiry_and_a_computers_move_are_few(counted: tuple[Executor, Trips]) -> None:
    executor, trips = counted
    table = open_table(executor, "vallelujah", humans=1, bots=("random",))
    game = table.game()
    if game.turn is not None and game.turn.seat == 0:
        game = executor.execute(table.game_id, _named(table)).game
    assert game.turn is not None
    trips.count = 0
    moved = executor.bot_move(
        table.game_id, game.round, game.turn.number, lambda game, seat: legal_moves(game, seat)[0]
    )
    assert moved is not None
    assert trips.count == 2


class TestElsewhere:
    """Somebody else, in another process, has gone on from what this process has seen."""

    @pytest.fixture
    def other(self, scratch: Scratch) -> Iterator[Executor]:
        """An executor as of another process."""
        with open_pool(scratch.app_url, 2) as pool:
            yield Executor(Store(pool))

    def _behind(self, executor: Executor, other: Executor, moves: int = 1) -> Table:
        """A table of which `executor` has not seen the last moves."""
        table = open_table(executor, "vallelujah", rounds_to_win=7)
        elsewhere = Table(other, table.game_id, table.players)
        for _ in range(moves):
            elsewhere.make_move()
        known = executor.store.known(table.game_id)
        assert known is not None
        assert known.game.version < len(table.events())
        return table

    @pytest.mark.parametrize("moves", [1, 2, 5])
    def test_a_move_counts(self, executor: Executor, other: Executor, moves: int) -> None:
        table = self._behind(executor, other, moves)
        command = _named(table, fold(table.game_id, table.events()))
        version = len(table.events())
        assert executor.execute(table.game_id, command).first == version + 1

    def test_a_refusal_is_of_the_newest_position(self, executor: Executor, other: Executor) -> None:
        table = self._behind(executor, other)
        now = fold(table.game_id, table.events())
        assert now.turn is not None
        mover, waiting = (str(table.players[s]) for s in (now.turn.seat, 1 - now.turn.seat))
        wrong = {"type": "lead", "units": ["coral-1"]}
        for player, more, code in (
            (mover, {"round": now.round, "turn": now.turn.number}, ILLEGAL_MOVE),
            (mover, {}, ILLEGAL_MOVE),
            (waiting, {}, NOT_YOUR_TURN),
            (waiting, {"round": now.round, "turn": now.turn.number - 1}, STALE_TURN),
            (uuid7(), {}, FORBIDDEN),
        ):
            with pytest.raises(Refused) as refused:
                executor.execute(table.game_id, MakeMove(player, wrong, **more))
            assert refused.value.code == code

    def test_a_check_that_forbids_is_asked_about_the_newest(
        self, executor: Executor, other: Executor
    ) -> None:
        table = self._behind(executor, other)
        newest = fold(table.game_id, table.events())
        asked: list[int] = []

        def only_the_newest(game: Game) -> None:
            asked.append(game.version)
            if game.version != newest.version:
                raise PermissionError

        executor.execute(table.game_id, _named(table, newest), check=only_the_newest)
        assert asked[-1] == newest.version

    def test_a_move_that_was_made_elsewhere_is_not_made_again(
        self, executor: Executor, other: Executor
    ) -> None:
        table = open_table(executor, "vallelujah")
        command, request = _named(table), a_request()
        first = other.execute(table.game_id, command, idempotency=request)
        again = executor.execute(table.game_id, command, idempotency=request)
        assert again.replayed
        assert again.events == first.events
        with pytest.raises(Refused) as refused:
            executor.execute(table.game_id, command)
        assert refused.value.code == STALE_TURN

    def test_reads_go_on_from_what_is_known(self, executor: Executor, other: Executor) -> None:
        table = self._behind(executor, other, 3)
        loaded = executor.store.load(table.game_id)
        assert loaded is not None
        events = table.events()
        assert (loaded.game.version, loaded.head_hash) == (len(events), events[-1].hash)
        assert differences(loaded.game, fold(table.game_id, events)) == []

    def test_a_table_that_was_filled_elsewhere(self, executor: Executor, other: Executor) -> None:
        table = open_table(executor, start=False)
        third = uuid7()
        other.execute(table.game_id, TakeSeat(third))
        outcome = executor.execute(table.game_id, StartGame(str(table.players[0])))
        assert outcome.game.seat_of(third) == 2


def _seen(game: Game) -> list[Any]:
    viewers = [Viewer(seat) for seat in (None, *game.seats)]
    return [view(game, viewer) for viewer in viewers] + [
        legal_moves(game, seat) for seat in game.seats
    ]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_all_ways_of_loading_agree_at_every_version(
    scratch: Scratch, ruleset: str, seed: int
) -> None:
    """A match whose moves are made by one process or another, after each of which all agree: those
    that keep many positions, one, or none, those that load from the round or all of the record."""
    dice = random.Random(f"{ruleset} {seed}")
    with open_pool(scratch.clocked_url, 4) as pool:
        processes = [Executor(Store(pool, games)) for games in (1000, 1000, 1, 0)]
        table = open_table(
            processes[0], ruleset, humans=3, rounds_to_win=2, away_after=100, pause_seconds=0
        )
        game = table.game()
        for _ in range(60):
            if game.over:
                break
            _go_on(scratch, dice.choice(processes), table, game, dice)
            events = table.events()
            game = fold(table.game_id, events)
            for loaded in (
                Store(pool).load(table.game_id),
                Store(pool).load(table.game_id, whole=True),
                dice.choice(processes).store.load(table.game_id),
            ):
                assert loaded is not None
                assert differences(loaded.game, game) == []
                assert _seen(loaded.game) == _seen(game)
                assert loaded.head_hash == events[-1].hash
            for command in _elsewhen(table, game, dice):
                wanted = _refusal(lambda c=command, g=game: decide(g, c, Context(bytes(32))))
                assert wanted is not None
                for executor in processes:
                    assert wanted == _refusal(
                        lambda e=executor, c=command: e.execute(table.game_id, c)
                    )


def _go_on(
    scratch: Scratch, executor: Executor, table: Table, game: Game, dice: random.Random
) -> None:
    """A turn ends: with a move, or because its time runs out; or its seat resigns."""
    assert game.turn is not None
    mover = game.turn.seat
    player = str(table.players[mover])
    if dice.random() < 0.1:
        scratch.advance(61)
        assert executor.expire(table.game_id, game.round, game.turn.number) is not None
    elif dice.random() < 0.02:
        executor.execute(table.game_id, Resign(player))
    else:
        move = with_call(game, dice.choice(legal_moves(game, mover)))
        named = (game.round, game.turn.number) if dice.random() < 0.7 else ()
        executor.execute(table.game_id, MakeMove(player, move, *named))


def _elsewhen(table: Table, game: Game, dice: random.Random) -> list[MakeMove]:
    """Moves for turns that do not run: some that ran out, any other, of any round."""
    ran_out = sorted((seat, *turn) for seat, turns in game.ran_out.items() for turn in turns)
    turns = dice.sample(ran_out, min(2, len(ran_out)))
    turns.append((dice.choice(list(game.seats)), dice.randint(1, game.round), 99))
    move = {"type": "draw"} if game.ruleset == "halleluja" else {"type": "take"}
    return [MakeMove(str(table.players[seat]), move, *named) for seat, *named in turns]


def _refusal(action: Callable[[], object]) -> tuple[Any, ...] | None:
    try:
        action()
    except Refused as refused:
        return refused.code, refused.detail, refused.rule, refused.facts
    return None


def test_an_earlier_round_is_known_where_a_move_names_it(scratch: Scratch) -> None:
    with open_pool(scratch.clocked_url, 4) as pool:
        executor = Executor(Store(pool))
        table = open_table(executor, "vallelujah", pause_seconds=0, away_after=100, rounds_to_win=7)
        game = table.game()
        assert game.turn is not None
        late = _named(table, game)
        scratch.advance(61)
        assert executor.expire(table.game_id, game.round, game.turn.number) is not None
        while (game := table.game()).round == 1:
            executor.execute(table.game_id, _named(table, game))
        fresh = Executor(Store(pool))
        begun = fresh.store.load(table.game_id)
        assert begun is not None
        assert begun.game.known_from > 1
        with pytest.raises(Refused) as refused:
            fresh.execute(table.game_id, late)
        assert refused.value.code == TURN_EXPIRED
        assert fresh.store.known(table.game_id, since=1) is not None


def test_a_summary_that_is_wrong_does_not_matter(
    scratch: Scratch, pool: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    table = open_table(Executor(Store(pool)), "vallelujah")
    for _ in range(3):
        table.make_move()
    whole = fold(table.game_id, table.events())
    for change in (
        "round_version = round_version + 1",
        "round_version = NULL",
        "started_version = started_version - 1",
        "version = version + 7",
    ):
        scratch.execute(f"UPDATE games SET {change} WHERE game_id = %s", (table.game_id,))
        with caplog.at_level(logging.WARNING):
            loaded = Store(pool).load(table.game_id)
        assert loaded is not None
        assert differences(loaded.game, whole) == []
        assert "summary" in caplog.text
        caplog.clear()
    table.make_move()


def test_a_position_of_another_history_is_given_up(scratch: Scratch, pool: Pool) -> None:
    """As after a restore: this process knows events that the database has otherwise, or not."""
    with scratch_database() as restored, open_pool(restored.app_url, 2) as new_pool:
        for behind in (True, False):
            executor = Executor(Store(pool))
            table = open_table(executor, "vallelujah")
            elsewhere = Executor(Store(new_pool))
            _open_as(elsewhere, table.game_id, table.players)
            there = Table(elsewhere, table.game_id, table.players)
            for _ in range(0 if behind else 3):
                there.make_move()
            for _ in range(3 if behind else 0):
                table.make_move()
            executor.store.pool = new_pool
            executor.store.database = Database(new_pool)
            events = there.events()
            game = fold(table.game_id, events)
            with pytest.raises(Refused):
                executor.execute(table.game_id, MakeMove(uuid7(), {"type": "take"}, 1, 1))
            outcome = executor.execute(table.game_id, _named(there, game))
            assert outcome.first == game.version + 1
            assert there.events()[: len(events)] == events


def test_an_equal_version_of_another_history_is_a_conflict(scratch: Scratch, pool: Pool) -> None:
    """A move that only the other history allows is refused, whatever this process has seen."""
    with scratch_database() as restored, open_pool(restored.app_url, 2) as new_pool:
        refused = 0
        for _ in range(3):
            executor = Executor(Store(pool))
            table = open_table(executor, "vallelujah")
            elsewhere = Executor(Store(new_pool))
            _open_as(elsewhere, table.game_id, table.players)
            there = Table(elsewhere, table.game_id, table.players)
            game, command = there.game(), _named(table)
            assert game.version == table.game().version
            assert game.turn is not None
            executor.store.database = Database(new_pool)
            mover = game.seat_of(command.player_id)
            allowed = mover == game.turn.seat and command.move in legal_moves(game, mover)
            try:
                executor.execute(table.game_id, command)
            except Refused:
                refused += 1
            assert (there.game().version > game.version) == allowed
        assert refused


def _open_as(executor: Executor, game_id: str, players: tuple[str | None, ...]) -> None:
    executor.create(CreateGame(str(players[0]), "vallelujah"), game_id=game_id)
    executor.execute(game_id, TakeSeat(str(players[1])))
    executor.execute(game_id, StartGame(str(players[0])))


class TestKept:
    """The positions themselves."""

    def _at(self, version: int, game_id: str = "a", known_from: int = 1) -> Loaded:
        game = Game(game_id)
        game.version, game.known_from = version, known_from
        return Loaded(game, b"", f"{version:064x}")

    def test_the_least_used_go_first(self) -> None:
        kept = Positions(3)
        for name in "abc":
            kept.keep(self._at(1, name))
        assert kept.get("a") is not None
        kept.keep(self._at(1, "d"))
        assert [name for name in "abcd" if kept.get(name)] == ["a", "c", "d"]
        assert len(kept) == 3

    def test_none_are_kept(self) -> None:
        kept = Positions(0)
        kept.keep(self._at(1))
        assert kept.get("a") is None

    def test_the_latest_stays(self) -> None:
        kept = Positions()
        for version in (3, 5, 4):
            kept.keep(self._at(version))
        known = kept.get("a")
        assert known is not None
        assert known.game.version == 5

    def test_what_knows_earlier_rounds_is_better(self) -> None:
        kept = Positions()
        for known_from in (3, 1, 2):
            kept.keep(self._at(5, known_from=known_from))
        known = kept.get("a")
        assert known is not None
        assert known.game.known_from == 1

    def test_only_what_was_meant_is_forgotten(self) -> None:
        kept = Positions()
        kept.keep(self._at(1))
        old = kept.get("a")
        assert old is not None
        kept.keep(self._at(2))
        kept.forget(old)
        assert kept.get("a") is not None
        newest = kept.get("a")
        assert newest is not None
        kept.forget(newest)
        assert kept.get("a") is None

    def test_a_position_is_never_changed(self, executor: Executor) -> None:
        table = open_table(executor, "vallelujah")
        known = executor.store.known(table.game_id)
        assert known is not None
        before = fold(table.game_id, table.events())
        for _ in range(5):
            table.make_move()
        with pytest.raises(Refused):
            executor.execute(table.game_id, MakeMove(table.waiting(), {"type": "take"}))
        assert differences(known.game, before) == []

    def test_secrets_do_not_show(self, executor: Executor) -> None:
        table = open_table(executor)
        known = executor.store.known(table.game_id)
        assert known is not None
        assert repr(known.secret) not in repr(known)
        assert known.secret.hex() not in repr(known)


def test_many_threads_share_the_positions(pool: Pool) -> None:
    executor = Executor(Store(pool, games=2))
    tables = [open_table(executor, "vallelujah") for _ in range(4)]
    failed: list[BaseException] = []

    def play(table: Table) -> None:
        try:
            for _ in range(8):
                executor.execute(table.game_id, _named(table))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=play, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert len(executor.store.positions) <= 2
    for table in tables:
        assert differences(table.game(), fold(table.game_id, table.events())) == []


def test_a_game_that_is_nowhere(executor: Executor) -> None:
    with pytest.raises(GameNotFound):
        executor.execute(uuid7(), MakeMove(uuid7(), {"type": "draw"}, 1, 1))
