"""Many due turns together: as each alone, whatever happens to one of them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
import pytest

from domain.commands import MakeMove
from eventstore import batches
from eventstore.appending import Append
from eventstore.chain import verify
from eventstore.deadlines import Deadlines
from eventstore.errors import OutOfService
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.pool import Pool, open_pool
from eventstore.service import Service
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import Table, open_table
from tests.workers.servers import wait_for


class Turn(NamedTuple):
    game_id: str
    round: int
    turn: int
    kind: str = "turn"


@pytest.fixture
def clock(scratch: Scratch) -> Iterator[Pool]:
    """Connections on a clock that the test moves, with no deadline but the test's own."""
    forget = "DELETE FROM deadlines; DELETE FROM service_time; DELETE FROM outages"
    scratch.execute(forget)
    with open_pool(scratch.clocked_url, 8) as pool:
        yield pool
    scratch.execute(forget)


@pytest.fixture
def player(clock: Pool) -> Executor:
    """Where moves are made: another process than the worker's."""
    return Executor(Store(clock))


@pytest.fixture
def worker(clock: Pool) -> Executor:
    return Executor(Store(clock))


def tables(executor: Executor, count: int) -> list[Table]:
    rulesets = ("halleluja", "vallelujah")
    opened = [open_table(executor, rulesets[n % 2], pause_seconds=0) for n in range(count)]
    return sorted(opened, key=lambda table: table.game_id)


def running(table: Table) -> Turn:
    game = table.game()
    assert game.turn is not None
    return Turn(table.game_id, game.round, game.turn.number)


def expiries(table: Table) -> int:
    events = table.events()
    assert verify(events, game_id=table.game_id) is None
    return sum(event.type == "turn.expired" for event in events)


def test_all_of_them_expire_and_go_on(scratch: Scratch, player: Executor, worker: Executor) -> None:
    played = tables(player, 7)
    for times in range(1, 4):
        scratch.advance(61)
        dues = [running(table) for table in played]
        settled = batches.expire(worker, dues)
        assert [due for due, _ in settled.expired] == dues
        assert settled.left == settled.idle == settled.extended == []
        for table, (_, outcome) in zip(played, settled.expired, strict=True):
            assert outcome.events[0].type == "turn.expired"
            assert outcome.game.version == table.game().version == outcome.last
            assert outcome.game.due_at == table.game().due_at
            assert expiries(table) == times
    assert Deadlines(worker.store.pool).claim(100, 5) == []
    scratch.advance(61)
    claimed: set[str] = set()

    def all_claimed() -> bool:
        dues = Deadlines(worker.store.pool).claim(100, 5)
        claimed.update(due.game_id for due in dues or ())
        return claimed == {table.game_id for table in played if table.game().turn is not None}

    wait_for(all_claimed, 30, "every running turn is due again")


def test_one_game_that_cannot_be_settled_holds_up_no_other(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    played = tables(player, 4)
    scratch.advance(61)
    dues = [running(table) for table in played]
    gone, broken = Turn(uuid7(), 1, 1), dues[0]
    scratch.execute(
        "UPDATE games SET round_version = round_version + 1 WHERE game_id = %s", (broken.game_id,)
    )
    settled = batches.expire(worker, [*dues, gone])
    assert {due for due, _ in settled.expired} == set(dues[1:])
    assert set(settled.left) == {broken, gone}
    scratch.execute(
        "UPDATE games SET round_version = round_version - 1 WHERE game_id = %s", (broken.game_id,)
    )
    assert worker.expire(*broken[:3]) is not None


def test_whoever_moved_in_time_is_left_alone(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    played = tables(player, 3)
    scratch.advance(61)
    batches.expire(worker, [running(table) for table in played])
    dues = [running(table) for table in played]
    table = played[1]
    player.execute(table.game_id, MakeMove(table.mover(), table.a_move()))
    scratch.advance(61)
    settled = batches.expire(worker, dues)
    assert [due for due, _ in settled.expired] == [dues[0], dues[2]]
    assert settled.left == [dues[1]], "what the worker knew was no longer so"
    assert worker.expire(*dues[1][:3]) is None
    assert [expiries(table) for table in played] == [2, 1, 2]


def test_turns_that_no_longer_run_are_told_apart_and_their_rows_removed(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    played = tables(player, 4)
    scratch.advance(61)
    dues = [running(table) for table in played]
    batches.expire(worker, dues[:2])
    player.execute(played[1].game_id, MakeMove(played[1].mover(), played[1].a_move()))
    leftover = dues[0]
    scratch.execute(
        "UPDATE deadlines SET round = %s, turn = %s WHERE game_id = %s AND kind = 'turn'",
        (leftover.round, leftover.turn, leftover.game_id),
    )
    settled = batches.expire(worker, dues)
    assert settled.stale == dues[:2]
    assert {due for due, _ in settled.expired} == set(dues[2:])
    assert settled.left == settled.idle == []
    assert [expiries(table) for table in played] == [1] * 4
    kept = {game_id for (game_id,) in scratch.execute("SELECT game_id::text FROM deadlines")}
    assert kept == {table.game_id for table in played[1:]}, "only what no turn has is removed"


def test_what_is_not_due_is_not_touched(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    played = tables(player, 2)
    scratch.advance(30)
    dues = [running(table) for table in played]
    settled = batches.expire(worker, dues)
    assert settled.idle == dues
    assert [expiries(table) for table in played] == [0, 0]


def test_nodes_with_the_same_turns_settle_each_once(
    scratch: Scratch, player: Executor, clock: Pool
) -> None:
    played = tables(player, 10)
    scratch.advance(61)
    dues = [running(table) for table in played]
    workers = [Executor(Store(clock)) for _ in range(4)]

    def settle(worker: Executor) -> int:
        settled = batches.expire(worker, dues)
        alone = [worker.expire(*due[:3]) for due in settled.left]
        return len(settled.expired) + sum(outcome is not None for outcome in alone)

    with ThreadPoolExecutor(4) as nodes:
        assert sum(nodes.map(settle, workers)) == len(dues)
    assert [expiries(table) for table in played] == [1] * 10


@contextmanager
def refused(*spoiled: int) -> Iterator[list[str]]:
    """The database refuses the appends of these games of the first batch, counted from 0."""
    sent: list[str] = []
    parameters = Append.parameters

    def parameters_or_worse(append: Append) -> dict[str, object]:
        sent.append(append.game_id)
        games = sorted(set(sent))
        good = parameters(append)
        bad = games.index(append.game_id) in spoiled
        return {**good, "clock": "set", "round": None} if bad else good

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Append, "parameters", parameters_or_worse)
        yield sent


def test_what_the_database_refuses_holds_up_no_other(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    played = tables(player, 6)
    scratch.advance(61)
    dues = [running(table) for table in played]
    with refused(0, 3, 5):
        settled = batches.expire(worker, dues)
    bad = [dues[n] for n in (0, 3, 5)]
    assert {due for due, _ in settled.expired} == {due for due in dues if due not in bad}
    assert settled.left == bad
    assert [expiries(table) for table in played] == [0, 1, 1, 0, 1, 0]
    assert all(worker.expire(*due[:3]) is not None for due in bad)


def test_a_batch_of_which_much_is_refused_is_left_whole(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    count = batches.MOST_LEFT_OUT + 3
    played = tables(player, count)
    scratch.advance(61)
    dues = [running(table) for table in played]
    with refused(*range(count)) as sent:
        settled = batches.expire(worker, dues)
    assert settled.expired == []
    assert settled.left == dues
    assert [expiries(table) for table in played] == [0] * count
    assert len(sent) <= count * (batches.MOST_LEFT_OUT + 1)


def test_a_locked_game_holds_up_no_other(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    played = tables(player, 4)
    scratch.advance(61)
    dues = [running(table) for table in played]
    with psycopg.connect(scratch.admin_url) as somebody:
        somebody.execute("SELECT 1 FROM games WHERE game_id = %s FOR UPDATE", (played[2].game_id,))
        settled = batches.expire(worker, dues)
        assert settled.left == [dues[2]]
        assert [expiries(table) for table in played] == [1, 1, 0, 1]
    assert worker.expire(*dues[2][:3]) is not None


def test_a_lease_that_runs_out_in_the_middle_of_a_batch(
    scratch: Scratch, player: Executor, worker: Executor, clock: Pool
) -> None:
    """A node hangs between loading and appending; another settles some of the turns meanwhile, and
    in one of the matches somebody moves on after that."""
    played = tables(player, 4)
    scratch.advance(61)
    claimed = Deadlines(clock).claim(100, 5)
    assert claimed is not None
    dues = [running(table) for table in played]
    assert {due.game_id for due in claimed} == {due.game_id for due in dues}
    other = Executor(Store(clock))
    look = worker.service.look

    def hang(since: str) -> Service:
        service = look(since)
        scratch.advance(6)
        again = Deadlines(clock).claim(100, 5)
        assert again is not None
        assert {due.game_id for due in again} == {due.game_id for due in dues}
        batches.expire(other, dues[:2])
        player.execute(played[0].game_id, MakeMove(played[0].mover(), played[0].a_move()))
        return service

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker.service, "look", hang)
        settled = batches.expire(worker, dues)
    assert {due for due, _ in settled.expired} == set(dues[2:])
    assert settled.left == dues[:2]
    assert [worker.expire(*due[:3]) for due in settled.left] == [None, None]
    assert [expiries(table) for table in played] == [1] * 4


def test_an_outage_is_given_back_in_batches_too(
    scratch: Scratch, player: Executor, worker: Executor
) -> None:
    worker.service.beat()
    played = tables(player, 4)
    for _ in range(30):
        scratch.advance(1)
        worker.service.beat()
    scratch.advance(100)
    dues = [running(table) for table in played]
    with pytest.raises(OutOfService):
        batches.expire(worker, dues)
    worker.service.beat()
    settled = batches.expire(worker, dues)
    assert settled.extended == dues
    assert settled.expired == settled.left == []
    assert batches.expire(worker, dues).idle == dues
    for table in played:
        given = [e.data["seconds"] for e in table.events() if e.type == "turn.extended"]
        assert len(given) == 1
        assert given[0] >= 100
        assert expiries(table) == 0
    for _ in range(45):
        scratch.advance(1)
        worker.service.beat()
    settled = batches.expire(worker, dues)
    assert [due for due, _ in settled.expired] == dues


def test_claims_are_given_back_at_once(scratch: Scratch, player: Executor, clock: Pool) -> None:
    tables(player, 3)
    scratch.advance(61)
    deadlines = Deadlines(clock)
    claimed = deadlines.claim(100, 60)
    assert claimed is not None
    assert deadlines.claim(100, 60) == []
    deadlines.release(claimed[1:])
    assert deadlines.claim(100, 60) == claimed[1:]
