"""Partitions: made ahead, guarded like the rest, taken out of the record and put back."""

from __future__ import annotations

import datetime
import random
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from api.command import postgres_tools
from api.command.console import CommandFailed
from domain.commands import LeaveSeat
from domain.game import fold
from eventstore import backups
from eventstore.attempts import Attempts
from eventstore.auditing import ROWS, Auditor
from eventstore.chain import verify
from eventstore.checkpoints import Checkpoints
from eventstore.deliveries import Fanout
from eventstore.disputes import Disputes, Filing
from eventstore.errors import Archived, Broken
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.partitions import DEFAULT, MONTHS_AHEAD, Made, PartitionError, Partitions
from eventstore.players import Players
from eventstore.pool import Pool, open_pool
from eventstore.sealing import Sealer
from eventstore.signing import Signer
from eventstore.standings import Standings
from eventstore.store import Store
from eventstore.webhooks import Owner, Webhooks
from tests.databases import Scratch, scratch_database
from tests.eventstore.months import OLD, OLD_NAME, catch_up, id_at, make_old, table_as
from tests.eventstore.tables import Table


@pytest.fixture(scope="module")
def parted() -> Iterator[Scratch]:
    """A database of its own, which has a partition for an old month."""
    with scratch_database() as scratch:
        make_old(scratch.owner_url)
        yield scratch


@pytest.fixture
def partitions(parted: Scratch) -> Iterator[Partitions]:
    """Its partitions, as the owner."""
    with psycopg.connect(parted.owner_url, autocommit=True) as owner:
        yield Partitions(owner)


@pytest.fixture
def pool(parted: Scratch) -> Iterator[Pool]:
    """Connections as the application."""
    with open_pool(parted.app_url, 4) as opened:
        yield opened


def _where(scratch: Scratch, game_id: str) -> str:
    (row,) = scratch.execute(
        "SELECT DISTINCT tableoid::regclass::text FROM events WHERE game_id = %s", (game_id,)
    )
    return str(row[0])


def _unless_busy(change: Callable[[str], None]) -> bool:
    """Change the old month; False if the record is too busy for that."""
    try:
        change(OLD_NAME)
    except PartitionError as error:
        if "busy" in str(error):
            return False
        raise
    return True


def _month(ahead: int) -> datetime.datetime:
    now = datetime.datetime.now(datetime.UTC)
    months = now.year * 12 + now.month - 1 + ahead
    return datetime.datetime(months // 12, months % 12 + 1, 1, tzinfo=datetime.UTC)


def _name(month: datetime.datetime) -> str:
    return f"events_{month:%Y_%m}"


def test_the_next_months_are_there_from_the_start(parted: Scratch, partitions: Partitions) -> None:
    names = [partition.name for partition in partitions.all() if partition.attached]
    expected = [_name(_month(ahead)) for ahead in range(MONTHS_AHEAD + 1)]
    assert [name for name in names if name in expected] == expected
    assert {OLD_NAME, DEFAULT} <= set(names)


def test_a_game_lies_in_the_month_in_which_it_was_opened(parted: Scratch, pool: Pool) -> None:
    executor = Executor(Store(pool))
    first, last = _month(1), _month(2) - datetime.timedelta(milliseconds=1)
    for moment in (_month(0), first, last):
        table = table_as(executor, id_at(moment))
        table.make_move()
        assert _where(parted, table.game_id) == _name(moment)
        assert verify(table.events(), game_id=table.game_id) is None
    beyond = table_as(executor, id_at(datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)))
    assert _where(parted, beyond.game_id) == DEFAULT


def test_the_application_has_the_next_ones_made_and_nothing_else(parted: Scratch) -> None:
    with psycopg.connect(parted.app_url, autocommit=True) as application:
        ours = Partitions(application)
        assert set(ours.make(5)) >= {
            Made(_name(_month(MONTHS_AHEAD)), "there"),
            Made(_name(_month(5)), "made"),
        }
        assert Made(_name(_month(5)), "there") in ours.make(5)
        for months in (-1, 25, 10**6):
            with pytest.raises(errors.InvalidParameterValue):
                ours.make(months)
        for statement in (
            f"ALTER TABLE events DETACH PARTITION {OLD_NAME}",
            f"DROP TABLE {OLD_NAME}",
            f"ALTER TABLE {OLD_NAME} DISABLE TRIGGER ALL",
            "CREATE TABLE mine PARTITION OF events FOR VALUES FROM ("
            "'ff000000-0000-0000-0000-000000000000') TO (MAXVALUE)",
            "SELECT make_partition('2031-01-01')",
            f"SELECT guard_partition('{OLD_NAME}')",
            f"DELETE FROM archives WHERE partition = '{OLD_NAME}'",
            f"SELECT * FROM {OLD_NAME}",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                application.execute(statement.encode())
        with pytest.raises(errors.InsufficientPrivilege):
            ours.detach(OLD_NAME)


def test_several_at_once_make_each_of_them_once(parted: Scratch) -> None:
    made: list[list[Made]] = []

    def make() -> None:
        with psycopg.connect(parted.app_url, autocommit=True) as application:
            made.append(Partitions(application).make(7))

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(made) == 4
    assert sum(Made(_name(_month(7)), "made") in each for each in made) == 1


def test_a_month_that_has_games_in_the_default_partition_stays_there(
    parted: Scratch, partitions: Partitions, pool: Pool
) -> None:
    table = table_as(Executor(Store(pool)), id_at(_month(9)))
    assert _where(parted, table.game_id) == DEFAULT
    states = dict(partitions.make(10))
    assert states[_name(_month(9))] == "occupied"
    assert states[_name(_month(10))] == "made"
    table.make_move()
    assert _where(parted, table.game_id) == DEFAULT


def test_moves_go_on_while_partitions_are_made(parted: Scratch, pool: Pool) -> None:
    executor = Executor(Store(pool))
    tables = [table_as(executor, uuid7()) for _ in range(3)]
    going = threading.Event()
    going.set()
    failed: list[BaseException] = []

    def play(table: Table) -> None:
        try:
            while going.is_set() and not table.game().over:
                table.make_move()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=play, args=(table,)) for table in tables]
    for thread in threads:
        thread.start()
    with psycopg.connect(parted.app_url, autocommit=True) as application:
        for months in range(11, 15):
            assert Made(_name(_month(months)), "made") in Partitions(application).make(months)
    going.clear()
    for thread in threads:
        thread.join(60)
    assert failed == []
    for table in tables:
        assert verify(table.events(), game_id=table.game_id) is None


class TestArchive:
    """A month that is over: detached, dumped, dropped, restored, attached."""

    @pytest.fixture
    def old(self, pool: Pool) -> Table:
        """A match of the old month that is over."""
        table = table_as(Executor(Store(pool)), id_at(OLD + datetime.timedelta(days=3)))
        table.play_out(random.Random(1))
        catch_up(pool)
        return table

    @pytest.fixture(autouse=True)
    def _put_back(self, partitions: Partitions) -> Iterator[None]:
        yield
        if not next(each.attached for each in partitions.all() if each.name == OLD_NAME):
            partitions.attach(OLD_NAME)

    def test_what_is_archived_is_said_to_be(
        self, partitions: Partitions, pool: Pool, old: Table
    ) -> None:
        events, fresh = old.events(), Store(pool)
        partitions.detach(OLD_NAME)
        for store in (fresh, old.executor.store):
            for look in (store.load, store.head):
                with pytest.raises(Archived):
                    look(old.game_id)
        with pytest.raises(Archived):
            old.executor.execute(old.game_id, LeaveSeat(str(old.players[0])))
        for read in (fresh.events, lambda game_id: fresh.fold_at(game_id, 3)):
            with pytest.raises(Archived):
                read(old.game_id)
        assert fresh.events(uuid7()) == []
        audited = Auditor(pool).game(old.game_id)
        assert audited is not None
        assert {check.ok for check in audited.checks} == {None}
        why = f"its events are in {OLD_NAME}, which is detached from the record"
        assert {check.detail for check in audited.checks} == {why}
        assert audited.unseen
        assert Auditor(pool).detached() == [OLD_NAME]
        assert not next(each.attached for each in partitions.all() if each.name == OLD_NAME)
        partitions.attach(OLD_NAME)
        assert old.events() == events
        loaded = fresh.load(old.game_id)
        assert loaded is not None
        assert loaded.head_hash == events[-1].hash
        audited = Auditor(pool).game(old.game_id)
        assert audited is not None
        assert next(check.ok for check in audited.checks if check.check == ROWS)
        assert audited.wrong == []

    def test_through_an_archive_and_back(
        self, parted: Scratch, partitions: Partitions, pool: Pool, old: Table, tmp_path: Path
    ) -> None:
        events = old.events()
        server = backups.server_version(parted.owner_url)
        try:
            dump = postgres_tools.for_dump(server)
        except CommandFailed as error:  # of a server that is not ours
            pytest.skip(str(error))
        partitions.detach(OLD_NAME)
        archive = tmp_path / "archive"
        arguments = ["--format=custom", f"--table={OLD_NAME}", f"--file={archive}"]
        postgres_tools.run(dump, parted.owner_url, *arguments)
        with psycopg.connect(parted.owner_url) as owner:
            owner.execute(f"DROP TABLE {OLD_NAME}".encode())
        gone = next(each for each in partitions.all() if each.name == OLD_NAME)
        assert (gone.attached, gone.size) == (False, None)
        with pytest.raises(PartitionError, match="restore` its archive"):
            partitions.attach(OLD_NAME)
        restore = postgres_tools.for_restore(server, dump.major)
        postgres_tools.run(restore, parted.owner_url, str(archive))
        partitions.attach(OLD_NAME)
        assert old.events() == events
        assert fold(old.game_id, events).over
        audited = Auditor(pool).game(old.game_id)
        assert audited is not None
        assert audited.wrong == []
        for statement in (f"DELETE FROM {OLD_NAME}", f"TRUNCATE {OLD_NAME}", "DELETE FROM events"):
            with (
                psycopg.connect(parted.owner_url) as owner,
                pytest.raises(errors.RestrictViolation),
            ):
                owner.execute(statement.encode())

    @pytest.mark.parametrize("change", ["DELETE FROM", "TRUNCATE", "UPDATE"])
    def test_it_cannot_be_changed_meanwhile(
        self, parted: Scratch, partitions: Partitions, old: Table, change: str
    ) -> None:
        partitions.detach(OLD_NAME)
        statement = f"{change} {OLD_NAME}" + (" SET body = ''" if change == "UPDATE" else "")
        replicating = f"{parted.admin_url} options='-csession_replication_role=replica'"
        for url in (parted.owner_url, replicating):
            with psycopg.connect(url) as connection, pytest.raises(errors.RestrictViolation):
                connection.execute(statement.encode())

    def test_what_still_goes_on_is_not_archived(
        self, parted: Scratch, partitions: Partitions, pool: Pool, old: Table, tmp_path: Path
    ) -> None:
        running = table_as(Executor(Store(pool)), id_at(OLD))
        with pytest.raises(PartitionError, match="not over yet"):
            partitions.detach(OLD_NAME)
        running.play_out(random.Random(2))
        with pytest.raises(PartitionError, match="no place in the feed"):
            partitions.detach(OLD_NAME)
        while Feed(pool).sequence(1000)[0]:
            pass
        player = Players(pool).register("Ada", bytes(32), ["play"]).player_id
        Webhooks(pool, Sealer(tmp_path)).add(
            Owner("player", player), "https://example.com/", ["game.over"]
        )
        others = table_as(Executor(Store(pool)), uuid7())
        others.play_out(random.Random(3))
        for reader, come in (
            ("a checkpoint", lambda: Checkpoints(pool).write(Signer(pool, tmp_path))),
            ("the players' results", lambda: Standings(pool).step()),
            ("webhooks", lambda: Fanout(pool).step()),
        ):
            with pytest.raises(PartitionError, match=f"{reader} did not come to the last"):
                partitions.detach(OLD_NAME)
            while come():
                pass
        partitions.detach(OLD_NAME)
        # Nobody waits for what is detached.
        catch_up(pool)
        while Fanout(pool).step():
            pass
        assert Feed(pool).cursor("webhooks") == Feed(pool).head()
        parted.execute("DELETE FROM webhooks")

    def test_whoever_reads_meanwhile_is_told_what_is(
        self, parted: Scratch, partitions: Partitions, pool: Pool, old: Table
    ) -> None:
        """Whatever is between two looks: the whole game, or that it is in the archive."""
        events = old.events()
        going, wrong, right, refused = threading.Event(), list[object](), [0], [0]
        going.set()
        auditor = Auditor(pool)

        def audit() -> bool:
            audited = auditor.game(old.game_id)
            assert audited is not None
            if audited.unseen:
                raise Archived
            return audited.wrong == []

        def looks() -> Iterator[Callable[[], bool]]:
            store, hash_ = Store(pool, games=0), events[-1].hash
            yield lambda: store.events(old.game_id) == events
            yield lambda: getattr(store.head(old.game_id), "hash", None) == hash_
            yield lambda: getattr(store.load(old.game_id), "head_hash", None) == hash_
            yield lambda: getattr(store.load(old.game_id, whole=True), "head_hash", None) == hash_
            yield lambda: getattr(store.fold_at(old.game_id, 9), "version", None) == 9
            yield audit

        def look(sees: Callable[[], bool]) -> None:
            while going.is_set():
                try:
                    if sees():
                        right[0] += 1
                    else:
                        wrong.append("another game")
                except Archived:
                    refused[0] += 1
                except Exception as error:
                    wrong.append(error)

        threads = [threading.Thread(target=look, args=(each,)) for each in looks()]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 3
        try:
            while time.monotonic() < until:
                for change in (partitions.detach, partitions.attach):
                    while not _unless_busy(change):
                        pass
        finally:
            going.clear()
            for thread in threads:
                thread.join(30)
        assert wrong == []
        assert right[0]
        assert refused[0]

    def test_disputes_of_a_detached_month_wait_until_it_is_back(
        self, partitions: Partitions, pool: Pool
    ) -> None:
        store = Store(pool)
        disputes = Disputes(store, Attempts(store))
        table = table_as(Executor(store), id_at(OLD))
        filing = Filing(str(table.players[0]), "Unfair.", version=5, claim="shuffle")
        disputes.file(table.game_id, filing, check=lambda _: None)
        table.play_out(random.Random(4))
        catch_up(pool)
        partitions.detach(OLD_NAME)
        assert disputes.settle_waiting(10) == 0
        partitions.attach(OLD_NAME)
        assert disputes.settle_waiting(10) == 1
        assert disputes.settle_waiting(10) == 0

    def test_what_cannot_be_detached_or_attached(self, partitions: Partitions, old: Table) -> None:
        for name in (_name(_month(0)), _name(_month(1))):
            with pytest.raises(PartitionError, match="not over yet"):
                partitions.detach(name)
        for name in (DEFAULT, "games", "events_2025_13", 'events"; DROP TABLE games; --'):
            for action in (partitions.detach, partitions.attach):
                with pytest.raises(PartitionError, match="no month"):
                    action(name)
        with pytest.raises(PartitionError, match="there is no partition events_2024_01"):
            partitions.detach("events_2024_01")
        with pytest.raises(PartitionError, match="attached already"):
            partitions.attach(OLD_NAME)

    def test_a_busy_record_is_not_waited_for(
        self, parted: Scratch, partitions: Partitions, old: Table
    ) -> None:
        with psycopg.connect(parted.app_url) as reader:
            reader.execute("SELECT count(*) FROM events")
            with pytest.raises(PartitionError, match="busy"):
                partitions.detach(OLD_NAME)
        partitions.detach(OLD_NAME)

    def test_a_month_in_the_archive_is_not_made_again(
        self, parted: Scratch, partitions: Partitions, old: Table
    ) -> None:
        partitions.detach(OLD_NAME)
        with psycopg.connect(parted.owner_url) as owner:
            row = owner.execute("SELECT make_partition('2025-01-01')").fetchone()
        assert row == ("archived",)

    def test_an_unguarded_table_is_not_attached(
        self, parted: Scratch, partitions: Partitions, old: Table
    ) -> None:
        partitions.detach(OLD_NAME)
        change = f"ALTER TABLE {OLD_NAME} {{}} TRIGGER append_only_truncate"
        parted.execute(change.format("DISABLE"))
        with pytest.raises(PartitionError, match="triggers"):
            partitions.attach(OLD_NAME)
        parted.execute(change.format("ENABLE ALWAYS"))


def test_a_game_whose_events_are_gone_is_not_in_the_archive(parted: Scratch, pool: Pool) -> None:
    store = Store(pool)
    table = table_as(Executor(store), uuid7())
    game_id = uuid7()
    parted.execute(
        "INSERT INTO games SELECT (jsonb_populate_record(g, jsonb_build_object("
        "'game_id', %s::text))).* FROM games g WHERE game_id = %s",
        (game_id, table.game_id),
    )
    for look in (store.load, store.head):
        with pytest.raises(Broken):
            look(game_id)
