"""The executor on a real database: whole matches, expiries, keys, and what a loser is told."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from domain.commands import (
    ChangeSeat,
    CreateGame,
    LeaveSeat,
    MakeMove,
    Resign,
    StartGame,
    TakeSeat,
)
from domain.game import Game, fold, legal_moves, view
from domain.redaction import SPECTATOR
from domain.refusals import (
    NOT_YOUR_TURN,
    STALE_TURN,
    TURN_EXPIRED,
    VALIDATION,
    Refused,
)
from domain.times import to_micros
from eventstore.chain import verify
from eventstore.errors import GameNotFound, KeyReused
from eventstore.executor import KEEP_KEYS, Executor, Outcome
from eventstore.ids import uuid7
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.databases import Scratch
from tests.eventstore.tables import Table, a_request, open_table, with_call


@pytest.fixture
def clocked(scratch: Scratch) -> Iterator[Executor]:
    """An executor on a clock that the test moves."""
    with open_pool(scratch.clocked_url, 4) as pool:
        yield Executor(Store(pool))


def _summary(scratch: Scratch, game_id: str) -> tuple[Any, ...]:
    (row,) = scratch.execute(
        "SELECT status, version, turn_seat, turn_player::text, host_seat, options, max_seats,"
        " turn_seconds, started_version, round_version FROM games WHERE game_id = %s",
        (game_id,),
    )
    return row


def _of_game(game: Game, events: list[Any]) -> tuple[Any, ...]:
    turn = game.turn
    at = {event.type: event.version for event in events}
    return (
        game.status,
        game.version,
        turn.seat if turn else None,
        game.seats[turn.seat].player_id if turn else None,
        game.host,
        game.options,
        game.max_seats,
        game.turn_seconds,
        at.get("game.started"),
        at.get("round.dealt"),
    )


def _same(one: Game, other: Game) -> bool:
    """Whether two games are the same in all that anyone is ever shown, and in their deadlines."""
    seats = [view(game, SPECTATOR) for game in (one, other)]
    for seat in one.seats:
        seats += [legal_moves(game, seat) for game in (one, other)]  # type: ignore[list-item]
    pairs = zip(seats[::2], seats[1::2], strict=True)
    return all(a == b for a, b in pairs) and one.due_at == other.due_at


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_a_match_to_its_end(scratch: Scratch, executor: Executor, ruleset: str) -> None:
    table = open_table(executor, ruleset, humans=3, rounds_to_win=1)
    dice = random.Random(7)
    game = table.game()
    while not game.over:
        events = table.events()
        assert _summary(scratch, table.game_id) == _of_game(game, events)
        deadlines = scratch.execute(
            "SELECT kind, round, turn,"
            " to_char(due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"
            " FROM deadlines WHERE game_id = %s",
            (table.game_id,),
        )
        assert game.turn is not None
        assert deadlines == [("turn", game.round, game.turn.number, game.due_at)]
        player = table.players[game.turn.seat]
        assert player is not None
        move = with_call(game, dice.choice(legal_moves(game, game.turn.seat)))
        outcome = executor.execute(table.game_id, MakeMove(player, move))
        game = outcome.game
        assert table.events()[outcome.first - 1 :] == outcome.events
        assert outcome.events[-1].hash == outcome.head_hash
        assert _same(game, table.game())
    assert verify(table.events(), game_id=table.game_id) is None
    assert _summary(scratch, table.game_id) == _of_game(game, table.events())
    assert scratch.execute("SELECT kind FROM deadlines WHERE game_id = %s", (table.game_id,)) == []
    assert scratch.execute(
        "SELECT seat, status, live FROM seats WHERE game_id = %s ORDER BY seat", (table.game_id,)
    ) == [(seat, "active", False) for seat in range(3)]


def test_the_secret_stays_in_the_store(executor: Executor) -> None:
    table = open_table(executor)
    loaded = executor.store.load(table.game_id)
    assert loaded is not None
    secret = loaded.secret.hex()
    assert len(secret) == 64
    assert secret not in repr(table.events())


def test_no_such_game(executor: Executor) -> None:
    with pytest.raises(GameNotFound):
        executor.execute(uuid7(), Resign(uuid7()))
    assert executor.store.load(uuid7()) is None
    assert executor.store.head(uuid7()) is None
    assert executor.store.events(uuid7()) == []
    assert executor.store.fold_at(uuid7(), 1) is None


def test_what_is_so_already_records_nothing(executor: Executor) -> None:
    table = open_table(executor, start=False)
    version = table.game().version
    outcome = executor.execute(table.game_id, ChangeSeat(str(table.players[1]), ready=True))
    assert (outcome.events, outcome.first, outcome.last) == ([], version + 1, version)
    assert table.game().version == version


def test_a_check_sees_the_game_before_the_rules_do(executor: Executor) -> None:
    class Forbidden(Exception):
        pass

    def forbid(game: Game) -> None:
        raise Forbidden(game.version)

    table = open_table(executor)
    with pytest.raises(Forbidden) as raised:
        executor.execute(table.game_id, MakeMove(uuid7(), {"type": "nonsense"}), check=forbid)
    assert raised.value.args == (table.game().version,)


def test_events_by_pages(executor: Executor) -> None:
    table = open_table(executor)
    table.make_move()
    events = table.events()
    store = executor.store
    assert store.events(table.game_id, after=2, limit=2) == events[2:4]
    assert store.events(table.game_id, after=0, limit=1) == events[:1]
    assert store.events(table.game_id, after=len(events)) == []
    assert store.events(table.game_id, after=2**40) == []
    assert store.events(table.game_id, limit=0) == []
    head = store.head(table.game_id)
    assert head is not None
    assert (head.version, head.hash) == (events[-1].version, events[-1].hash)


def test_the_game_as_it_stood(executor: Executor) -> None:
    table = open_table(executor)
    table.make_move()
    events = table.events()
    for version in range(1, len(events) + 1):
        game = executor.store.fold_at(table.game_id, version)
        assert game is not None
        assert _same(game, fold(table.game_id, events[:version]))
    assert executor.store.fold_at(table.game_id, 0) is None
    assert executor.store.fold_at(table.game_id, len(events) + 1) is None


def _types(outcome: Outcome) -> list[str]:
    return [event.type for event in outcome.events]


class TestExpiry:
    """Whoever finds a turn overdue records that first."""

    @pytest.mark.parametrize("named", [False, True])
    def test_a_late_move_finds_its_turn_expired(
        self, scratch: Scratch, clocked: Executor, named: bool
    ) -> None:
        table = open_table(clocked, pause_seconds=0)
        game = table.game()
        assert game.turn is not None
        mover, move = table.mover(), table.a_move()
        late = (
            MakeMove(mover, move, game.round, game.turn.number) if named else MakeMove(mover, move)
        )
        scratch.advance(61)
        with pytest.raises(Refused) as refused:
            clocked.execute(table.game_id, late)
        assert refused.value.code == TURN_EXPIRED
        after = table.events()[game.version :]
        assert after[0].type == "turn.expired"
        assert after[0].data == {"seat": game.turn.seat, "due_at": game.due_at}
        assert after[0].by == {"kind": "clock", "seat": game.turn.seat}
        assert game.due_at is not None
        assert to_micros(after[0].at) > to_micros(game.due_at)

    def test_another_seats_move_counts_for_the_turn_that_follows(
        self, scratch: Scratch, clocked: Executor
    ) -> None:
        table = open_table(clocked, "vallelujah", pause_seconds=0)
        waiting, version = table.waiting(), table.game().version
        scratch.advance(61)
        # What it must play is not known before the expiry: a shape that no rule allows is enough
        # to show that the refusal is about the new turn.
        with pytest.raises(Refused) as refused:
            clocked.execute(table.game_id, MakeMove(waiting, {"type": "take", "take": "coral-1"}))
        assert refused.value.code not in (NOT_YOUR_TURN, STALE_TURN, TURN_EXPIRED)
        assert table.events()[version].type == "turn.expired"
        assert table.mover() == waiting

    def test_a_resignation_comes_after_the_expiry(
        self, scratch: Scratch, clocked: Executor
    ) -> None:
        table = open_table(clocked, humans=3, pause_seconds=0)
        version, mover = table.game().version, table.mover()
        scratch.advance(61)
        outcome = clocked.execute(table.game_id, Resign(mover))
        assert _types(outcome)[0] == "seat.resigned"
        types = [event.type for event in table.events()[version:]]
        assert types[0] == "turn.expired"
        assert types.index("turn.expired") < types.index("seat.resigned")
        assert outcome.first > version + 1

    def test_an_exclamation_comes_after_the_expiry(
        self, scratch: Scratch, clocked: Executor
    ) -> None:
        table = open_table(clocked, humans=3, pause_seconds=0)
        version, waiting = table.game().version, table.waiting()
        scratch.advance(61)
        outcome = clocked.execute(
            table.game_id, MakeMove(waiting, {"type": "exclaim", "word": "mau"})
        )
        assert _types(outcome)[0] == "word.exclaimed"
        assert table.events()[version].type == "turn.expired"

    def test_a_request_that_is_forbidden_still_records_it(
        self, scratch: Scratch, clocked: Executor
    ) -> None:
        table = open_table(clocked, pause_seconds=0)
        version = table.game().version
        scratch.advance(61)
        with pytest.raises(Refused):
            clocked.execute(table.game_id, MakeMove(uuid7(), {"type": "draw"}))
        assert table.events()[version].type == "turn.expired"

    def test_a_worker_records_it_once(self, scratch: Scratch, clocked: Executor) -> None:
        table = open_table(clocked, pause_seconds=0)
        game = table.game()
        assert game.turn is not None
        named = (table.game_id, game.round, game.turn.number)
        assert clocked.expire(*named) is None
        assert table.game().version == game.version
        scratch.advance(61)
        outcome = clocked.expire(*named)
        assert outcome is not None
        assert _types(outcome)[0] == "turn.expired"
        assert clocked.expire(*named) is None
        assert [event.type for event in table.events()].count("turn.expired") == 1

    def test_an_exclamation_between_does_not_keep_a_worker_from_it(
        self, scratch: Scratch, clocked: Executor
    ) -> None:
        table = open_table(clocked, pause_seconds=0)
        game = table.game()
        assert game.turn is not None
        clocked.execute(
            table.game_id, MakeMove(table.waiting(), {"type": "exclaim", "word": "mau"})
        )
        assert table.game().due_at == game.due_at
        scratch.advance(61)
        assert clocked.expire(table.game_id, game.round, game.turn.number) is not None

    def test_the_turn_that_follows_is_due_a_whole_turn_later(
        self, scratch: Scratch, clocked: Executor
    ) -> None:
        table = open_table(clocked, pause_seconds=0, away_after=100)
        game = table.game()
        assert game.turn is not None
        scratch.advance(3000)
        outcome = clocked.expire(table.game_id, game.round, game.turn.number)
        assert outcome is not None
        due = outcome.game.due_at
        assert due is not None
        assert to_micros(due) - to_micros(outcome.events[0].at) == 60_000_000


class TestKeys:
    """An idempotency key gives the first answer again."""

    def test_a_move(self, executor: Executor) -> None:
        table = open_table(executor)
        request = a_request()
        command = MakeMove(table.mover(), table.a_move())
        first = executor.execute(table.game_id, command, idempotency=request)
        table.make_move()
        again = executor.execute(table.game_id, command, idempotency=request)
        assert again.replayed
        assert not first.replayed
        assert (again.events, again.first, again.last) == (first.events, first.first, first.last)
        assert again.head_hash == first.head_hash
        assert again.game.version == first.last
        assert _same(again.game, first.game)
        assert table.game().version > first.last

    def test_nothing_to_do(self, executor: Executor) -> None:
        table = open_table(executor, start=False)
        request = a_request()
        command = LeaveSeat(uuid7())
        first = executor.execute(table.game_id, command, idempotency=request)
        executor.execute(table.game_id, TakeSeat(uuid7()))
        again = executor.execute(table.game_id, command, idempotency=request)
        assert again.replayed
        assert (again.events, again.first, again.last) == ([], first.first, first.last)
        assert again.game.version == first.game.version

    def test_another_body_or_path(self, executor: Executor) -> None:
        table, token = open_table(executor), uuid7()
        executor.execute(
            table.game_id,
            MakeMove(table.mover(), table.a_move()),
            idempotency=a_request("k", token=token, path="/a", body=b"1"),
        )
        for path, body in (("/a", b"2"), ("/b", b"1")):
            with pytest.raises(KeyReused):
                executor.execute(
                    table.game_id,
                    MakeMove(table.mover(), table.a_move()),
                    idempotency=a_request("k", token=token, path=path, body=body),
                )

    def test_another_game(self, executor: Executor) -> None:
        one, other, token = open_table(executor), open_table(executor), uuid7()
        executor.execute(
            one.game_id,
            MakeMove(one.mover(), one.a_move()),
            idempotency=a_request("k", token=token, path="/one"),
        )
        with pytest.raises(KeyReused):
            executor.execute(
                other.game_id,
                MakeMove(other.mover(), other.a_move()),
                idempotency=a_request("k", token=token, path="/other"),
            )
        with pytest.raises(KeyReused):
            executor.create(
                CreateGame(uuid7(), "halleluja"),
                idempotency=a_request("k", token=token, path="/games"),
            )

    def test_a_key_of_a_creation_is_for_that(self, executor: Executor) -> None:
        table, token = open_table(executor), uuid7()
        executor.create(
            CreateGame(uuid7(), "halleluja"),
            idempotency=a_request("k", token=token, path="/games"),
        )
        with pytest.raises(KeyReused):
            executor.execute(
                table.game_id,
                MakeMove(table.mover(), table.a_move()),
                idempotency=a_request("k", token=token, path="/moves"),
            )

    def test_of_another_token(self, executor: Executor) -> None:
        table = open_table(executor)
        for _ in range(2):
            outcome = executor.execute(
                table.game_id,
                MakeMove(table.mover(), table.a_move()),
                idempotency=a_request("the-same"),
            )
            assert not outcome.replayed

    def test_a_refusal_is_not_kept(self, executor: Executor) -> None:
        table, request = open_table(executor, start=False), a_request()
        start = StartGame(str(table.players[0]))
        executor.execute(table.game_id, LeaveSeat(str(table.players[1])))
        with pytest.raises(Refused):
            executor.execute(table.game_id, start, idempotency=request)
        executor.execute(table.game_id, TakeSeat(uuid7()))
        outcome = executor.execute(table.game_id, start, idempotency=request)
        assert not outcome.replayed
        assert _types(outcome) == ["game.started", "round.dealt"]

    def test_after_a_day_it_is_free(self, scratch: Scratch, clocked: Executor) -> None:
        table, request = open_table(clocked, turn_seconds=14 * 24 * 3600), a_request()
        clocked.execute(table.game_id, MakeMove(table.mover(), table.a_move()), idempotency=request)
        scratch.advance(24 * 3600 - 60)
        command = MakeMove(table.mover(), table.a_move())
        assert clocked.execute(table.game_id, command, idempotency=request).replayed
        scratch.advance(120)
        assert not clocked.execute(table.game_id, command, idempotency=request).replayed

    def test_a_replay_asks_no_check(self, executor: Executor) -> None:
        table, request = open_table(executor), a_request()
        command = MakeMove(table.mover(), table.a_move())
        executor.execute(table.game_id, command, idempotency=request)

        def only_before(game: Game) -> None:
            raise AssertionError("an answer that was given is given again")

        again = executor.execute(table.game_id, command, check=only_before, idempotency=request)
        assert again.replayed


class TestCreation:
    """Opening tables."""

    def test_a_new_table(self, executor: Executor) -> None:
        player = uuid7()
        outcome = executor.create(
            CreateGame(player, "vallelujah", {"lead_all": True}, 30, 4, "private")
        )
        assert _types(outcome) == ["game.created", "seat.taken"]
        game = outcome.game
        assert (game.host, game.seat_of(player), game.status) == (0, 0, "lobby")
        assert (outcome.first, outcome.last, outcome.replayed) == (1, 2, False)
        loaded = executor.store.load(game.game_id)
        assert loaded is not None
        assert executor.store.events(game.game_id) == outcome.events
        assert _same(loaded.game, game)

    def test_secrets_and_ids_differ(self, executor: Executor) -> None:
        games = [executor.create(CreateGame(uuid7(), "halleluja")).game for _ in range(3)]
        assert len({game.game_id for game in games}) == 3
        assert len({game.commitment for game in games}) == 3

    def test_one_game_for_a_key(self, executor: Executor) -> None:
        command, request = CreateGame(uuid7(), "halleluja"), a_request()
        first = executor.create(command, idempotency=request)
        executor.execute(first.game.game_id, TakeSeat(uuid7()))
        again = executor.create(command, idempotency=request)
        assert again.replayed
        assert again.events == first.events
        assert again.game.version == 2

    def test_another_body_or_path_of_the_key(self, executor: Executor) -> None:
        command, token = CreateGame(uuid7(), "halleluja"), uuid7()
        executor.create(command, idempotency=a_request("k", token=token, body=b"1"))
        for other in ({"body": b"2"}, {"body": b"1", "path": "/other"}):
            with pytest.raises(KeyReused):
                executor.create(command, idempotency=a_request("k", token=token, **other))

    def test_a_refused_creation_claims_nothing(self, executor: Executor) -> None:
        request = a_request()
        with pytest.raises(Refused) as refused:
            executor.create(CreateGame(uuid7(), "poker"), idempotency=request)
        assert refused.value.code == VALIDATION
        outcome = executor.create(CreateGame(uuid7(), "halleluja"), idempotency=request)
        assert not outcome.replayed

    def test_a_claim_whose_creator_died_is_completed(
        self, scratch: Scratch, executor: Executor
    ) -> None:
        request, claimed = a_request(), uuid7()
        executor.store.claim_creation(request, claimed, KEEP_KEYS)
        outcome = executor.create(CreateGame(uuid7(), "halleluja"), idempotency=request)
        assert outcome.game.game_id == claimed
        again = executor.create(CreateGame(uuid7(), "halleluja"), idempotency=request)
        assert again.game.game_id == claimed
        assert again.events == outcome.events

    def test_an_expired_claim_is_taken_over(self, scratch: Scratch, executor: Executor) -> None:
        request = a_request()
        first = executor.create(CreateGame(uuid7(), "halleluja"), idempotency=request)
        for table in ("creations", "idempotency"):
            scratch.execute(
                f"UPDATE {table} SET expires_at = now() WHERE token_id = %s", (request.token_id,)
            )
        second = executor.create(CreateGame(uuid7(), "halleluja"), idempotency=request)
        assert second.game.game_id != first.game.game_id


class TestBots:
    """Moves of computer players."""

    @staticmethod
    def _to_the_bot(executor: Executor) -> Table:
        table = open_table(executor, "vallelujah", humans=1, bots=("random",))
        game = table.game()
        assert game.turn is not None
        if game.turn.seat == 0:
            table.make_move()
        return table

    def _due(self, scratch: Scratch, game_id: str) -> list[tuple[Any, ...]]:
        return scratch.execute(
            "SELECT d.kind, d.round, d.turn,"
            " extract(epoch FROM d.due_at - g.updated_at)::float8"
            " FROM deadlines d JOIN games g USING (game_id) WHERE game_id = %s ORDER BY kind",
            (game_id,),
        )

    def test_a_bot_moves_and_is_due_a_little_later(
        self, scratch: Scratch, executor: Executor
    ) -> None:
        table = self._to_the_bot(executor)
        game = table.game()
        assert game.turn is not None
        due = self._due(scratch, table.game_id)
        assert [row[:3] for row in due] == [
            ("bot", game.round, game.turn.number),
            ("turn", game.round, game.turn.number),
        ]
        assert 0.6 <= due[0][3] <= 1.5
        asked = []

        def choose(position: Game, seat: int) -> dict[str, Any]:
            asked.append(seat)
            return legal_moves(position, seat)[0]

        outcome = executor.bot_move(table.game_id, game.round, game.turn.number, choose)
        assert outcome is not None
        assert asked == [1]
        assert outcome.events[0].by == {"kind": "bot", "seat": 1}
        assert [row[0] for row in self._due(scratch, table.game_id)] == ["turn"]
        assert executor.bot_move(table.game_id, game.round, game.turn.number, choose) is None
        assert asked == [1]

    def test_a_bot_that_is_too_late_has_its_turn_expired(
        self, scratch: Scratch, clocked: Executor
    ) -> None:
        table = self._to_the_bot(clocked)
        game = table.game()
        assert game.turn is not None
        scratch.advance(100)

        def choose(position: Game, seat: int) -> dict[str, Any]:
            raise AssertionError("it is too late to choose")

        named = (table.game_id, game.round, game.turn.number)
        assert clocked.bot_move(*named, choose) is None
        assert table.events()[game.version].type == "turn.expired"

    def test_a_left_over_deadline_is_removed(self, scratch: Scratch, executor: Executor) -> None:
        table = self._to_the_bot(executor)
        scratch.execute("UPDATE deadlines SET turn = 77 WHERE game_id = %s", (table.game_id,))
        assert executor.bot_move(table.game_id, 1, 77, lambda game, seat: {}) is None
        assert executor.expire(table.game_id, 1, 77) is None
        assert self._due(scratch, table.game_id) == []
