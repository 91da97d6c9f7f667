"""The audit finds whatever was changed from outside, and names the first wrong event."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.commands import LeaveSeat, Resign
from domain.verification import COMMITMENT, LEGALITY, Check
from eventstore.attempts import Attempts
from eventstore.auditing import (
    DISPUTES,
    FEED,
    ROWS,
    SUMMARY,
    TIMERS,
    Audited,
    Auditor,
    check_loading,
    check_rows,
)
from eventstore.checkpoints import Checkpoint, Checkpoints, Kept
from eventstore.disputes import Disputes, Filing
from eventstore.errors import Broken
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.pool import Pool, open_pool
from eventstore.recorded import ZERO_HASH, hash_after
from eventstore.signing import Signer
from eventstore.store import Store
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, open_table
from tests.eventstore.tampering import unguard

TABLES = (
    "events",
    "games",
    "dispute_events",
    "pending_disputes",
    "seats",
    "deadlines",
    "outbox",
    "feed",
    "checkpoints",
    "signing_keys",
)


@dataclass
class Archive:
    """A database of its own in which nothing guards the record, and what it holds."""

    scratch: Scratch
    pool: Pool
    keys: Path
    tables: dict[str, Table]

    def __post_init__(self) -> None:
        self.auditor = Auditor(self.pool)
        self.checkpoints = Checkpoints(self.pool)
        self.signer = Signer(self.pool, self.keys)

    def game(self, name: str) -> Audited:
        found = self.auditor.game(self.tables[name].game_id)
        assert found is not None
        return found

    def failed(self, name: str = "running") -> dict[str, int | None]:
        """The checks of a game that fail, with the event that each names."""
        return {check.check: check.version for check in self.game(name).wrong}

    def execute(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        return self.scratch.execute(statement, parameters or None)

    def feed(self) -> None:
        while Feed(self.pool).sequence() != (0, 0):
            pass

    def sign(self) -> list[Checkpoint]:
        self.feed()
        made = []
        while (checkpoint := self.checkpoints.write(self.signer, 15)) is not None:
            made.append(checkpoint)
        return made

    def signed(self) -> list[Check]:
        """The checkpoints that are not as they were."""
        checks = self.checkpoints.check(self.signer.jwks())
        return [check for check in checks if check.ok is not True]

    def signed_of(self, game_id: str) -> Check:
        """One game by what was signed of it."""
        return self.checkpoints.check_game(game_id, self.signer.jwks())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    with scratch_database() as scratch, open_pool(scratch.app_url, 4) as pool:
        executor = Executor(Store(pool))
        tables = {
            "running": open_table(executor, "vallelujah"),
            "bots": open_table(executor, humans=1, bots=("random", "random")),
            "lobby": open_table(executor, start=False),
            "cancelled": open_table(executor, humans=1, start=False),
            "finished": open_table(executor),
            "rounds": open_table(executor, rounds_to_win=2),
            "resigned": open_table(executor, "vallelujah", humans=3),
        }
        for _ in range(6):
            tables["running"].make_move()
        for name in ("finished", "rounds"):
            tables[name].play_out(random.Random(5))
        for name, command in (("cancelled", LeaveSeat), ("resigned", Resign)):
            player = tables[name].players[0]
            assert player is not None
            executor.execute(tables[name].game_id, command(player))
        unguard(scratch)
        for table in TABLES:
            scratch.execute(f"CREATE TABLE kept_{table} AS TABLE {table} WITH NO DATA")
        archive = Archive(scratch, pool, tmp_path_factory.mktemp("keys"), tables)
        archive.sign()
        for table in TABLES:
            scratch.execute(f"INSERT INTO kept_{table} SELECT * FROM {table}")
        yield archive


@pytest.fixture
def archive(whole: Archive) -> Iterator[Archive]:
    """The archive, which is as before after each test."""
    yield whole
    whole.scratch.execute(
        "SET synchronous_commit = off;"
        + "".join(f"DELETE FROM {table};" for table in reversed(TABLES))
        + "".join(f"INSERT INTO {table} SELECT * FROM kept_{table};" for table in TABLES)
    )


def test_what_nobody_touched_is_right(archive: Archive) -> None:
    assert set(archive.auditor.game_ids(page=2)) == {t.game_id for t in archive.tables.values()}
    for name in archive.tables:
        assert archive.game(name).wrong == [], name
    assert archive.auditor.feed().check.ok
    assert archive.signed() == []
    assert archive.checkpoints.count() > 1
    assert archive.auditor.game(uuid7()) is None


def rows(archive: Archive, name: str) -> tuple[str, list[int], list[str], bytes]:
    game_id = archive.tables[name].game_id
    stored = archive.execute(
        "SELECT version, body, hash FROM events WHERE game_id = %s ORDER BY version", game_id
    )
    return (
        game_id,
        [v for v, _, _ in stored],
        [b for _, b, _ in stored],
        b"".join(h for _, _, h in stored),
    )


def test_every_single_byte_of_body_and_hash_counts(archive: Archive) -> None:
    """Each byte, changed to another one by chance; the event that it stands in is named."""
    game_id, versions, bodies, hashes = rows(archive, "running")
    dice = random.Random(7)
    assert check_rows(game_id, versions, bodies, hashes)[0].ok
    for index, body in enumerate(bodies):
        # The events before are right anyway, so that the change is looked at alone.
        for at in range(len(body)):
            other = dice.choice([c for c in map(chr, range(32, 127)) if c != body[at]])
            changed = [*bodies[:index], body[:at] + other + body[at + 1 :]]
            check, _ = check_rows(game_id, versions[: index + 1], changed, hashes)
            assert (check.ok, check.version) == (False, index + 1), (index, at, other)
    for at in range(len(hashes)):
        flipped = bytearray(hashes)
        flipped[at] ^= 1 << dice.randrange(8)
        check, _ = check_rows(game_id, versions, bodies, bytes(flipped))
        assert (check.ok, check.version) == (False, at // 32 + 1), at


@pytest.mark.parametrize("column", ["body", "hash"])
@pytest.mark.parametrize("seed", range(6))
def test_a_changed_byte_is_found_in_the_database(archive: Archive, column: str, seed: int) -> None:
    dice = random.Random(seed)
    table = archive.tables["running"]
    event = dice.choice(table.events())
    ((value,),) = archive.execute(
        f"SELECT {column} FROM events WHERE game_id = %s AND version = %s",
        table.game_id,
        event.version,
    )
    at = dice.randrange(len(value))
    other = dice.choice([byte for byte in b"0aZ ~" if byte != (ord(value[at : at + 1]))])
    if column == "body":
        changed: Any = value[:at] + chr(other) + value[at + 1 :]
    else:
        changed = value[:at] + bytes([other]) + value[at + 1 :]
    archive.execute(
        f"UPDATE events SET {column} = %s WHERE game_id = %s AND version = %s",
        changed,
        table.game_id,
        event.version,
    )
    assert archive.failed() == {ROWS: event.version}


@pytest.mark.parametrize("at", range(16))
def test_a_changed_byte_of_a_game_id_is_found(archive: Archive, at: int) -> None:
    game_id = archive.tables["running"].game_id.replace("-", "")
    other = bytearray(bytes.fromhex(game_id))
    other[at] ^= 1
    archive.execute(
        "UPDATE events SET game_id = %s WHERE game_id = %s AND version = 4", other.hex(), game_id
    )
    assert archive.failed() == {ROWS: 4}
    assert len(list(archive.auditor.game_ids(2))) == len(archive.tables) + 1
    stranger = archive.auditor.game(other.hex())
    assert stranger is not None
    assert stranger.wrong


@pytest.mark.parametrize("version", [1, 3, -1])
def test_a_changed_version_is_found(archive: Archive, version: int) -> None:
    table = archive.tables["running"]
    head = table.game().version
    version = head if version == -1 else version
    archive.execute(
        "UPDATE events SET version = version + 1000 WHERE game_id = %s AND version = %s",
        table.game_id,
        version,
    )
    assert archive.failed() == {ROWS: version}


def test_a_removed_event_is_found(archive: Archive) -> None:
    table = archive.tables["running"]
    for version in (table.game().version, 5, 1):
        archive.execute(
            "DELETE FROM events WHERE game_id = %s AND version = %s", table.game_id, version
        )
        wrong = archive.game("running").wrong[0]
        if version in (1, 5):
            assert (wrong.check, wrong.version) == (ROWS, version)
        else:
            assert wrong.check == SUMMARY


@pytest.mark.parametrize("most", [1, 15])
def test_the_first_of_the_last_events_that_are_not_there_is_named(
    archive: Archive, most: int
) -> None:
    table = archive.tables["finished"]
    last = table.game().version - most
    archive.execute("DELETE FROM events WHERE game_id = %s AND version > %s", table.game_id, last)
    first, *_ = archive.game("finished").wrong
    assert first.version == last + 1
    (summary,) = (each for each in archive.game("finished").wrong if each.check == SUMMARY)
    assert summary.version == last + 1
    assert "the summary tells of this event" in summary.detail
    archive.execute("UPDATE games SET version = %s WHERE game_id = %s", last, table.game_id)
    signed = archive.signed_of(table.game_id)
    assert (signed.ok, signed.version) == (False, last + 1)
    assert f"is cut off after event {last} and had event " in signed.detail


def test_swapped_events_are_found(archive: Archive) -> None:
    table = archive.tables["running"]
    for statement in (
        "UPDATE events e SET body = o.body FROM events o WHERE o.game_id = e.game_id"
        " AND e.version IN (4, 5) AND o.version = 9 - e.version AND e.game_id = %s",
        "UPDATE events e SET body = o.body, hash = o.hash FROM events o WHERE"
        " o.game_id = e.game_id AND e.version IN (3, 4) AND o.version = 7 - e.version"
        " AND e.game_id = %s",
    ):
        archive.execute(statement, table.game_id)
        (version,) = archive.failed().values()
        assert version in (3, 4)


def test_an_inserted_event_is_found(archive: Archive) -> None:
    table = archive.tables["running"]
    archive.execute(
        "UPDATE events SET version = version + 500 WHERE game_id = %s AND version > 4",
        table.game_id,
    )
    archive.execute(
        "UPDATE events SET version = version - 499 WHERE game_id = %s AND version > 500",
        table.game_id,
    )
    archive.execute(
        "INSERT INTO events SELECT game_id, 5, body, hash FROM events"
        " WHERE game_id = %s AND version = 4",
        table.game_id,
    )
    assert archive.failed() == {ROWS: 5}


def test_a_truncated_event_is_found(archive: Archive) -> None:
    table = archive.tables["running"]
    for length in (0, 1, 50, -1):
        archive.execute(
            "UPDATE events SET body = left(body, %s) WHERE game_id = %s AND version = 4",
            length,
            table.game_id,
        )
        assert archive.failed() == {ROWS: 4}


def rechained(archive: Archive, name: str, edit: Callable[[int, dict[str, Any]], Any]) -> None:
    """Change a game's events and compute every hash anew, as someone would who knows how."""
    game_id, versions, bodies, _ = rows(archive, name)
    prev_hash = ZERO_HASH
    for version, body in zip(versions, bodies, strict=True):
        members = orjson.loads(body)
        edit(version, members)
        text = orjson.dumps(members, option=orjson.OPT_SORT_KEYS)
        prev_hash = hash_after(prev_hash, text)
        archive.execute(
            "UPDATE events SET body = %s, hash = %s WHERE game_id = %s AND version = %s",
            text.decode(),
            bytes.fromhex(prev_hash),
            game_id,
            version,
        )


def test_a_history_that_was_written_anew_is_found_by_what_was_signed(archive: Archive) -> None:
    def other_player(version: int, members: dict[str, Any]) -> None:
        if members["type"] == "seat.taken" and members["data"]["seat"] == 1:
            members["data"]["client_seed"] = "00"

    rechained(archive, "lobby", other_player)
    assert archive.failed("lobby") == {}, "nothing but a signature can tell"
    (fault,) = archive.signed()
    table = archive.tables["lobby"]
    assert f"of game {table.game_id} is another one than was signed" in fault.detail
    assert archive.signed_of(table.game_id).detail == fault.detail
    assert archive.signed_of(archive.tables["running"].game_id).ok


def test_a_move_that_was_written_anew_is_found_by_the_rules(archive: Archive) -> None:
    """The whole chain is right again; that the move could not lead there is found all the same."""
    changed: list[int] = []

    def other_power(version: int, members: dict[str, Any]) -> None:
        if members["type"] == "battalion.led" and not changed:
            members["data"]["strength"] += 1
            changed.append(version)

    rechained(archive, "running", other_power)
    assert archive.failed() == {LEGALITY: changed[0]}


def test_what_only_an_earlier_round_says_is_found(archive: Archive) -> None:
    """A load that begins at a later round would not know of it."""
    events = archive.tables["rounds"].events()
    assert check_loading(events[0].game_id, events).ok
    dealt = [event.version for event in events if event.type == "round.dealt"]
    assert len(dealt) > 1
    stray = replace(events[dealt[0]], type="table.changed", data={"turn_seconds": 99})
    events.insert(dealt[0], stray)
    numbered = [replace(event, version=number) for number, event in enumerate(events, 1)]
    check = check_loading(events[0].game_id, numbered)
    assert (check.ok, check.version) == (False, dealt[1] + 1)
    assert "turn_seconds" in check.detail


@pytest.mark.parametrize("name", ["running", "lobby", "finished"])
def test_a_secret_that_was_not_committed_to_is_found(archive: Archive, name: str) -> None:
    archive.execute("UPDATE games SET secret = sha256(secret)")
    assert SUMMARY in archive.failed(name)
    assert (COMMITMENT in archive.failed(name)) == (name != "finished")


def test_text_that_is_not_canonical_is_found_under_any_hash(archive: Archive) -> None:
    game_id, versions, bodies, _ = rows(archive, "lobby")
    spaced = bodies[0].replace('"type":', '"type": ', 1)
    hashes = bytes.fromhex(hash_after(ZERO_HASH, spaced.encode()))
    check, _ = check_rows(game_id, versions[:1], [spaced], hashes)
    assert (check.ok, check.version) == (False, 1)
    assert "canonical" in check.detail


@pytest.mark.parametrize(
    "change",
    [
        "ruleset = 'halleluja'",
        "ruleset_version = 'halleluja/1'",
        "status = 'finished'",
        "version = version - 1",
        "visibility = 'private'",
        "options = options || '{\"rounds_to_win\": 9}'",
        "turn_seconds = 5",
        "max_seats = 3",
        "host_seat = 1",
        "turn_seat = NULL",
        "turn_player = gen_random_uuid()",
        "started_version = 1",
        "round_version = NULL",
        "created_at = created_at - interval '1 microsecond'",
        "updated_at = updated_at + interval '1 microsecond'",
    ],
)
def test_a_summary_that_does_not_follow_from_the_events_is_found(
    archive: Archive, change: str
) -> None:
    archive.execute(f"UPDATE games SET {change} WHERE status = 'active'")
    assert SUMMARY in archive.failed()
    (check,) = (check for check in archive.game("running").wrong if check.check == SUMMARY)
    assert check.detail.startswith(change.partition(" ")[0])


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM seats WHERE seat = 1",
        "INSERT INTO seats SELECT game_id, 5, NULL, 'random', 'active', true FROM games",
        "UPDATE seats SET player_id = gen_random_uuid()",
        "UPDATE seats SET bot = 'wise'",
        "UPDATE seats SET status = 'away'",
        "UPDATE seats SET live = false",
    ],
)
def test_seats_that_do_not_follow_from_the_events_are_found(archive: Archive, change: str) -> None:
    archive.execute(change)
    assert SUMMARY in archive.failed()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM deadlines",
        "UPDATE deadlines SET due_at = due_at + interval '1 microsecond'",
        "UPDATE deadlines SET turn = turn + 1",
        "UPDATE deadlines SET round = round + 1",
        "UPDATE deadlines SET kind = 'bot'",
        "UPDATE deadlines SET claimed_until = 'infinity'",
        "UPDATE deadlines SET claimed_until = now() + interval '2 minutes'",
    ],
)
def test_a_deadline_that_is_not_the_running_turns_is_found(archive: Archive, change: str) -> None:
    game_id = archive.tables["running"].game_id
    archive.execute(f"{change} WHERE game_id = %s", game_id)
    assert archive.failed() == {TIMERS: None}


def test_a_computer_players_deadline_is_looked_at(archive: Archive) -> None:
    game = archive.tables["bots"].game()
    assert game.turn is not None
    bot = game.seats[game.turn.seat].bot is not None
    archive.execute("DELETE FROM deadlines WHERE kind = 'bot'")
    assert (archive.failed("bots") == {TIMERS: None}) == bot


def test_a_deadline_of_a_game_that_is_over_is_found(archive: Archive) -> None:
    archive.execute(
        "INSERT INTO deadlines (game_id, kind, round, turn, due_at)"
        " VALUES (%s, 'turn', 1, 1, now())",
        archive.tables["finished"].game_id,
    )
    assert archive.failed("finished") == {TIMERS: None}


def test_disputes_have_a_chain_of_their_own(archive: Archive) -> None:
    table = archive.tables["running"]
    store = Store(archive.pool)
    disputes = Disputes(store, Attempts(store))
    player = table.players[0]
    assert player is not None
    for version in (5, 6):
        filing = Filing(player, "Unfair.", version=version, claim="shuffle")
        disputes.file(table.game_id, filing, check=lambda _: None)
    checks = {check.check: check for check in archive.game("running").checks}
    assert checks[DISPUTES].ok
    archive.execute("UPDATE dispute_events SET body = replace(body, 'Unfair', 'Unfeir')")
    assert archive.failed() == {DISPUTES: 1}
    archive.execute("DELETE FROM dispute_events WHERE version = 1")
    assert archive.failed() == {DISPUTES: 1}


def test_a_game_without_its_summary_is_found(archive: Archive) -> None:
    game_id = archive.tables["lobby"].game_id
    archive.execute("DELETE FROM seats WHERE game_id = %s", game_id)
    archive.execute("DELETE FROM games WHERE game_id = %s", game_id)
    assert game_id in list(archive.auditor.game_ids())
    assert archive.failed("lobby") == {SUMMARY: None}


def remove(archive: Archive, name: str, tables: tuple[str, ...], after: int = 0) -> str:
    """Remove a game's rows from some tables, or of its events those after a version."""
    game_id = archive.tables[name].game_id
    for table in tables:
        more = f" AND version > {after}" if table in ("events", "feed") else ""
        archive.execute(f"DELETE FROM {table} WHERE game_id = %s{more}", game_id)
    return game_id


def renumber(archive: Archive) -> None:
    archive.execute(
        "CREATE TEMP TABLE dense AS SELECT row_number() OVER (ORDER BY position) AS position,"
        " game_id, version FROM feed; TRUNCATE feed; INSERT INTO feed SELECT * FROM dense"
    )


def test_a_whole_game_that_was_removed_is_named(archive: Archive) -> None:
    """Everywhere, and the feed numbered anew: the signed checkpoints tell, and which it was."""
    game_id = remove(archive, "finished", ("events", "seats", "games"))
    feed = archive.auditor.feed().check
    assert feed.ok is False
    assert game_id in feed.detail
    remove(archive, "finished", ("feed",))
    assert archive.auditor.feed().check.ok is False
    renumber(archive)
    assert archive.auditor.feed().check.ok
    assert [archive.game(name).wrong for name in archive.tables if name != "finished"] == [[]] * 6
    faults = archive.signed()
    assert faults
    assert f"game {game_id} is gone" in faults[0].detail
    assert archive.signed_of(game_id).detail in [each.detail for each in faults]


def test_a_game_cut_back_is_named(archive: Archive) -> None:
    game_id = remove(archive, "running", ("events", "feed"), after=4)
    archive.execute("UPDATE games SET version = 4 WHERE game_id = %s", game_id)
    renumber(archive)
    assert archive.auditor.feed().check.ok
    details = " ".join(check.detail for check in archive.signed())
    assert f"game {game_id} is cut off after event 4 and had event" in details
    assert archive.signed_of(game_id).ok is False
    assert archive.signed_of(game_id).detail in details


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE checkpoints SET jws = left(jws, -9) || reverse(right(jws, 9))", "signature"),
        (
            "UPDATE checkpoints SET heads = set_byte(heads, 25, 255 - get_byte(heads, 25))",
            "what was signed",
        ),
        ("UPDATE checkpoints SET heads = substr(heads, 1, 52) WHERE number = 1", "what was signed"),
        ("UPDATE checkpoints SET position = position - 1 WHERE number = 1", "what was signed"),
        ("DELETE FROM checkpoints WHERE number = 1", "number 1 is missing"),
        ("DELETE FROM signing_keys", "not among the trusted"),
    ],
)
def test_a_checkpoint_that_was_changed_is_found(archive: Archive, change: str, told: str) -> None:
    jwks = archive.signer.jwks()
    archive.execute(change)
    if "signing_keys" in change:
        jwks = {"keys": []}
    (fault,) = (check for check in archive.checkpoints.check(jwks) if check.ok is not True)
    assert told in fault.detail
    one = archive.checkpoints.check_game(uuid7(), jwks)
    assert one.ok is False
    assert told in one.detail


def test_a_chain_of_checkpoints_has_no_other_end(archive: Archive) -> None:
    """The last ones can be removed unseen, unless one was kept elsewhere."""
    newest = archive.checkpoints.newest()
    assert newest is not None
    kept = Kept.read(newest)
    assert archive.checkpoints.check_kept(kept).ok
    archive.execute("DELETE FROM checkpoints WHERE number = (SELECT max(number) FROM checkpoints)")
    assert archive.signed() == []
    fault = archive.checkpoints.check_kept(kept)
    assert fault.ok is False
    assert "is not there" in fault.detail
    archive.sign()
    assert archive.signed() == []
    assert archive.checkpoints.check_kept(kept).ok is False


def test_nothing_is_signed_that_is_not_there_and_nothing_twice(archive: Archive) -> None:
    assert archive.sign() == []
    archive.execute("DELETE FROM checkpoints")
    game_id = remove(archive, "lobby", ("events",))
    with pytest.raises(Broken, match=game_id):
        archive.sign()


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM feed WHERE position = 3",
        "DELETE FROM feed WHERE position = (SELECT max(position) FROM feed)",
        "INSERT INTO feed SELECT max(position) + 1, gen_random_uuid(), 1 FROM feed",
        "INSERT INTO feed SELECT max(position) + 2, gen_random_uuid(), 1 FROM feed",
        "UPDATE feed SET position = CASE position WHEN 1 THEN 2000 ELSE 1 END"
        " WHERE position IN (1, 2); UPDATE feed SET position = 2 WHERE position = 2000",
        "INSERT INTO outbox SELECT game_id, 2, 1 FROM games LIMIT 1",
        "UPDATE feed SET version = version + 1 WHERE position = 5",
    ],
)
def test_what_is_wrong_in_the_feed_is_found(archive: Archive, change: str) -> None:
    archive.execute(change)
    check, positions = archive.auditor.feed()
    assert positions == archive.execute("SELECT count(*) FROM feed")[0][0]
    assert (check.check, check.ok) == (FEED, False)
    assert check.detail
