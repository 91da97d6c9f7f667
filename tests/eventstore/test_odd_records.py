"""A record that somebody wrote who got past the database's guards, and the hashes with it: whatever
it says, it is called wrong, and nobody else's game suffers from it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from domain.commands import MakeMove, Resign
from eventstore.auditing import Auditor
from eventstore.batches import expire
from eventstore.earlier import Earlier
from eventstore.errors import Broken
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.lists import Lists
from eventstore.pool import Pool, open_pool
from eventstore.rebuilding import SummaryRebuilder
from eventstore.recorded import ZERO_HASH, canonical
from eventstore.standings import Standings
from eventstore.store import Store
from eventstore.watching import Known, Watching
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, open_table
from tests.eventstore.tampering import unguard
from workers.settling import DueTurn

LARGEST = 2**53 - 1


@dataclass
class Place:
    """A database without guards."""

    scratch: Scratch
    pool: Pool

    def table(self, ruleset: str = "halleluja", **settings: Any) -> Table:
        return open_table(Executor(Store(self.pool)), ruleset, **settings)

    def fresh(self) -> Executor:
        return Executor(Store(self.pool))

    def write(self, table: Table, change: Callable[[dict[str, Any]], Any], kind: str) -> int:
        """Change the first event of that kind and hash all anew; its version."""
        bodies = [
            {"at": e.at, "by": e.by, "data": e.data, "game_id": e.game_id}
            | {"type": e.type, "version": e.version}
            for e in table.events()
        ]
        found = next(body for body in bodies if body["type"] == kind)
        version = found["version"]
        change(found)
        before = bytes.fromhex(ZERO_HASH)
        for number, body in enumerate(bodies, 1):
            text = canonical(body)
            before = hashlib.sha256(before + text).digest()
            self.scratch.execute(
                "UPDATE events SET body = %s, hash = %s WHERE game_id = %s AND version = %s",
                (text.decode(), before, table.game_id, number),
            )
        return int(version)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with scratch_database() as scratch, open_pool(scratch.app_url, 4) as pool:
        unguard(scratch)
        yield Place(scratch, pool)


def _set(*path: str, to: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        for name in path[:-1]:
            body = body[name]
        body[path[-1]] = to

    return change


ODD = {
    "created: data is a number": ("game.created", _set("data", to=-1)),
    "created: no time for a turn": ("game.created", _set("data", "turn_seconds", to=None)),
    "created: no options": ("game.created", _set("data", "options", to={})),
    "created: options are a list": ("game.created", _set("data", "options", to=[1])),
    "created: no rules": ("game.created", _set("data", "ruleset_version", to=["x"])),
    "created: of no type": ("game.created", _set("type", to=None)),
    "taken: data is a list": ("seat.taken", _set("data", to=[])),
    "taken: data is a list of lists": ("seat.taken", _set("data", to=[[]])),
    "taken: by nobody": ("seat.taken", _set("by", to=None)),
    "taken: a seat of text": ("seat.taken", _set("data", "seat", to="x")),
    "started: seats are a number": ("game.started", _set("data", "seats", to=3)),
    "started: a seat far away": ("game.started", _set("data", "seats", to=[0, LARGEST])),
    "started: at no time": ("game.started", _set("at", to="x")),
    "dealt: scores are a number": ("round.dealt", _set("data", "scores", to=7)),
    "dealt: hands are a list": ("round.dealt", _set("data", "hands", to=[])),
    "dealt: a hand is a number": ("round.dealt", _set("data", "hands", to={"0": 1})),
    "dealt: a turn is a number": ("round.dealt", _set("data", "turn", to=1)),
    "dealt: at a number": ("round.dealt", _set("at", to=1)),
}


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest, place: Place) -> Table:
    """A match that ended, whose record says what none does."""
    table = place.table()
    table.make_move()
    table.executor.execute(table.game_id, Resign(str(table.players[0])))
    kind, change = ODD[request.param]
    place.write(table, change, kind)
    return table


def test_an_audit_says_that_it_is_wrong(place: Place, odd: Table) -> None:
    audited = Auditor(place.pool).game(odd.game_id)
    assert audited is not None
    assert audited.wrong


def test_a_rebuild_leaves_it_as_it_is(place: Place, odd: Table) -> None:
    with open_pool(place.scratch.owner_url, 2) as owner:
        correction = SummaryRebuilder(owner).correct(odd.game_id)
    assert correction is None or not correction.made


def test_who_loads_it_is_told_that_it_is_broken(place: Place, odd: Table) -> None:
    """Unless it folds, as what is odd in it has no say in the position."""
    store = place.fresh().store
    version = len(place.scratch.execute("SELECT 1 FROM events WHERE game_id = %s", (odd.game_id,)))
    for load in (
        lambda: store.load(odd.game_id),
        lambda: store.load(odd.game_id, whole=True),
        lambda: store.fold_at(odd.game_id, version),
    ):
        try:
            loaded = load()
        except Broken:
            continue
        assert loaded is not None


def test_the_standings_go_on_without_it(place: Place, odd: Table) -> None:
    whole = place.table()
    loser, winner = (str(player) for player in whole.players)
    for player in (loser, winner):
        place.scratch.execute("INSERT INTO players VALUES (%s, 'Anna')", (player,))
    whole.executor.execute(whole.game_id, Resign(loser))
    feed, standings = Feed(place.pool), Standings(place.pool)
    while feed.sequence() != (0, 0):
        pass
    while standings.step():
        pass
    profile = standings.profile(winner)
    assert profile is not None
    assert sum(record.won for record in profile.results) == 1


def test_news_of_other_games_are_told(place: Place, odd: Table) -> None:
    whole = place.table()
    watching = Watching(place.pool)
    known = {table.game_id: Known(0, ZERO_HASH) for table in (odd, whole)}
    for late in (False, True):
        news = watching.news(known, late=late)
        assert news[whole.game_id][0].type == "game.created"


@pytest.mark.parametrize("body", ["x", '{"at":"2026-13-41T99:99:99.999999Z"}', "[]", "1],[2", ""])
def test_a_row_that_is_no_event_is_nobody_elses_trouble(place: Place, body: str) -> None:
    delay = {"spectator_delay_seconds": 60, "turn_seconds": 3600}
    broken, whole = (place.table(**delay) for _ in range(2))
    place.scratch.execute(
        "INSERT INTO events SELECT game_id, version + 1, %s, hash FROM events"
        " WHERE game_id = %s ORDER BY version DESC LIMIT 1",
        (body, broken.game_id),
    )
    known = {table.game_id: Known(0, ZERO_HASH) for table in (broken, whole)}
    for late in (False, True):
        assert whole.game_id in Watching(place.pool).news(known, late=late)
    earlier = Earlier(place.pool)
    assert whole.game_id in earlier.of_all(list(known))
    listed = Lists(place.pool, earlier).games(status="active", limit=100)
    assert whole.game_id in {item.game_id for item in listed.items}
    audited = Auditor(place.pool).game(broken.game_id)
    assert audited is not None
    assert audited.wrong
    # Who moves in it is told, by a process that knew it before as by one that did not.
    for executor in (broken.executor, place.fresh()):
        with pytest.raises(Broken):
            executor.execute(broken.game_id, Resign(str(broken.players[0])))
    assert whole.make_move().first


def test_a_move_after_an_event_without_a_time_says_what_is_wrong(place: Place) -> None:
    table = place.table("vallelujah")
    game = table.game()
    command = MakeMove(table.mover(), table.a_move(), game.round, game.turn.number)  # type: ignore[union-attr]
    place.scratch.execute(
        'UPDATE events SET body = \'{"at":"soon\' || substr(body, 12)'
        " WHERE game_id = %s AND version = %s",
        (table.game_id, game.version),
    )
    with pytest.raises(Broken, match="no time"):
        table.executor.execute(table.game_id, command)


SUMMARIES = {
    "as if the match had just begun": "version = started_version, round_version = NULL",
    "an earlier version": "version = version - 2, round_version = NULL, started_version = NULL",
    "an earlier round": "round_version = started_version + 1",
    "a later round": "round_version = version + 1",
}


@pytest.mark.parametrize("change", SUMMARIES.values(), ids=SUMMARIES)
def test_no_summary_passes_an_old_position_off_as_the_newest(place: Place, change: str) -> None:
    """Nor has a turn its deadline taken away because of one."""
    table = place.table("vallelujah")
    for _ in range(5):
        table.make_move()
    game = table.game()
    assert game.turn is not None
    place.scratch.execute(f"UPDATE games SET {change} WHERE game_id = %s", (table.game_id,))
    due = DueTurn(table.game_id, "turn", game.round, game.turn.number)
    expire(place.fresh(), [due])
    executor = place.fresh()
    loaded = executor.store.load(table.game_id)
    assert loaded is not None
    assert (loaded.game.version, loaded.head_hash) == (game.version, table.events()[-1].hash)
    rows = place.scratch.execute("SELECT 1 FROM deadlines WHERE game_id = %s", (table.game_id,))
    assert len(rows) == 1
    command = MakeMove(table.mover(), table.a_move(), game.round, game.turn.number)
    assert executor.execute(table.game_id, command).first == game.version + 1
