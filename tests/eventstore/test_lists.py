"""Lists of games: who sees which, in pages without gaps."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from domain.commands import CreateGame, LeaveSeat, Resign, SeatBot
from eventstore.earlier import Earlier
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.invites import Invites
from eventstore.lists import Lists, Summary
from eventstore.players import Players
from eventstore.pool import open_pool
from eventstore.store import Store
from tests.databases import Scratch, scratch_database
from tests.eventstore.tables import Table, open_table


def _opened(*arguments: Any, **named: Any) -> Table:
    """A table that is younger than all before it: ids tell milliseconds, and no less."""
    time.sleep(0.002)
    return open_table(*arguments, **named)


@pytest.fixture(scope="module")
def world() -> Iterator[tuple[Executor, Lists, Scratch, dict[str, Table]]]:
    """A database with nothing but a few games of every kind."""
    with scratch_database() as own, open_pool(own.app_url, 2) as pool:
        executor = Executor(Store(pool))
        tables = {
            "lobby": _opened(executor, start=False),
            "active": _opened(executor, "vallelujah"),
            "hidden": _opened(executor, start=False, visibility="private"),
            "hidden-active": _opened(executor, "vallelujah", visibility="private"),
            "finished": _opened(executor, "vallelujah", humans=3, rounds_to_win=1),
            "cancelled": _opened(executor, start=False, humans=1),
            "bots": _opened(executor, humans=1, bots=("random", "greedy")),
        }
        tables["finished"].play_out(random.Random(1))
        cancelled = tables["cancelled"]
        executor.execute(cancelled.game_id, LeaveSeat(str(cancelled.players[0])))
        yield executor, Lists(pool, Earlier(pool)), own, tables


def _names(world: Any, **wanted: Any) -> list[str]:
    _, lists, _, tables = world
    names = {table.game_id: name for name, table in tables.items()}
    return [names[item.game_id] for item in lists.games(**wanted).items]


OPEN = ["bots", "cancelled", "finished", "active", "lobby"]


def test_anyone_sees_public_games_newest_first(world: Any) -> None:
    assert _names(world) == OPEN
    assert _names(world, viewer=uuid7()) == OPEN


def test_an_auditor_sees_all(world: Any) -> None:
    everything = _names(world, everything=True)
    assert everything == [
        "bots",
        "cancelled",
        "finished",
        "hidden-active",
        "hidden",
        "active",
        "lobby",
    ]


def test_private_games_are_for_who_sits_there(world: Any) -> None:
    tables = world[3]
    player = tables["hidden"].players[1]
    assert _names(world, viewer=player) == [*OPEN[:3], "hidden", *OPEN[3:]]
    assert _names(world, viewer=player, mine=True) == ["hidden"]


def test_and_for_who_was_admitted(world: Any) -> None:
    executor, _, _, tables = world
    guest = uuid7()
    Invites(executor).admit(tables["hidden-active"].game_id, guest)
    assert "hidden-active" in _names(world, viewer=guest)
    assert _names(world, viewer=guest, mine=True) == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"status": "lobby"}, ["lobby"]),
        ({"status": "active"}, ["bots", "active"]),
        ({"status": "finished"}, ["finished"]),
        ({"status": "cancelled"}, ["cancelled"]),
        ({"status": "abandoned"}, []),
        ({"ruleset": "halleluja"}, ["bots", "cancelled", "lobby"]),
        ({"ruleset": "vallelujah", "status": "active"}, ["active"]),
        ({"mine": True}, []),
        ({"my_turn": True}, []),
    ],
)
def test_filters(world: Any, filters: dict[str, Any], expected: list[str]) -> None:
    assert _names(world, **filters) == expected


def test_my_turn_follows_the_turn(world: Any) -> None:
    table = world[3]["active"]
    for _ in range(4):
        mover, waiting = table.mover(), table.waiting()
        assert _names(world, viewer=mover, my_turn=True) == ["active"]
        assert _names(world, viewer=waiting, my_turn=True) == []
        table.make_move()


def test_no_game_that_is_over_waits_for_anyone(world: Any) -> None:
    for player in world[3]["finished"].players:
        assert _names(world, viewer=player, my_turn=True) == []
        assert _names(world, viewer=player, mine=True) == ["finished"]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("everything", [False, True])
def test_pages_have_no_gap(world: Any, limit: int, everything: bool) -> None:
    lists = world[1]
    whole = lists.games(everything=everything).items
    paged: list[Summary] = []
    before = None
    while True:
        page = lists.games(everything=everything, limit=limit, before=before)
        assert len(page.items) <= limit
        paged += page.items
        if page.next is None:
            break
        before = page.next
    assert paged == whole


def test_what_a_list_shows(world: Any) -> None:
    executor, lists, _, tables = world
    table = tables["active"]
    loaded = executor.store.load(table.game_id)
    (item,) = lists.games(status="active", ruleset="vallelujah").items
    game = loaded.game
    assert (item.game_id, item.version, item.status) == (game.game_id, game.version, "active")
    assert (item.options, item.turn_seconds, item.max_seats) == (
        game.options,
        game.turn_seconds,
        game.max_seats,
    )
    assert (item.host, item.turn_seat, item.due_at) == (game.host, game.turn.seat, game.due_at)
    assert item.created_at == table.events()[0].at
    assert item.updated_at == table.events()[-1].at
    assert [(seat.seat, seat.player_id, seat.status) for seat in item.seats] == [
        (number, player, "active") for number, player in enumerate(table.players)
    ]
    assert loaded.secret.hex() not in repr(item)


def test_names_and_bots(world: Any) -> None:
    executor, lists, own, _ = world
    with open_pool(own.app_url, 1) as pool:
        host = Players(pool).register("Ada", b"h" * 32, ["play"])
    opened = executor.create(CreateGame(host.player_id, "halleluja", visibility="private"))
    executor.execute(opened.game.game_id, SeatBot(host.player_id, "greedy"))
    (item,) = lists.games(viewer=host.player_id, mine=True).items
    assert [(seat.name, seat.bot, seat.status) for seat in item.seats] == [
        ("Ada", None, "ready"),
        (None, "greedy", "ready"),
    ]


def test_a_seat_that_resigned_is_still_mine(world: Any) -> None:
    executor = world[0]
    table = open_table(executor, humans=3, visibility="private")
    executor.execute(table.game_id, Resign(str(table.players[1])))
    (item,) = world[1].games(viewer=table.players[1], mine=True).items
    assert [seat.status for seat in item.seats] == ["active", "resigned", "active"]


def test_pages_go_along_an_index(world: Any) -> None:
    own = world[2]
    with psycopg.connect(own.admin_url) as connection:
        connection.execute("SET enable_seqscan = off; SET enable_sort = off")
        for index, condition in (
            ("games_real_public ", "visibility = 'public' AND NOT sandbox"),
            (
                "games_real_public_status",
                "visibility = 'public' AND status = 'lobby' AND NOT sandbox",
            ),
            ("games_sandbox", "visibility = 'public' AND sandbox"),
            ("games_status", "status = 'lobby'"),
        ):
            plan = connection.execute(
                f"EXPLAIN SELECT game_id FROM games WHERE {condition}"
                " ORDER BY game_id DESC LIMIT 10".encode()
            ).fetchall()
            assert index in str(plan)
            assert "Sort" not in str(plan)
