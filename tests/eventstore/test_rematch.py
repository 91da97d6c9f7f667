"""Rematches: one new table, however many ask, with the seats kept."""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from domain.commands import CreateGame, LeaveSeat, SeatBot, StartGame, TakeSeat
from domain.game import Game
from domain.refusals import FORBIDDEN, GAME_NOT_OVER, NOT_IN_LOBBY, Refused
from eventstore.errors import GameNotFound, KeyReused
from eventstore.executor import Executor, Outcome
from eventstore.ids import uuid7
from eventstore.invites import Invites
from tests.databases import Scratch
from tests.eventstore.tables import Table, a_request, open_table


def _finished(executor: Executor, *, humans: int = 3, visibility: str = "public") -> Table:
    table = open_table(
        executor,
        "vallelujah",
        humans=humans,
        rounds_to_win=1,
        lead_all=True,
        visibility=visibility,
    )
    table.play_out(random.Random(3))
    return table


@pytest.fixture(scope="module")
def finished(executor: Executor) -> Table:
    """A match that is over; nobody has asked for a rematch of it."""
    return _finished(executor)


def _players(game: Game) -> dict[int, str | None]:
    return {number: seat.player_id for number, seat in game.seats.items()}


def test_the_first_who_asks_is_host_on_the_old_seat(executor: Executor) -> None:
    table = _finished(executor)
    asker = str(table.players[2])
    before = executor.store.load(table.game_id)
    assert before is not None
    assert before.rematch is None
    new = executor.rematch(table.game_id, asker).game
    old = table.game()
    assert _players(new) == {2: asker}
    assert (new.host, new.status) == (2, "lobby")
    for name in ("ruleset", "options", "turn_seconds", "max_seats", "visibility"):
        assert getattr(new, name) == getattr(old, name)
    assert new.commitment != old.commitment
    after = executor.store.load(table.game_id)
    head = executor.store.head(table.game_id)
    assert after is not None
    assert head is not None
    assert after.rematch == head.rematch == new.game_id
    assert after.game.version == before.game.version


def test_whoever_asks_later_sits_down(executor: Executor) -> None:
    table = _finished(executor)
    games = [executor.rematch(table.game_id, str(table.players[seat])).game for seat in (1, 0, 2)]
    assert len({game.game_id for game in games}) == 1
    assert _players(games[-1]) == dict(enumerate(table.players))
    assert games[-1].host == 1
    again = executor.rematch(table.game_id, str(table.players[0]))
    assert again.events == []
    assert again.game.version == games[-1].version


def test_kept_seats_are_kept_from_others(executor: Executor) -> None:
    table = _finished(executor)
    new = executor.rematch(table.game_id, str(table.players[1])).game
    stranger = uuid7()
    executor.execute(new.game_id, TakeSeat(stranger))
    executor.execute(new.game_id, SeatBot(str(table.players[1]), "random"))
    executor.rematch(table.game_id, str(table.players[2]))
    game = executor.execute(new.game_id, TakeSeat(str(table.players[0]))).game
    assert _players(game) == {
        0: table.players[0],
        1: table.players[1],
        2: table.players[2],
        3: stranger,
        4: None,
    }


def test_all_at_once(executor: Executor) -> None:
    table = _finished(executor)
    barrier = threading.Barrier(9, timeout=30)

    def ask(number: int) -> Outcome:
        barrier.wait()
        return executor.rematch(table.game_id, str(table.players[number % 3]))

    with ThreadPoolExecutor(9) as threads:
        outcomes = list(threads.map(ask, range(9)))
    (game_id,) = {outcome.game.game_id for outcome in outcomes}
    loaded = executor.store.load(game_id)
    assert loaded is not None
    assert _players(loaded.game) == dict(enumerate(table.players))


def test_after_the_start_the_new_game_is_shown(executor: Executor) -> None:
    table = _finished(executor)
    one, two = str(table.players[0]), str(table.players[1])
    new = executor.rematch(table.game_id, one).game
    executor.rematch(table.game_id, two)
    started = executor.execute(new.game_id, StartGame(one))
    again = executor.rematch(table.game_id, two)
    assert (again.events, again.game.version) == ([], started.last)
    with pytest.raises(Refused) as refused:
        executor.rematch(table.game_id, str(table.players[2]))
    assert refused.value.code == NOT_IN_LOBBY


def test_a_new_game_that_was_closed_is_not_opened_again(executor: Executor) -> None:
    table = _finished(executor)
    one, two = str(table.players[0]), str(table.players[1])
    new = executor.rematch(table.game_id, one).game
    executor.execute(new.game_id, LeaveSeat(one))
    for player in (one, two):
        with pytest.raises(Refused) as refused:
            executor.rematch(table.game_id, player)
        assert refused.value.code == NOT_IN_LOBBY


def test_only_who_held_a_seat_may_ask(executor: Executor, finished: Table) -> None:
    with pytest.raises(Refused) as refused:
        executor.rematch(finished.game_id, uuid7())
    assert refused.value.code == FORBIDDEN
    loaded = executor.store.load(finished.game_id)
    assert loaded is not None
    assert loaded.rematch is None


def test_not_before_the_end(executor: Executor) -> None:
    for table in (open_table(executor), open_table(executor, start=False)):
        with pytest.raises(Refused) as refused:
            executor.rematch(table.game_id, str(table.players[0]))
        assert refused.value.code == GAME_NOT_OVER
    with pytest.raises(GameNotFound):
        executor.rematch(uuid7(), uuid7())


def test_a_check_is_given_the_old_game(executor: Executor, finished: Table) -> None:
    class Forbidden(Exception):
        pass

    def forbid(game: Game) -> None:
        raise Forbidden(game.game_id)

    with pytest.raises(Forbidden, match=finished.game_id):
        executor.rematch(finished.game_id, str(finished.players[0]), check=forbid)


def test_a_key_is_answered_alike(executor: Executor) -> None:
    table = _finished(executor)
    requests = [a_request(path=f"/games/{table.game_id}/rematch") for _ in range(3)]
    first = [
        executor.rematch(table.game_id, str(player), idempotency=request)
        for player, request in zip(table.players, requests, strict=True)
    ]
    again = [
        executor.rematch(table.game_id, str(player), idempotency=request)
        for player, request in zip(table.players, requests, strict=True)
    ]
    for one, other in zip(first, again, strict=True):
        assert other.replayed
        assert (other.events, other.last, other.game.version) == (
            one.events,
            one.last,
            one.game.version,
        )
    seated = a_request(path="/rematch")
    answers = [
        executor.rematch(table.game_id, str(table.players[0]), idempotency=seated) for _ in range(2)
    ]
    assert [answer.replayed for answer in answers] == [False, True]
    with pytest.raises(KeyReused):
        executor.rematch(
            table.game_id,
            str(table.players[0]),
            idempotency=a_request(seated.key, token=seated.token_id, path="/other"),
        )


def test_one_whose_opener_died_is_opened_by_the_next(executor: Executor) -> None:
    table = _finished(executor)
    claimed = executor.store.claim_rematch(table.game_id, uuid7())
    loaded = executor.store.load(table.game_id)
    assert loaded is not None
    assert loaded.rematch is None
    outcome = executor.rematch(table.game_id, str(table.players[1]))
    assert outcome.game.game_id == claimed
    assert outcome.game.host == 1


def test_one_opened_but_not_shown_yet_is_joined(executor: Executor) -> None:
    table = _finished(executor)
    claimed = executor.store.claim_rematch(table.game_id, uuid7())
    host = str(table.players[0])
    executor.create(CreateGame(host, "vallelujah"), game_id=claimed)
    outcome = executor.rematch(table.game_id, str(table.players[1]))
    assert _players(outcome.game) == {0: host, 1: table.players[1]}
    loaded = executor.store.load(table.game_id)
    assert loaded is not None
    assert loaded.rematch == claimed


def test_the_players_of_a_private_table_see_its_rematch(
    scratch: Scratch, executor: Executor
) -> None:
    table = _finished(executor, visibility="private")
    new = executor.rematch(table.game_id, str(table.players[0])).game
    invites = Invites(executor)
    assert new.visibility == "private"
    assert all(invites.admitted(new.game_id, str(player)) for player in table.players)
    assert not invites.admitted(new.game_id, uuid7())


def test_a_cancelled_table_has_nobody_to_ask(executor: Executor) -> None:
    table = _finished(executor)
    new = executor.rematch(table.game_id, str(table.players[2])).game
    executor.execute(new.game_id, LeaveSeat(str(table.players[2])))
    with pytest.raises(Refused) as refused:
        executor.rematch(new.game_id, str(table.players[2]))
    assert refused.value.code == FORBIDDEN
