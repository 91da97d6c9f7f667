"""Many threads at the same time, on a real database."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from domain.commands import CreateGame, MakeMove, Resign, TakeSeat
from domain.game import Game
from domain.refusals import ILLEGAL_MOVE, NOT_YOUR_TURN, STALE_TURN, Refused
from eventstore.executor import Executor, Outcome
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import Table, a_request, open_table

THREADS = 32


@pytest.fixture(scope="module")
def crowd(scratch: Scratch) -> Iterator[Executor]:
    """An executor with a connection for each thread."""
    with open_pool(scratch.app_url, THREADS) as pool:
        pool.resize(THREADS)
        pool.wait()
        yield Executor(Store(pool))


def race(
    count: int, action: Callable[[int, Callable[[Game], None]], Outcome]
) -> list[Outcome | Refused]:
    """What `action` gives in `count` threads. Each is handed a check that waits, in its first
    look at the game, for the others to have looked as well."""
    barrier = threading.Barrier(count, timeout=30)

    def one(number: int) -> Outcome | Refused:
        looked = False

        def check(game: Game) -> None:
            nonlocal looked
            if not looked:
                looked = True
                barrier.wait()

        try:
            return action(number, check)
        except Refused as refused:
            return refused

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(one, range(count)))


def _split(results: list[Outcome | Refused]) -> tuple[list[Outcome], list[Refused]]:
    outcomes = [result for result in results if isinstance(result, Outcome)]
    return outcomes, [result for result in results if isinstance(result, Refused)]


@pytest.mark.parametrize("named", [False, True], ids=["unnamed", "named"])
@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_of_equal_moves_one_wins(crowd: Executor, ruleset: str, named: bool) -> None:
    table = open_table(crowd, ruleset)
    game = table.game()
    assert game.turn is not None
    where = (game.round, game.turn.number) if named else (None, None)
    command = MakeMove(table.mover(), table.a_move(), *where)
    outcomes, refused = _split(
        race(THREADS, lambda _, check: crowd.execute(table.game_id, command, check=check))
    )
    assert len(outcomes) == 1
    # A turn that goes on, as after a draw, judges an equal move that names it once more.
    codes = {STALE_TURN, NOT_YOUR_TURN} | ({ILLEGAL_MOVE} if named else set())
    assert {each.code for each in refused} <= codes
    assert table.events()[game.version :] == outcomes[0].events


def test_with_one_key_all_get_the_same_answer(crowd: Executor) -> None:
    table, request = open_table(crowd), a_request()
    version = table.game().version
    command = MakeMove(table.mover(), table.a_move())

    def move(_: int, check: Callable[[Game], None]) -> Outcome:
        return crowd.execute(table.game_id, command, check=check, idempotency=request)

    outcomes, refused = _split(race(THREADS, move))
    assert refused == []
    assert len(outcomes) == THREADS
    assert sum(not outcome.replayed for outcome in outcomes) == 1
    answers = {
        (
            outcome.first,
            outcome.last,
            outcome.head_hash,
            outcome.game.version,
            outcome.game.due_at,
            str(outcome.events),
        )
        for outcome in outcomes
    }
    assert len(answers) == 1
    assert table.events()[version:] == outcomes[0].events


def test_with_one_key_nothing_to_do_is_said_alike(crowd: Executor) -> None:
    table, request = open_table(crowd, humans=3), a_request()
    quitter = str(table.players[2])
    crowd.execute(table.game_id, Resign(quitter))

    def resign(_: int, check: Callable[[Game], None]) -> Outcome:
        return crowd.execute(table.game_id, Resign(quitter), check=check, idempotency=request)

    outcomes, refused = _split(race(8, resign))
    assert refused == []
    assert {(each.first, each.last, each.events == []) for each in outcomes} == {
        (outcomes[0].first, outcomes[0].last, True)
    }


def test_with_one_key_one_table_is_opened(scratch: Scratch, crowd: Executor) -> None:
    request, player = a_request(), uuid7()
    barrier = threading.Barrier(THREADS, timeout=30)

    def create(_: int) -> Outcome:
        barrier.wait()
        return crowd.create(CreateGame(player, "halleluja"), idempotency=request)

    with ThreadPoolExecutor(THREADS) as threads:
        outcomes = list(threads.map(create, range(THREADS)))
    assert len({outcome.game.game_id for outcome in outcomes}) == 1
    assert len({str(outcome.events) for outcome in outcomes}) == 1
    assert scratch.execute("SELECT count(*) FROM seats WHERE player_id = %s", (player,)) == [(1,)]


def test_an_exclamation_between_does_not_cost_the_move(crowd: Executor) -> None:
    table = open_table(crowd)
    mover, waiting, move = table.mover(), table.waiting(), table.a_move()
    looks: list[int] = []

    def exclaim_first(game: Game) -> None:
        looks.append(game.version)
        if len(looks) == 1:
            word = {"type": "exclaim", "word": "mau"}
            crowd.execute(table.game_id, MakeMove(waiting, word))

    outcome = crowd.execute(table.game_id, MakeMove(mover, move), check=exclaim_first)
    assert len(looks) == 2
    assert looks[1] > looks[0]
    assert outcome.first == looks[1] + 1


def test_a_move_that_came_between_does(crowd: Executor) -> None:
    table = open_table(crowd)
    looks: list[int] = []

    def move_first(game: Game) -> None:
        looks.append(game.version)
        if len(looks) == 1:
            table.make_move()

    version = table.game().version
    with pytest.raises(Refused) as refused:
        crowd.execute(table.game_id, MakeMove(table.mover(), table.a_move()), check=move_first)
    assert refused.value.code in (STALE_TURN, NOT_YOUR_TURN)
    types = [event.type for event in table.events()[version:]]
    assert len(looks) == 2
    assert types.count("card.played") + types.count("cards.drawn") >= 1


def test_of_equal_exclamations_one_is_heard(crowd: Executor) -> None:
    table = open_table(crowd)
    command = MakeMove(table.waiting(), {"type": "exclaim", "word": "mau"})
    outcomes, _ = _split(
        race(8, lambda _, check: crowd.execute(table.game_id, command, check=check))
    )
    assert len(outcomes) == 1
    types = [event.type for event in table.events()]
    assert types.count("word.exclaimed") == 1


def test_everyone_sits_down_on_a_seat_of_their_own(crowd: Executor) -> None:
    table = open_table(crowd, "vallelujah", start=False, humans=1)
    players = [uuid7() for _ in range(8)]
    results = race(
        8,
        lambda n, check: crowd.execute(table.game_id, TakeSeat(players[n]), check=check),
    )
    outcomes, refused = _split(results)
    assert len(outcomes) == 5
    assert {each.code for each in refused} == {"table-full"}
    seats = table.game().seats
    assert sorted(seats) == [0, 1, 2, 3, 4, 5]
    assert len({seat.player_id for seat in seats.values()}) == 6


def test_a_turn_expires_once(scratch: Scratch) -> None:
    with open_pool(scratch.clocked_url, 16) as pool:
        executor = Executor(Store(pool))
        table = open_table(executor, pause_seconds=0)
        game = table.game()
        assert game.turn is not None
        mover, move = table.mover(), table.a_move()
        scratch.advance(61)
        named = (game.round, game.turn.number)

        def settle(number: int) -> Any:
            try:
                if number % 2:
                    return executor.expire(table.game_id, *named)
                return executor.execute(table.game_id, MakeMove(mover, move, *named))
            except Refused as refused:
                return refused.code

        with ThreadPoolExecutor(16) as threads:
            results = list(threads.map(settle, range(16)))
        assert sum(isinstance(result, Outcome) for result in results) <= 1
        assert {result for result in results if isinstance(result, str)} == {"turn-expired"}
        types = [event.type for event in table.events()]
        assert types.count("turn.expired") == 1


def test_many_games_at_once_keep_their_chains(crowd: Executor) -> None:
    tables: list[Table] = [open_table(crowd, "vallelujah") for _ in range(8)]

    def play(table: Table) -> None:
        for _ in range(10):
            table.make_move()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(play, tables))
    for table in tables:
        versions = [event.version for event in table.events()]
        assert versions == list(range(1, len(versions) + 1))
        assert table.game().turn is not None
