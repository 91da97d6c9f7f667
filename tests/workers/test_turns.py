"""Due turns and bots' moves, settled by one healthy node."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from domain.commands import MakeMove, Resign
from domain.times import to_micros
from eventstore.executor import Executor
from tests.workers.conftest import Nodes
from tests.workers.servers import Node, valkey, wait_for
from tests.workers.tables import TURN_SECONDS, Match, lateness, move_of, start_match

SOON = TURN_SECONDS + 4


@pytest.fixture(scope="module")
def node(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    folder: Path = tmp_path_factory.mktemp("healthy")
    running = Nodes(database_url, folder)
    with valkey() as server:
        healthy = running("healthy", server.url)
        healthy.wait_until_up()
        yield healthy
        running.end()


def expired(match: Match, times: int = 1) -> bool:
    return len(match.expiries()) >= times


def test_turns_whose_time_ran_out_are_played_by_the_pool(executor: Executor, node: Node) -> None:
    tasks = node.output().count("succeeded")
    matches = [start_match(executor) for _ in range(10)]
    wait_for(lambda: all(map(expired, matches)), SOON, "turns expire")
    print(lateness(matches))
    assert max(each.late for match in matches for each in match.expiries()) < 1
    assert node.output().count("succeeded") > tasks
    for match in matches:
        turn = match.game().turn
        assert turn is not None
        assert turn.number > 1, "the expired turn was played to its end"


def test_an_exclamation_in_between_makes_no_expiry_stale(executor: Executor, node: Node) -> None:
    match = start_match(executor, ruleset="halleluja")
    turn = match.game().turn
    assert turn is not None
    waiting = match.players[1 - turn.seat]
    assert waiting is not None
    time.sleep(TURN_SECONDS - 0.5)
    executor.execute(match.game_id, MakeMove(waiting, {"type": "exclaim", "word": "mau"}))
    wait_for(lambda: expired(match), SOON, "the turn expires")
    first = match.expiries()[0]
    assert (first.round, first.turn, first.seat) == (1, turn.number, turn.seat)
    assert first.late < 1
    types = [event.type for event in match.events()]
    assert types.index("word.exclaimed") < types.index("turn.expired")


def test_a_resignation_of_another_seat_makes_no_expiry_stale(
    executor: Executor, node: Node
) -> None:
    match = start_match(executor, humans=3)
    turn = match.game().turn
    assert turn is not None
    leaving = match.players[(turn.seat + 1) % 3]
    assert leaving is not None
    time.sleep(TURN_SECONDS - 0.5)
    executor.execute(match.game_id, Resign(leaving))
    wait_for(lambda: expired(match), SOON, "the turn expires")
    assert match.expiries()[0].late < 1


def test_a_move_in_time_is_not_followed_by_an_expiry(executor: Executor, node: Node) -> None:
    match = start_match(executor)
    game = match.game()
    assert game.turn is not None
    seat = game.turn.seat
    time.sleep(TURN_SECONDS - 0.5)
    executor.execute(match.game_id, move_of(match, game, seat))
    time.sleep(1)
    assert match.expiries() == []
    wait_for(lambda: expired(match), SOON, "the next turn expires")
    assert match.expiries()[0].seat != seat


def test_a_lost_claim_is_settled_when_its_lease_has_run_out(executor: Executor, node: Node) -> None:
    """A claimer that takes rows and is never heard of again delays them by its lease, no more."""
    lease = 2.0
    store = executor.store
    match = start_match(executor)
    claimed = False
    while not claimed:
        claimed = match.game_id in {due.game_id for due in store.claim_due(100, lease)}
        assert match.expiries() == [], "the node was faster than this test"
    wait_for(lambda: expired(match), lease + 3, "the lost claim is settled")
    late = match.expiries()[0].late
    print(f"a lost claim with a lease of {lease} s: settled {late:.3f} s late")
    assert lease - 0.1 <= late < lease + 1.2


def test_bots_play_on_until_no_human_is_left(executor: Executor, node: Node) -> None:
    match = start_match(
        executor, humans=1, bots=("random", "greedy", "random", "greedy"), away_after=1
    )
    wait_for(match.over, 30, "the match ends")
    assert match.game().status == "abandoned"
    assert match.bot_moves()
    assert len(match.expiries()) == 1, "the human's turn was the only one that ran out"


def test_a_bot_moves_a_little_after_a_human_would_see_its_turn(
    executor: Executor, node: Node
) -> None:
    match = start_match(executor, humans=1, bots=("greedy",), turn_seconds=60)
    if (game := match.game()).turn is not None and game.turn.seat == 0:
        executor.execute(match.game_id, move_of(match, game, 0))
    wait_for(lambda: match.bot_moves(), 10, "the bot moves")
    move = match.bot_moves()[0]
    before = match.events()[move.version - 2]
    seconds = (to_micros(move.at) - to_micros(before.at)) / 1e6
    print(f"a bot moved after {seconds:.3f} s")
    assert 0.5 < seconds < 3
