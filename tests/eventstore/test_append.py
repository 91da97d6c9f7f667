"""The append itself, as the database runs it: chain, time, guards, keys, all or nothing."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import errors

from domain.events import Event
from domain.times import plus_seconds
from eventstore.appending import Append, Appended
from eventstore.chain import verify
from eventstore.ids import uuid7
from eventstore.pool import bounded, open_pool
from eventstore.prepared import Prepared
from eventstore.recorded import rest
from eventstore.sending import ENCODERS, STATEMENT
from eventstore.sql import APPEND
from eventstore.store import Store
from tests.databases import Scratch

TABLE: dict[str, Any] = {
    "ruleset": "halleluja",
    "ruleset_version": "halleluja/1",
    "visibility": "public",
    "options": {},
    "turn_seconds": 60,
    "max_seats": 4,
    "host_seat": 0,
    "rematch_of": None,
    "invited": [],
}
HOUR = datetime.timedelta(hours=1)


def _append(game_id: str, version: int, count: int = 1, **more: Any) -> Append:
    """An append of events that no ruleset knows: the database does not look into them."""
    events = [
        Event(version + n, "thing.happened", {"kind": "clock"}, {"n": n, "text": 'Häl"\n\u0001'})
        for n in range(1, count + 1)
    ]
    if version == 0:
        more = {"table": TABLE, "secret": bytes(32), **more}
    return Append(
        game_id, version, tuple(rest(game_id, event) for event in events), status="lobby", **more
    )


def _later(store: Store, seconds: int) -> str:
    now = store.database.run("SELECT clock_timestamp()", {})[0][0].astimezone(datetime.UTC)
    return plus_seconds(now.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), seconds)


@pytest.fixture
def game_id(store: Store) -> str:
    """A game with two events."""
    made = uuid7()
    assert store.append(_append(made, 0, 2)).status == "appended"
    return made


def test_the_chain_is_sha_256_over_the_canonical_events(store: Store, game_id: str) -> None:
    appended = store.append(_append(game_id, 2, 3))
    assert (appended.status, appended.first, appended.last) == ("appended", 3, 5)
    events = store.events(game_id)
    assert [event.version for event in events] == [1, 2, 3, 4, 5]
    assert verify(events, game_id=game_id) is None
    assert [event.hash for event in events[2:]] == list(appended.hashes)
    rows = store.database.run(
        "SELECT body, hash FROM events WHERE game_id = %(game_id)s::uuid ORDER BY version",
        {"game_id": game_id},
    )
    before = bytes(32)
    for body, own in rows:
        assert hashlib.sha256(before + body.encode()).digest() == own
        before = own


def test_the_events_of_one_append_share_its_time(store: Store, game_id: str) -> None:
    appended = store.append(_append(game_id, 2, 3))
    assert {event.at for event in store.events(game_id, after=2)} == {appended.at}


def test_time_never_goes_back(scratch: Scratch) -> None:
    with open_pool(scratch.clocked_url, 1) as pool:
        store = Store(pool)
        made = uuid7()
        first = store.append(_append(made, 0))
        scratch.advance(-100)
        second = store.append(_append(made, 1))
        scratch.advance(150)
        third = store.append(_append(made, 2))
        scratch.advance(-50)
    assert first.at is not None
    assert second.at == first.at
    assert third.at is not None
    assert plus_seconds(first.at, 49) < third.at < plus_seconds(first.at, 60)


@pytest.mark.parametrize("version", [0, 1, 3, 1000])
def test_only_the_newest_version_can_be_gone_on_from(
    store: Store, game_id: str, version: int
) -> None:
    assert store.append(_append(game_id, version)).status == "conflict"
    assert len(store.events(game_id)) == 2


def test_only_the_callers_own_history_can_be_gone_on_from(store: Store, game_id: str) -> None:
    head = store.events(game_id)[-1].hash
    other = hashlib.sha256(bytes.fromhex(head)).hexdigest()
    for count in (1, 0):
        key = _keyed(uuid7(), "k")
        assert store.append(_append(game_id, 2, count, prev_hash=other, **key)).status == "conflict"
    assert store.append(_append(game_id, 2, prev_hash=head)).status == "appended"


def test_a_game_begins_with_its_first_event(store: Store) -> None:
    assert store.append(_append(uuid7(), 1)).status == "conflict"


def test_of_two_open_appends_the_second_breaks_the_primary_key(
    scratch: Scratch, store: Store, game_id: str
) -> None:
    parameters = _append(game_id, 2).parameters()
    with psycopg.connect(scratch.app_url) as first:
        assert first.execute(APPEND, parameters).fetchone()[0] == "appended"  # type: ignore[index]
        with psycopg.connect(scratch.app_url, autocommit=True) as second:
            second.execute("SET lock_timeout = '100ms'")
            with pytest.raises(errors.LockNotAvailable):
                second.execute(APPEND, parameters)
            first.commit()
            answer = second.execute(APPEND, parameters).fetchone()
            assert answer is not None
            assert answer[0] == "conflict"


def test_every_field_of_an_append_is_sent() -> None:
    """Also of an append that has them all, which none of the others is."""
    fields = [each.name for each in dataclasses.fields(Append)]
    assert sorted(STATEMENT.parameters) == sorted(fields) == sorted(ENCODERS)


def test_what_is_sent_arrives_as_it_was_meant(scratch: Scratch) -> None:
    """libpq is given bytes: each of them is what a cursor would have sent."""
    append = Append(
        uuid7(),
        7,
        (b'"a":"H\xc3\xa4l"}', b'"b":2}'),
        prev_hash="0f" * 32,
        guard="in-time",
        due="2031-05-06T07:08:09.123456Z",
        token_id=uuid7(),
        key="ké'y",
        path="/x\\y",
        body_hash=bytes(range(224, 256)),
        keep=datetime.timedelta(days=2, seconds=3, microseconds=4),
        status="active",
        turn_seat=0,
        turn_player=uuid7(),
        started_version=2**31 - 1,
        round_version=4,
        clock="set",
        round=1,
        turn=2,
        clock_from="2031-05-06T07:08:09.1Z",
        clock_seconds=60,
        bot="set",
        bot_seconds=0.1,
        table={"options": {"a": [1, "ü"]}, "invited": []},
        secret=bytes(range(32)),
        seats=[{"seat": 0, "player_id": None}],
        ahead_ms=2**40,
    )
    casts = re.findall(r"%\(\w+\)s::\w+", APPEND)
    select: Any = f"SELECT {', '.join(casts)}"
    statement = Prepared("arrives", select, ENCODERS, STATEMENT.binary)
    values = tuple(getattr(append, name) for name in statement.parameters)
    with open_pool(scratch.app_url, 1) as pool, pool.connection() as connection:
        by_cursor = connection.execute(select, append.parameters(), binary=True).pgresult
        by_hand = statement.run(bounded(connection), values)
        assert by_cursor is not None
        for column in range(len(casts)):
            assert by_hand.get_value(0, column) == by_cursor.get_value(0, column), casts[column]


def test_an_error_is_raised_as_a_cursor_raises_it(scratch: Scratch) -> None:
    statement = Prepared("fails", "SELECT 1 / %(version)s::int", ENCODERS)
    for threshold in (None, 1):
        with (
            open_pool(scratch.app_url, 1, prepare_threshold=threshold) as pool,
            pool.connection() as connection,
        ):
            for divisor in (0, 1, 0):
                if divisor:
                    assert statement.run(bounded(connection), (divisor,)).ntuples == 1
                else:
                    with pytest.raises(errors.DivisionByZero):
                        statement.run(bounded(connection), (divisor,))
            row = connection.execute(
                "SELECT count(*) FROM pg_prepared_statements WHERE name = 'fails'"
            ).fetchone()
            assert row == (0 if threshold is None else 1,)


IN_TIME = [("in-time", 100, "appended"), ("in-time", -1, "overdue")]
LATE = [("late", -1, "appended"), ("late", 100, "early")]


@pytest.mark.parametrize(("guard", "due_in", "status"), IN_TIME + LATE)
def test_the_due_time_is_guarded(
    store: Store, game_id: str, guard: Any, due_in: int, status: str
) -> None:
    append = _append(game_id, 2, guard=guard, due=_later(store, due_in))
    assert store.append(append).status == status
    assert len(store.events(game_id)) == (3 if status == "appended" else 2)


def test_exactly_at_the_due_time_is_in_time(scratch: Scratch) -> None:
    """With the clock standing behind the last event, `at` is that event's time to the digit."""
    with open_pool(scratch.clocked_url, 1) as pool:
        store = Store(pool)
        made = uuid7()
        at = store.append(_append(made, 0)).at
        scratch.advance(-100)
        try:
            assert store.append(_append(made, 1, guard="late", due=at)).status == "early"
            assert store.append(_append(made, 1, guard="in-time", due=at)).status == "appended"
        finally:
            scratch.advance(100)


def _keyed(token: str, key: str, path: str = "/a", body: bytes = b"b" * 32) -> dict[str, Any]:
    return {"token_id": token, "key": key, "path": path, "body_hash": body, "keep": HOUR}


def test_a_key_is_answered_with_what_it_did(store: Store, game_id: str) -> None:
    key = _keyed(uuid7(), "k")
    done = store.append(_append(game_id, 2, 2, **key))
    assert (done.status, done.first, done.last) == ("appended", 3, 4)
    for version in (2, 4):
        again = store.append(_append(game_id, version, 2, **key))
        assert (again.status, again.first, again.last) == ("replayed", 3, 4)
    assert len(store.events(game_id)) == 4


@pytest.mark.parametrize("other", [{"path": "/b"}, {"body": b"c" * 32}])
def test_a_key_is_for_one_request(store: Store, game_id: str, other: dict[str, Any]) -> None:
    token = uuid7()
    store.append(_append(game_id, 2, **_keyed(token, "k")))
    assert store.append(_append(game_id, 3, **_keyed(token, "k", **other))).status == "reused"
    assert store.append(_append(game_id, 3, **_keyed(uuid7(), "k", **other))).status == "appended"


def test_a_key_can_answer_that_nothing_was_to_do(store: Store, game_id: str) -> None:
    key = _keyed(uuid7(), "k")
    done = store.append(_append(game_id, 2, 0, **key))
    assert (done.status, done.hashes, done.first, done.last) == ("appended", (), 3, 2)
    store.append(_append(game_id, 2))
    again = store.append(_append(game_id, 3, **key))
    assert (again.status, again.first, again.last) == ("replayed", 3, 2)
    assert len(store.events(game_id)) == 3


def test_an_expired_key_is_free_again(store: Store, game_id: str) -> None:
    key = _keyed(uuid7(), "k") | {"keep": datetime.timedelta(0)}
    assert store.append(_append(game_id, 2, **key)).status == "appended"
    assert store.append(_append(game_id, 3, **key)).status == "appended"


def test_a_refused_append_keeps_no_key(store: Store, game_id: str) -> None:
    key = _keyed(uuid7(), "k")
    assert store.append(_append(game_id, 0, **key)).status == "conflict"
    late = _append(game_id, 2, guard="in-time", due=_later(store, -1), **key)
    assert store.append(late).status == "overdue"
    assert store.append(_append(game_id, 2, **key)).status == "appended"


def _all_of_it(scratch: Scratch, game_id: str) -> list[Any]:
    tables = ("events", "outbox", "games", "seats", "deadlines", "idempotency", "invited")
    return [
        scratch.execute(f"SELECT * FROM {table} WHERE game_id = %s", (game_id,)) for table in tables
    ]


def _seat_twice(append: Append) -> Append:
    seat = {"seat": 0, "player_id": None, "bot": "random", "status": "ready", "live": True}
    return dataclasses.replace(append, seats=[seat, seat])


def _impossible_deadline(append: Append) -> Append:
    return dataclasses.replace(append, clock="set", clock_seconds=1, round=1, turn=None)


def _impossible_bot(append: Append) -> Append:
    return dataclasses.replace(append, bot="set", bot_seconds=None, round=1, turn=1)


def _short_key(append: Append) -> Append:
    return dataclasses.replace(append, token_id=uuid7(), key="k", path="/", keep=HOUR)


@pytest.mark.parametrize("spoil", [_seat_twice, _impossible_deadline, _impossible_bot, _short_key])
def test_all_is_stored_or_nothing(
    scratch: Scratch, store: Store, game_id: str, spoil: Callable[[Append], Append]
) -> None:
    before = _all_of_it(scratch, game_id)
    with pytest.raises(errors.IntegrityError):
        store.append(spoil(_append(game_id, 2)))
    assert _all_of_it(scratch, game_id) == before
    unborn = uuid7()
    with pytest.raises(errors.IntegrityError):
        store.append(spoil(_append(unborn, 0)))
    assert _all_of_it(scratch, unborn) == [[]] * 7


def test_summary_seats_and_deadlines_are_written(
    scratch: Scratch, store: Store, game_id: str
) -> None:
    player = uuid7()
    seats = [
        {"seat": 0, "player_id": player, "bot": None, "status": "active", "live": True},
        {"seat": 2, "player_id": None, "bot": "random", "status": "active", "live": True},
    ]
    append = dataclasses.replace(
        _append(game_id, 2, 2),
        status="active",
        turn_seat=2,
        round_version=4,
        started_version=3,
        clock="set",
        clock_seconds=65,
        round=1,
        turn=1,
        bot="set",
        bot_seconds=0.75,
        seats=seats,
    )
    appended = store.append(append)
    (game,) = scratch.execute(
        "SELECT status, version, turn_seat, turn_player, started_version, round_version"
        " FROM games WHERE game_id = %s",
        (game_id,),
    )
    assert game == ("active", 4, 2, None, 3, 4)
    assert scratch.execute(
        "SELECT seat, player_id::text, bot FROM seats WHERE game_id = %s ORDER BY seat", (game_id,)
    ) == [(0, player, None), (2, None, "random")]
    due = scratch.execute(
        "SELECT kind, round, turn, extract(epoch FROM due_at - %s::timestamptz)::float8"
        " FROM deadlines WHERE game_id = %s ORDER BY kind",
        (appended.at, game_id),
    )
    assert due == [("bot", 1, 1, 0.75), ("turn", 1, 1, 65.0)]
    store.append(_append(game_id, 4))
    assert len(scratch.execute("SELECT kind FROM deadlines WHERE game_id = %s", (game_id,))) == 2
    store.append(_append(game_id, 5, clock="clear", bot="clear"))
    assert scratch.execute("SELECT kind FROM deadlines WHERE game_id = %s", (game_id,)) == []


def test_each_append_of_events_has_one_row_in_the_outbox(
    scratch: Scratch, store: Store, game_id: str
) -> None:
    store.append(_append(game_id, 2, 3))
    store.append(_append(game_id, 2))
    store.append(_append(game_id, 5, 0, **_keyed(uuid7(), "k")))
    store.append(_append(game_id, 5))
    assert scratch.execute(
        "SELECT version, events FROM outbox WHERE game_id = %s ORDER BY version", (game_id,)
    ) == [(2, 2), (5, 3), (6, 1)]


def test_the_application_takes_from_the_outbox_and_changes_nothing_in_it(
    scratch: Scratch, store: Store, game_id: str
) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        store.database.run("UPDATE outbox SET events = 1", {})
    row = {"game_id": game_id}
    store.database.run("DELETE FROM outbox WHERE game_id = %(game_id)s::uuid", row)
    assert scratch.execute("SELECT * FROM outbox WHERE game_id = %s", (game_id,)) == []


def test_statuses_other_than_appended_say_nothing_else(store: Store, game_id: str) -> None:
    conflict = store.append(_append(game_id, 0))
    assert conflict == Appended("conflict", None, (), None, None)
