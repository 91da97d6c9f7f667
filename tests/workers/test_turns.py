"""Due turns and bots' moves, settled by one healthy node."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from domain.commands import MakeMove, Resign
from domain.times import to_micros
from eventstore.executor import Executor
from tests.databases import Scratch
from tests.workers.conftest import running_nodes
from tests.workers.servers import Node, wait_for
from tests.workers.tables import TURN_SECONDS, Match, Matches, lateness, move_of
from workers.settings import LEASE_SECONDS

SOON = TURN_SECONDS + 6
PROMPT = LEASE_SECONDS - 1


@pytest.fixture(scope="module")
def node(
    scratch: Scratch, broker_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Node]:
    """A node that nothing happens to."""
    with running_nodes(scratch, tmp_path_factory.mktemp("healthy")) as nodes:
        healthy = nodes("healthy", broker_url)
        healthy.wait_until_up()
        yield healthy


def expired(match: Match, times: int = 1) -> bool:
    return len(match.expiries()) >= times


def test_turns_whose_time_ran_out_are_played_by_the_pool(
    executor: Executor, matches: Matches, node: Node
) -> None:
    tasks = node.output().count("succeeded")
    played = [matches.start() for _ in range(10)]
    wait_for(lambda: all(map(expired, played)), SOON, "turns expire")
    print(lateness(played))
    assert max(each.late for match in played for each in match.expiries()) < PROMPT
    assert node.output().count("succeeded") > tasks
    for match in played:
        turn = match.game().turn
        assert turn is not None
        assert turn.number > 1, "the expired turn was played to its end"


def test_an_exclamation_in_between_makes_no_expiry_stale(
    executor: Executor, matches: Matches, node: Node
) -> None:
    match = matches.start(ruleset="halleluja")
    turn = match.game().turn
    assert turn is not None
    waiting = match.players[1 - turn.seat]
    assert waiting is not None
    time.sleep(TURN_SECONDS - 0.5)
    executor.execute(match.game_id, MakeMove(waiting, {"type": "exclaim", "word": "mau"}))
    wait_for(lambda: expired(match), SOON, "the turn expires")
    first = match.expiries()[0]
    assert (first.round, first.turn, first.seat) == (1, turn.number, turn.seat)
    assert first.late < PROMPT
    types = [event.type for event in match.events()]
    assert types.index("word.exclaimed") < types.index("turn.expired")


def test_a_resignation_of_another_seat_makes_no_expiry_stale(
    executor: Executor, matches: Matches, node: Node
) -> None:
    match = matches.start(humans=3)
    turn = match.game().turn
    assert turn is not None
    leaving = match.players[(turn.seat + 1) % 3]
    assert leaving is not None
    time.sleep(TURN_SECONDS - 0.5)
    executor.execute(match.game_id, Resign(leaving))
    wait_for(lambda: expired(match), SOON, "the turn expires")
    assert match.expiries()[0].late < PROMPT


def test_a_move_in_time_is_not_followed_by_an_expiry(
    executor: Executor, matches: Matches, node: Node
) -> None:
    match = matches.start()
    game = match.game()
    assert game.turn is not None
    seat = game.turn.seat
    time.sleep(TURN_SECONDS - 0.5)
    executor.execute(match.game_id, move_of(match, game, seat))
    time.sleep(1)
    assert match.expiries() == []
    wait_for(lambda: expired(match), SOON, "the next turn expires")
    assert match.expiries()[0].seat != seat


def test_bots_play_on_until_no_human_is_left(
    executor: Executor, matches: Matches, node: Node
) -> None:
    match = matches.start(humans=1, bots=("random", "greedy", "random", "greedy"), away_after=1)
    if (game := match.game()).turn is not None and game.turn.seat == 0:
        executor.execute(match.game_id, move_of(match, game, 0))
    wait_for(match.over, 30, "the match ends")
    assert match.game().status == "abandoned"
    assert match.bot_moves()
    assert len(match.expiries()) == 1, "the human's turn was the only one that ran out"


def test_a_bot_moves_a_little_after_a_human_would_see_its_turn(
    executor: Executor, matches: Matches, node: Node
) -> None:
    match = matches.start(humans=1, bots=("greedy",), turn_seconds=60)
    if (game := match.game()).turn is not None and game.turn.seat == 0:
        executor.execute(match.game_id, move_of(match, game, 0))
    wait_for(match.bot_moves, 10, "the bot moves")
    move = match.bot_moves()[0]
    before = match.events()[move.version - 2]
    seconds = (to_micros(move.at) - to_micros(before.at)) / 1e6
    print(f"a bot moved after {seconds:.3f} s")
    assert 0.5 < seconds < 3
