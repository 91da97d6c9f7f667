"""Earlier positions are what the record says, whatever of them a process has seen before."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from domain import times
from domain.events import Recorded
from domain.game import differences, fold
from eventstore.auditing import Auditor
from eventstore.earlier import Earlier
from eventstore.executor import Executor
from eventstore.pool import Pool, open_pool
from eventstore.rebuilding import SummaryRebuilder
from eventstore.store import Store
from eventstore.summaries import late_until
from eventstore.watching import MOST_LATE_EVENTS, Known, Watching
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, open_table

DELAY = 100
LONG = 14 * 24 * 3600


@pytest.fixture(scope="module")
def clocked() -> Iterator[tuple[Scratch, Pool]]:
    """A database of its own, as its clock is moved back too."""
    with scratch_database() as own, open_pool(own.clocked_url, 4) as pool:
        yield own, pool


def _table(pool: Pool, ruleset: str = "halleluja") -> Table:
    executor = Executor(Store(pool))
    settings = {"turn_seconds": LONG, "spectator_delay_seconds": DELAY}
    return open_table(executor, ruleset, **settings)  # type: ignore[arg-type]


def _seen(events: list[Recorded], now: str) -> list[Recorded]:
    """What a spectator may see at a time."""
    started = next(event.version for event in events if event.type == "game.started")
    past = times.plus_seconds(now, -DELAY)
    return [event for event in events if event.version <= started or event.at <= past]


def _check(table: Table, earlier: Earlier) -> None:
    """What is given is what there was, between the two looks at the clock around it."""
    store = table.executor.store
    before = store.load(table.game_id)
    assert before is not None
    past = earlier.of(before)
    after = store.load(table.game_id)
    assert after is not None
    events = store.events(table.game_id)
    least, most = (len(_seen(events, each.now)) for each in (before, after))
    assert least <= past.game.version <= most
    shown = events[: past.game.version]
    assert differences(past.game, fold(table.game_id, shown)) == []
    assert (past.head_hash, past.secret) == (shown[-1].hash, before.secret)
    assert past.late_seconds == DELAY
    assert times.plus_seconds(before.now, -DELAY) <= past.now
    assert past.now <= times.plus_seconds(after.now, -DELAY)


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_an_earlier_position_is_that_of_the_record(
    clocked: tuple[Scratch, Pool], ruleset: str
) -> None:
    scratch, pool = clocked
    table, kept, dice = _table(pool, ruleset), Earlier(pool), random.Random(ruleset)
    for _ in range(40):
        if not table.game().over:
            table.make_move()
        scratch.advance(dice.choice([0, 1, 20, 60, 150]))
        _check(table, kept)
        # A process that has just begun says the same.
        _check(table, Earlier(pool))


def test_what_was_shown_stays_shown_when_the_clock_goes_back(
    clocked: tuple[Scratch, Pool],
) -> None:
    scratch, pool = clocked
    table, earlier = _table(pool), Earlier(pool)
    for _ in range(3):
        table.make_move()
    scratch.advance(DELAY + 1)
    live = table.executor.store.load(table.game_id)
    assert live is not None
    shown = earlier.of(live)
    assert shown.game.version == live.game.version
    scratch.advance(-DELAY)
    table.make_move()
    again = earlier.of(live)
    assert (again.game.version, again.head_hash) == (shown.game.version, shown.head_hash)
    scratch.advance(DELAY)


def test_a_position_that_the_database_does_not_have_is_read_anew(
    clocked: tuple[Scratch, Pool],
) -> None:
    scratch, pool = clocked
    table, earlier = _table(pool), Earlier(pool)
    table.make_move()
    scratch.advance(DELAY + 1)
    live = table.executor.store.load(table.game_id)
    assert live is not None
    other = table.game().copy()
    other.version += 3
    earlier.positions.keep(replace(live, game=other, head_hash="ab" * 32))
    _check(table, earlier)
    assert earlier.positions.get(table.game_id) is not None


def test_several_games_are_asked_for_at_once(clocked: tuple[Scratch, Pool]) -> None:
    _, pool = clocked
    tables = [_table(pool) for _ in range(3)]
    for table in tables:
        table.make_move()
    earlier = Earlier(pool)
    past = earlier.of_all([table.game_id for table in tables])
    for table in tables:
        events = table.events()
        started = next(event for event in events if event.type == "game.started")
        assert past[table.game_id].loaded.game.version == started.version
        assert past[table.game_id].at == started.at
    assert earlier.of_all([]) == {}


def test_late_news_are_the_same_events(clocked: tuple[Scratch, Pool]) -> None:
    scratch, pool = clocked
    table, watching = _table(pool, "vallelujah"), Watching(pool)
    for _ in range(20):
        table.make_move()
    events = table.events()
    known, seen = Known(0, "00" * 32), []
    while news := watching.news({table.game_id: known}, late=True):
        (fresh,) = news.values()
        assert len(fresh) <= MOST_LATE_EVENTS
        seen += fresh
        known = Known(fresh[-1].version, fresh[-1].hash)
    assert seen[-1].type == "game.started"
    scratch.advance(DELAY + 1)
    while news := watching.news({table.game_id: known}, late=True):
        seen += news[table.game_id]
        known = Known(seen[-1].version, seen[-1].hash)
    assert seen == events


def test_a_clock_that_is_ahead_makes_nobody_wait_longer(clocked: tuple[Scratch, Pool]) -> None:
    game = _table(clocked[1], "vallelujah").play_out(random.Random(2)).copy()
    assert late_until(game, "2026-03-01T12:00:00.000000Z") == "2026-03-01T12:01:40.000000Z"
    game.ahead_ms = 3_600_000
    assert late_until(game, "2026-03-01T13:00:00.000000Z") == "2026-03-01T12:01:40.000000Z"


def test_a_summary_says_until_when_the_end_is_not_told(clocked: tuple[Scratch, Pool]) -> None:
    scratch, pool = clocked
    late, auditor = _table(pool, "vallelujah"), Auditor(pool)
    open_ = open_table(late.executor, "vallelujah", turn_seconds=LONG, rounds_to_win=1)
    for table in (late, open_):
        table.play_out(random.Random(1))
    ended_at = late.events()[-1].at
    find = "SELECT late_until FROM games WHERE game_id = %s"
    assert scratch.execute(find, (open_.game_id,)) == [(None,)]
    ((until,),) = scratch.execute(find, (late.game_id,))
    micros = round(until.timestamp() * 1_000_000)
    assert times.from_micros(micros) == times.plus_seconds(ended_at, DELAY)
    spoil = "UPDATE games SET late_until = NULL, spectator_delay_seconds = 7 WHERE game_id = %s"
    scratch.execute(spoil, (late.game_id,))
    audited = auditor.game(late.game_id)
    assert audited is not None
    wrong = next(check.detail for check in audited.checks if check.check == "summary")
    assert "late_until" in wrong
    assert "spectator_delay_seconds" in wrong
    with open_pool(scratch.owner_url, 1) as owner:
        assert SummaryRebuilder(owner).correct(late.game_id) is not None
    assert scratch.execute(find, (late.game_id,)) == [(until,)]
    audited = auditor.game(late.game_id)
    assert audited is not None
    assert all(check.ok is not False for check in audited.checks)
