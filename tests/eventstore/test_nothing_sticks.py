"""Whatever state a match is in when its time runs out, it goes on or ends, and its deadlines are
those of the turn that runs."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from domain.commands import ComeBack, CreateGame, MakeMove, Resign, StartGame, TakeSeat
from domain.game import Game, legal_moves
from domain.refusals import Refused
from eventstore import batches
from eventstore.chain import verify
from eventstore.deadlines import Deadlines, Due
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.sql import RFC3339
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import Table, open_table, with_call


class Turn(NamedTuple):
    game_id: str
    round: int
    turn: int


@pytest.fixture
def clocked(scratch: Scratch) -> Iterator[Executor]:
    """An executor on a clock that the test moves, with no deadline but the test's own."""
    forget = "DELETE FROM deadlines; DELETE FROM service_time; DELETE FROM outages"
    scratch.execute(forget)
    with open_pool(scratch.clocked_url, 4) as pool:
        yield Executor(Store(pool))
    scratch.execute(forget)


def rows(scratch: Scratch, table: Table) -> dict[str, tuple[int, int, str]]:
    """The deadlines of a match by their kind."""
    found = scratch.execute(
        f"SELECT kind, round, turn, to_char(due_at AT TIME ZONE 'UTC', '{RFC3339}')"
        " FROM deadlines WHERE game_id = %s",
        (table.game_id,),
    )
    return {kind: (round_number, turn, due_at) for kind, round_number, turn, due_at in found}


def check(scratch: Scratch, table: Table) -> Game:
    """The match as it stands: a turn runs and is due at the time that the record gives, or the
    match is over and nothing is due."""
    game = table.game()
    assert verify(table.events(), game_id=table.game_id) is None
    found = rows(scratch, table)
    if game.over:
        assert game.turn is None
        assert found == {}
        return game
    turn = game.turn
    assert turn is not None
    assert turn.seat in game.active
    assert legal_moves(game, turn.seat), "the seat to move has a move"
    assert found["turn"] == (game.round, turn.number, game.due_at)
    if game.seats[turn.seat].bot is not None and turn.seat not in game.away:
        assert found["bot"][:2] == (game.round, turn.number)
    else:
        assert "bot" not in found
    return game


def run_out(scratch: Scratch, table: Table, executor: Executor) -> Game:
    """The running turn's time runs out."""
    game = table.game()
    assert game.turn is not None
    scratch.advance(game.due_seconds + 1)
    due = Turn(table.game_id, game.round, game.turn.number)
    settled = batches.expire(executor, [due])
    if settled.left:
        assert executor.expire(*due) is not None
    after = check(scratch, table)
    assert (after.round, after.turn) != (game.round, game.turn)
    return after


def play_until(
    executor: Executor, table: Table, wanted: Callable[[Game], bool], dice: random.Random
) -> bool:
    """Random moves until the match is so; False if it ended before."""
    for _ in range(400):
        game = table.game()
        if game.over:
            return False
        if wanted(game):
            return True
        assert game.turn is not None
        player = table.players[game.turn.seat]
        assert player is not None
        move = with_call(game, dice.choice(legal_moves(game, game.turn.seat)))
        executor.execute(table.game_id, MakeMove(player, move))
    return False


def a_drawn_card(game: Game) -> bool:
    return game.turn is not None and any(
        move["type"] == "keep" for move in legal_moves(game, game.turn.seat)
    )


def a_pending_draw(game: Game) -> bool:
    return bool(game.turn and game.play.pending)


def a_wish(game: Game) -> bool:
    return bool(game.turn and game.play.wish)


def a_new_round(game: Game) -> bool:
    return game.round > 1 and game.turn is not None and game.turn.number == 1


@pytest.mark.parametrize(
    ("ruleset", "wanted", "options"),
    [
        ("halleluja", a_drawn_card, {}),
        ("halleluja", a_pending_draw, {"annoyed_stacks": True}),
        ("halleluja", a_wish, {}),
        ("halleluja", a_new_round, {"rounds_to_win": 3}),
        ("vallelujah", a_new_round, {"rounds_to_win": 3}),
    ],
)
def test_time_runs_out_in_the_middle(
    scratch: Scratch,
    clocked: Executor,
    ruleset: str,
    wanted: Callable[[Game], bool],
    options: dict[str, Any],
) -> None:
    dice = random.Random(f"{ruleset} {wanted.__name__}")
    for _ in range(30):
        table = open_table(clocked, ruleset, away_after=100, **options)
        if play_until(clocked, table, wanted, dice):
            break
    else:
        raise AssertionError("no match came to that state")
    run_out(scratch, table, clocked)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_whatever_happens_a_match_goes_on_to_its_end(
    scratch: Scratch, clocked: Executor, ruleset: str, seed: int
) -> None:
    """Moves, exclamations, resignations, returns, bots and expiries in any order."""
    dice = random.Random(f"{ruleset} {seed}")
    table = open_table(
        clocked,
        ruleset,
        humans=2 + seed % 2,
        bots=("random", "greedy")[: seed % 3],
        away_after=1 + seed,
        **({"annoyed_stacks": True} if ruleset == "halleluja" else {}),
    )

    def bots_choice(game: Game, seat: int) -> dict[str, Any]:
        return with_call(game, dice.choice(legal_moves(game, seat)))

    game = check(scratch, table)
    for _ in range(60):
        if game.over:
            break
        assert game.turn is not None
        turn = (table.game_id, game.round, game.turn.number)
        player = table.players[game.turn.seat]
        anyone = dice.choice([each for each in table.players if each is not None])
        what = dice.random()
        with contextlib.suppress(Refused):
            if what < 0.4 and player is not None:
                clocked.execute(table.game_id, MakeMove(player, bots_choice(game, game.turn.seat)))
            elif what < 0.4:
                clocked.bot_move(*turn, bots_choice)
            elif what < 0.5 and ruleset == "halleluja":
                clocked.execute(table.game_id, MakeMove(anyone, {"type": "exclaim", "word": "mau"}))
            elif what < 0.55:
                clocked.execute(table.game_id, ComeBack(anyone))
            elif what < 0.57:
                clocked.execute(table.game_id, Resign(anyone))
            else:
                run_out(scratch, table, clocked)
        game = check(scratch, table)
    for _ in range(400):
        if game.over:
            break
        game = run_out(scratch, table, clocked)
    assert game.over, "when nobody moves any more a match ends"


def test_a_bots_turn_runs_out_like_any_other(scratch: Scratch, clocked: Executor) -> None:
    table = open_table(clocked, "vallelujah", humans=1, bots=("greedy",), away_after=1)
    game = table.game()
    assert game.turn is not None
    if game.turn.seat == 0:
        table.make_move()
    game = run_out(scratch, table, clocked)
    assert 1 in game.away, "a bot can be away"
    assert not game.over
    assert run_out(scratch, table, clocked).status == "abandoned", "no human is left"


def test_a_seat_that_resigns_as_its_time_runs_out(scratch: Scratch, clocked: Executor) -> None:
    table = open_table(clocked, "vallelujah", humans=3)
    game = table.game()
    assert game.turn is not None
    due = Turn(table.game_id, game.round, game.turn.number)
    mover = table.mover()
    scratch.advance(game.due_seconds + 1)
    clocked.execute(table.game_id, Resign(mover))
    types = [event.type for event in table.events()]
    assert types.index("turn.expired") < types.index("seat.resigned")
    assert clocked.expire(*due) is None
    check(scratch, table)
    other = open_table(clocked, "vallelujah", humans=3)
    game = other.game()
    assert game.turn is not None
    clocked.execute(other.game_id, Resign(other.mover()))
    assert clocked.expire(other.game_id, game.round, game.turn.number) is None
    check(scratch, other)


@pytest.mark.parametrize("seconds", [3, 14 * 24 * 3600])
def test_the_shortest_and_the_longest_turn(
    scratch: Scratch, clocked: Executor, seconds: int
) -> None:
    table = open_table(clocked, "vallelujah", turn_seconds=seconds, pause_seconds=0)
    deadlines = Deadlines(clocked.store.pool)
    scratch.advance(seconds - 2)
    assert deadlines.claim(10, 5) == []
    wait = deadlines.wait()
    assert wait is not None
    assert 0 < wait <= 2
    scratch.advance(2.5)
    claimed = deadlines.claim(10, 5)
    assert claimed is not None
    (due,) = claimed
    assert isinstance(due, Due)
    # Any process takes over, with nothing known before.
    other = Executor(Store(clocked.store.pool))
    outcome = other.expire(due.game_id, due.round, due.turn)
    assert outcome is not None
    assert outcome.events[0].data["due_at"] == due.due_at
    assert check(scratch, table).due_seconds == seconds


@pytest.mark.parametrize("seconds", [0, 2, 14 * 24 * 3600 + 1])
def test_no_other_turn_is_shorter_or_longer(clocked: Executor, seconds: int) -> None:
    with pytest.raises(Refused) as refused:
        clocked.create(CreateGame(uuid7(), "halleluja", {}, seconds))
    assert refused.value.errors[0]["field"] == "turn_seconds"


def test_a_table_whose_humans_are_all_away_ends(scratch: Scratch, clocked: Executor) -> None:
    players = [uuid7(), uuid7()]
    game_id = clocked.create(CreateGame(players[0], "vallelujah", {"away_after": 2})).game.game_id
    clocked.execute(game_id, TakeSeat(players[1]))
    clocked.execute(game_id, StartGame(players[0]))
    table = Table(clocked, game_id, tuple(players))
    for _ in range(10):
        if run_out(scratch, table, clocked).over:
            break
    assert table.game().status == "abandoned"
    assert rows(scratch, table) == {}
