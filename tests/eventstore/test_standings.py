"""The standings: each match of a player counts once, as what it was."""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from domain.commands import LeaveSeat, Resign, StartGame, TakeSeat
from eventstore.errors import Broken
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.players import Players
from eventstore.pool import open_pool
from eventstore.standings import RulesetRecord, Standings
from eventstore.store import Store
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, open_table
from tests.eventstore.tampering import unguard


@dataclass(frozen=True)
class House:
    """A database of its own with all that stands on it."""

    scratch: Scratch
    executor: Executor
    feed: Feed
    standings: Standings
    players: Players

    def named(self, player_id: str, name: str = "Anna") -> str:
        self.scratch.execute("INSERT INTO players VALUES (%s, %s)", (player_id, name))
        return player_id

    def catch_up(self, limit: int = 500) -> None:
        while self.feed.sequence() != (0, 0):
            pass
        while self.standings.step(limit):
            pass

    def results(self, player_id: str) -> tuple[RulesetRecord, ...]:
        profile = self.standings.profile(player_id)
        assert profile is not None
        return profile.results


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with scratch_database() as scratch, open_pool(scratch.app_url, 6) as pool:
        yield House(scratch, Executor(Store(pool)), Feed(pool), Standings(pool), Players(pool))


def seated(house: House, table: Table) -> list[str]:
    return [house.named(player) for player in table.players if player is not None]


def record(ruleset: str, **counts: int) -> RulesetRecord:
    empty = RulesetRecord(ruleset, 0, 0, 0, 0, 0, 0)
    return empty._replace(played=sum(counts.values()), **counts)


def test_a_match_is_won_by_one_and_lost_by_the_others(house: House) -> None:
    table = open_table(house.executor, humans=3, bots=("random",))
    players = seated(house, table)
    house.catch_up()
    assert [house.results(player) for player in players] == [(), (), ()]
    house.executor.execute(table.game_id, Resign(players[2]))
    house.executor.execute(table.game_id, Resign(players[1]))
    house.catch_up()
    assert [house.results(player) for player in players] == [(), (), ()]
    house.executor.execute(table.game_id, Resign(players[0]))
    house.catch_up()
    for player in players:
        assert house.results(player) == (record("halleluja", resigned=1),)


def test_who_stays_wins(house: House) -> None:
    table = open_table(house.executor, "vallelujah", humans=2)
    one, other = seated(house, table)
    house.executor.execute(table.game_id, Resign(one))
    house.catch_up()
    assert house.results(one) == (record("vallelujah", resigned=1),)
    assert house.results(other) == (record("vallelujah", won=1),)


def test_a_whole_match_counts_for_all_and_a_closed_table_for_nobody(house: House) -> None:
    table = open_table(house.executor)
    players = seated(house, table)
    game = table.play_out(random.Random(3))
    assert game.result is not None
    winner = game.seats[game.result["winner"]].player_id
    closed = open_table(house.executor, humans=1, start=False)
    host = seated(house, closed)[0]
    house.executor.execute(closed.game_id, LeaveSeat(host))
    house.catch_up(limit=3)
    for player in players:
        outcome = {"won": 1} if player == winner else {"lost": 1}
        assert house.results(player) == (record("halleluja", **outcome),)
    assert house.results(host) == ()


def test_matches_add_up_by_ruleset(house: House) -> None:
    player = house.named(uuid7())
    for ruleset in ("halleluja", "vallelujah", "halleluja"):
        table = open_table(house.executor, ruleset, humans=1, start=False)
        seat_and_resign(house, table, player)
    house.catch_up()
    assert house.results(player) == (
        record("halleluja", resigned=2),
        record("vallelujah", resigned=1),
    )


def seat_and_resign(house: House, table: Table, player: str) -> None:
    host = table.players[0]
    assert host is not None
    house.executor.execute(table.game_id, TakeSeat(player))
    house.executor.execute(table.game_id, StartGame(host))
    house.executor.execute(table.game_id, Resign(player))


def test_many_who_count_at_once_count_each_match_once(house: House) -> None:
    tables = [open_table(house.executor) for _ in range(12)]
    players = [player for table in tables for player in seated(house, table)]
    for table in tables:
        assert table.players[0] is not None
        house.executor.execute(table.game_id, Resign(table.players[0]))
    while house.feed.sequence() != (0, 0):
        pass

    def count() -> None:
        while house.standings.step(2):
            pass

    with ThreadPoolExecutor(4) as threads:
        for each in [threads.submit(count) for _ in range(4)]:
            each.result()
    played = [sum(entry.played for entry in house.results(player)) for player in players]
    assert played == [1] * len(players)


def test_who_was_erased_has_no_profile_and_nobody_else_loses_one(house: House) -> None:
    table = open_table(house.executor)
    one, other = seated(house, table)
    house.executor.execute(table.game_id, Resign(one))
    assert house.players.erase(one)
    house.catch_up()
    assert house.standings.profile(one) is None
    assert house.results(other) == (record("halleluja", won=1),)
    assert house.standings.profile(uuid7()) is None


def test_a_game_that_was_tampered_with_holds_up_no_other(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    broken, whole = open_table(house.executor), open_table(house.executor)
    loser, winner = seated(house, whole)
    unlucky = seated(house, broken)
    for table in (broken, whole):
        house.executor.execute(table.game_id, Resign(str(table.players[0])))
    unguard(house.scratch)
    house.scratch.execute(
        "UPDATE events SET body = replace(body, 'seat.taken', 'seat.token') WHERE game_id = %s",
        (broken.game_id,),
    )
    house.catch_up()
    assert house.results(loser) == (record("halleluja", resigned=1),)
    assert house.results(winner) == (record("halleluja", won=1),)
    assert [house.results(player) for player in unlucky] == [(), ()]
    assert f"game {broken.game_id} does not fold" in caplog.text


def test_an_event_that_is_not_there_stops_the_count(house: House) -> None:
    house.catch_up()
    head = house.feed.head()
    game_id = uuid7()
    house.scratch.execute("INSERT INTO feed VALUES (%s, %s, 1)", (head + 1, game_id))
    try:
        with pytest.raises(Broken, match=f"event 1 of game {game_id} is not there"):
            house.standings.step()
    finally:
        unguard(house.scratch)
        house.scratch.execute("DELETE FROM feed WHERE game_id = %s", (game_id,))


def test_sandbox_matches_count_for_nobody(house: House) -> None:
    table = open_table(house.executor, deal="first-steps")
    players = seated(house, table)
    house.executor.execute(table.game_id, Resign(players[0]))
    house.catch_up()
    assert [house.results(player) for player in players] == [(), ()]
