"""What follows from the record is made anew while games go on: nothing lost, nothing doubled."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from domain.commands import MakeMove, Resign
from domain.game import legal_moves
from eventstore.auditing import Auditor
from eventstore.errors import Broken
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.pool import Pool, open_pool
from eventstore.rebuilding import StandingsRebuilder, SummaryRebuilder
from eventstore.standings import Standings
from eventstore.store import Store
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, open_table, with_call
from tests.eventstore.tampering import unguard


@dataclass
class House:
    """A database of its own, the application on it and the owner's hands."""

    scratch: Scratch
    executor: Executor
    pool: Pool
    owner: Pool

    def __post_init__(self) -> None:
        self.feed = Feed(self.pool)
        self.standings = Standings(self.pool)

    def played(self) -> dict[str, int]:
        rows = self.scratch.execute(
            "SELECT player_id::text, sum(played)::int FROM standings s JOIN generations g"
            " ON g.generation = s.generation GROUP BY player_id"
        )
        return dict(rows)

    def right(self) -> bool:
        auditor = Auditor(self.pool)
        audits = [auditor.game(game_id) for game_id in auditor.game_ids()]
        return not any(audit is None or audit.wrong for audit in audits)


@pytest.fixture
def house() -> Iterator[House]:
    with (
        scratch_database() as scratch,
        open_pool(scratch.app_url, 8) as pool,
        open_pool(scratch.owner_url, 2) as owner,
    ):
        yield House(scratch, Executor(Store(pool)), pool, owner)


def move(table: Table, dice: random.Random) -> bool:
    """A legal move by whoever is to move; False once the match is over."""
    game = table.game()
    if game.over:
        return False
    assert game.turn is not None
    player = game.seats[game.turn.seat].player_id
    assert player is not None
    chosen = with_call(game, dice.choice(legal_moves(game, game.turn.seat)))
    table.executor.execute(table.game_id, MakeMove(player, chosen))
    return True


def test_every_wrong_summary_is_corrected(house: House) -> None:
    tables = [
        open_table(house.executor),
        open_table(house.executor, "vallelujah", humans=1, bots=("random",)),
        open_table(house.executor, start=False),
        open_table(house.executor),
    ]
    tables[-1].play_out(random.Random(2))
    before = house.scratch.execute("SELECT g::text FROM games g ORDER BY game_id")
    seats = house.scratch.execute("SELECT s::text FROM seats s ORDER BY game_id, seat")
    rebuilder = SummaryRebuilder(house.owner)
    assert list(rebuilder.all()) == [None] * 4
    house.scratch.execute(
        "UPDATE games SET status = 'lobby', version = 1, turn_seat = 5, turn_player = NULL,"
        " options = '{}', host_seat = NULL, max_seats = 9, ruleset = 'x', updated_at = now(),"
        " round_version = 3, started_version = NULL, visibility = 'private';"
        "UPDATE seats SET status = 'x', live = NOT live;"
        "DELETE FROM seats WHERE seat = 0; DELETE FROM deadlines"
    )
    assert not house.right()
    corrections = list(rebuilder.all())
    assert all(correction is not None and correction.made for correction in corrections)
    assert house.scratch.execute("SELECT g::text FROM games g ORDER BY game_id") == before
    assert house.scratch.execute("SELECT s::text FROM seats s ORDER BY game_id, seat") == seats
    assert house.right()
    assert list(rebuilder.all()) == [None] * 4


def test_a_rematch_and_the_game_before_it_name_each_other(house: House) -> None:
    old, other = open_table(house.executor), open_table(house.executor)
    old.play_out(random.Random(2))
    new = house.executor.rematch(old.game_id, str(old.players[0])).game.game_id
    before = house.scratch.execute("SELECT g::text FROM games g ORDER BY game_id")
    rebuilder = SummaryRebuilder(house.owner)
    assert house.right()
    for change, wrong in (
        (f"rematch_of = NULL WHERE game_id = '{new}'", {old.game_id}),
        (f"rematch_of = '{other.game_id}' WHERE game_id = '{new}'", {old.game_id, new}),
        (f"rematch_of = '{old.game_id}' WHERE game_id = '{other.game_id}'", {other.game_id}),
    ):
        house.scratch.execute(f"UPDATE games SET {change}")
        auditor = Auditor(house.pool)
        audits = [auditor.game(each) for each in auditor.game_ids()]
        assert {each.game_id for each in audits if each is not None and each.wrong} == wrong
        made = [each.game_id for each in rebuilder.all() if each is not None and each.made]
        assert made
        assert set(made) <= wrong
        assert house.right()
        assert house.scratch.execute("SELECT g::text FROM games g ORDER BY game_id") == before


def test_a_deadline_that_nobody_would_come_to_is_corrected(house: House) -> None:
    table = open_table(house.executor)
    house.scratch.execute("UPDATE deadlines SET claimed_until = 'infinity', claims = 3")
    (correction,) = SummaryRebuilder(house.owner).all()
    assert correction is not None
    assert correction.made
    assert "claimed for longer" in correction.wrong[0]
    assert house.scratch.execute("SELECT claimed_until::text, claims FROM deadlines") == [
        ("-infinity", 0)
    ]
    # Claims of our own nodes are left alone.
    house.scratch.execute("UPDATE deadlines SET claimed_until = now() + interval '5 s'")
    assert list(SummaryRebuilder(house.owner).all()) == [None]
    table.make_move()


def test_a_summary_that_is_gone_comes_back_from_a_finished_game_alone(house: House) -> None:
    running, finished = open_table(house.executor), open_table(house.executor)
    finished.play_out(random.Random(4))
    before = house.scratch.execute("SELECT g::text FROM games g WHERE status = 'finished'")
    house.scratch.execute("DELETE FROM seats; DELETE FROM deadlines; DELETE FROM games")
    rebuilder = SummaryRebuilder(house.owner)
    corrections = {each.game_id: each for each in rebuilder.all() if each is not None}
    assert corrections[finished.game_id].made
    assert not corrections[running.game_id].made
    assert "secret" in corrections[running.game_id].wrong[-1]
    house.scratch.execute("UPDATE games SET secret = sha256(secret)")
    assert [each is not None and each.made for each in rebuilder.all()].count(True) == 1
    assert house.scratch.execute("SELECT g::text FROM games g") == before


def test_a_record_that_is_wrong_corrects_nothing(house: House) -> None:
    table = open_table(house.executor)
    unguard(house.scratch)
    house.scratch.execute(
        "UPDATE events SET body = replace(body, 'seat', 'seet') WHERE version = 3;"
        "UPDATE games SET turn_seconds = 1"
    )
    (correction,) = SummaryRebuilder(house.owner).all()
    assert correction is not None
    assert not correction.made
    assert correction.game_id == table.game_id
    assert correction.wrong[0].startswith("event 3: ")
    assert house.scratch.execute("SELECT turn_seconds FROM games") == [(1,)]


def test_games_go_on_while_their_summaries_are_broken_and_corrected(house: House) -> None:
    """Each correction meets appends to the same game; at the end everything is right."""
    tables = [open_table(house.executor, rounds_to_win=9) for _ in range(3)]
    stopping = threading.Event()

    def play(table: Table) -> int:
        dice = random.Random(1)
        moves = 0
        while not stopping.is_set() and move(table, dice):
            moves += 1
        return moves

    def spoil() -> None:
        while not stopping.wait(0.01):
            house.scratch.execute(
                "UPDATE games SET max_seats = 7, turn_seat = 9; UPDATE seats SET status = 'x'"
            )

    rebuilder = SummaryRebuilder(house.owner)
    corrected = 0
    with ThreadPoolExecutor(4) as threads:
        playing = [threads.submit(play, table) for table in tables]
        spoiling = threads.submit(spoil)
        try:
            while corrected < 40:
                corrected += sum(each is not None and each.made for each in rebuilder.all())
        finally:
            stopping.set()
        assert all(each.result() > 0 for each in playing)
        spoiling.result()
    list(rebuilder.all())
    assert house.right()


def test_standings_are_counted_anew_while_matches_end(house: House) -> None:
    """From the first match to the last each player is seen with all matches that were counted."""
    stopping = threading.Event()

    def end_matches() -> int:
        count = 0
        while not stopping.is_set():
            table = open_table(house.executor)
            player = table.players[count % 2]
            assert player is not None
            house.executor.execute(table.game_id, Resign(player))
            count += 1
        return count

    def follow() -> None:
        while not stopping.is_set():
            house.feed.sequence()
            house.standings.step(20)

    def watch() -> None:
        seen: dict[str, int] = {}
        while not stopping.is_set():
            shown = house.played()
            for player, count in seen.items():
                assert shown.get(player, 0) >= count, "a result was seen and is gone"
            seen = shown

    rebuilder = StandingsRebuilder(house.pool)
    with ThreadPoolExecutor(5) as threads:
        ending = [threads.submit(end_matches) for _ in range(2)]
        following = threads.submit(follow)
        watching = threads.submit(watch)
        steps: list[tuple[int, int]] = []
        try:
            for _ in range(4):
                rebuilder.rebuild(lambda done, total: steps.append((done, total)))
        finally:
            stopping.set()
        ended = sum(each.result() for each in ending)
        following.result()
        watching.result()
    # Who ends matches ends one more after who follows has stopped.
    while house.feed.sequence() != (0, 0) or house.standings.step():
        pass
    assert ended > 4
    assert sum(house.played().values()) == 2 * ended
    assert house.scratch.execute("SELECT count(DISTINCT generation) FROM standings") == [(1,)]
    assert house.scratch.execute("SELECT generation FROM generations") == [(5,)]
    assert house.scratch.execute("SELECT name FROM cursors") == [("standings/5",)]
    assert steps


def test_a_rebuild_that_failed_leaves_all_as_it_was(house: House) -> None:
    table = open_table(house.executor)
    assert table.players[0] is not None
    house.executor.execute(table.game_id, Resign(table.players[0]))
    house.feed.sequence()
    while house.standings.step():
        pass
    before = house.played()
    house.scratch.execute(
        "INSERT INTO feed SELECT max(position) + 1, gen_random_uuid(), 1 FROM feed"
    )
    rebuilder = StandingsRebuilder(house.pool)
    with pytest.raises(Broken, match="is not there"):
        rebuilder.rebuild(lambda done, total: None)
    assert house.played() == before
    other = StandingsRebuilder(house.pool)
    assert house.feed.lease("rebuild-standings", uuid7(), 60)
    with pytest.raises(Broken, match="another rebuild"):
        other.rebuild(lambda done, total: None)
