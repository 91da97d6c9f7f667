"""Players, tokens, and invitations to private tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import psycopg
import pytest

from domain.game import Game
from eventstore.apps import Apps
from eventstore.chain import verify
from eventstore.errors import AppsPlayer, GameNotFound, KeyReused
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.invites import Invites
from eventstore.players import Caller, IssuedToken, Players
from eventstore.pool import Pool
from tests.databases import Scratch
from tests.eventstore.tables import a_request, open_table
from tests.workers.servers import wait_for

PATIENCE = 60.0


@pytest.fixture
def players(pool: Pool) -> Players:
    return Players(pool)


@pytest.fixture
def invites(executor: Executor) -> Invites:
    return Invites(executor)


def _hash() -> bytes:
    return os.urandom(32)


def test_a_token_tells_who_calls(players: Players) -> None:
    own = _hash()
    caller = players.register("Zoë \u200b", own, ["play", "read"])
    assert caller == Caller(caller.player_id, "Zoë \u200b", caller.token_id, {"play", "read"})
    assert players.lookup(own) == caller
    assert players.lookup(_hash()) is None


def test_more_tokens(players: Players) -> None:
    first, more = _hash(), _hash()
    caller = players.register("Al", first, ["play", "read"])
    issued = players.issue(caller.player_id, more, ["read"], by=caller.token_id)
    assert issued is not None
    assert (issued.scopes, issued.expires_at) == (("read",), None)
    token_id = issued.token_id
    assert players.lookup(more) == Caller(caller.player_id, "Al", token_id, frozenset({"read"}))
    listed = players.tokens(caller.player_id)
    assert [token.token_id for token in listed] == [token_id, caller.token_id]
    assert [token.scopes for token in listed] == [("read",), ("play", "read")]
    page = players.tokens(caller.player_id, before=token_id, limit=1)
    assert [token.token_id for token in page] == [caller.token_id]


def test_what_asks_for_a_token_must_be_in_force_and_may_itself(
    pool: Pool, scratch: Scratch, players: Players
) -> None:
    caller = players.register("Al", _hash(), ["play", "read"])
    other = players.register("Bo", _hash(), ["play", "read"])

    def issue(player_id: str, *scopes: str, **asking: str) -> IssuedToken | None:
        return players.issue(player_id, _hash(), scopes, **asking)  # type: ignore[arg-type]

    def refused(player_id: str, *scopes: str, **asking: str) -> bool:
        before = players.tokens(player_id)
        made = issue(player_id, *scopes, **asking)
        return made is None and players.tokens(player_id) == before

    assert refused(caller.player_id, "read")
    assert refused(caller.player_id, "read", by=other.token_id)
    assert refused(caller.player_id, "read", by=uuid7())
    assert refused(caller.player_id, "read", "audit", by=caller.token_id)
    assert refused(uuid7(), "read", by=caller.token_id)
    ended = issue(caller.player_id, "read", by=caller.token_id)
    assert ended is not None
    scratch.execute("UPDATE tokens SET expires_at = now() WHERE token_id = %s", (ended.token_id,))
    assert refused(caller.player_id, "read", by=ended.token_id)
    assert players.revoke(caller.player_id, caller.token_id)
    assert refused(caller.player_id, "read", by=caller.token_id)
    apps = Apps(pool)
    app = apps.create("App", _hash())
    player, _ = apps.register(app.app_id, "Gast")
    assert issue(player.player_id, "read", key_id=app.key_id)
    assert refused(uuid7(), "read", key_id=app.key_id)
    assert apps.revoke(app.key_id)
    assert refused(player.player_id, "read", key_id=app.key_id)


@pytest.mark.parametrize("first", ["issued", "taken"])
def test_of_a_new_token_and_a_scope_taken_at_the_same_time_the_scope_is_gone(
    scratch: Scratch, players: Players, first: str
) -> None:
    own, more = _hash(), _hash()
    caller = players.register("Al", own, ["play", "read"])
    assert players.change_scope(caller.player_id, "audit", granted=True)
    actions: dict[str, Callable[[], Any]] = {
        "issued": partial(
            players.issue, caller.player_id, more, ["read", "audit"], by=caller.token_id
        ),
        "taken": partial(players.change_scope, caller.player_id, "audit", granted=False),
    }
    begun: dict[str, Future[Any]] = {}
    with ThreadPoolExecutor(2) as threads, psycopg.connect(scratch.admin_url) as holding:
        holding.execute(
            "SELECT true FROM tokens WHERE token_id = %s FOR UPDATE", (caller.token_id,)
        )
        for name in sorted(actions, key=lambda name: name != first):
            begun[name] = threads.submit(actions[name])
            wait_for(lambda: scratch.blocked() == len(begun), PATIENCE, "each waits")
        holding.rollback()
    issued, taken = begun["issued"].result(), begun["taken"].result()
    if first == "issued":
        assert set(taken) == {caller.token_id, issued.token_id}
    else:
        assert (issued, taken) == (None, [caller.token_id])
    for each in map(players.lookup, (own, more)):
        assert each is None or "audit" not in each.scopes


@pytest.mark.parametrize("asking", ["token", "key"])
def test_what_is_revoked_at_the_same_time_asks_for_nothing_more(
    pool: Pool, scratch: Scratch, players: Players, asking: str
) -> None:
    apps = Apps(pool)
    app = apps.create("App", _hash())
    if asking == "key":
        player_id, by = apps.register(app.app_id, "Gast")[0].player_id, {"key_id": app.key_id}
        revoke = "UPDATE app_keys SET revoked_at = now() WHERE key_id = %s"
    else:
        caller = players.register("Al", _hash(), ["read"])
        player_id, by = caller.player_id, {"by": caller.token_id}
        revoke = "UPDATE tokens SET revoked_at = now() WHERE token_id = %s"
    with ThreadPoolExecutor(1) as thread, psycopg.connect(scratch.admin_url) as revoking:
        revoking.execute(revoke, (*by.values(),))
        issued = thread.submit(partial(players.issue, player_id, _hash(), ["read"], **by))
        wait_for(lambda: scratch.blocked() == 1, PATIENCE, "it waits")
        revoking.commit()
    assert issued.result() is None
    assert players.tokens(player_id) == []


def test_a_players_app_gets_no_scope(pool: Pool, scratch: Scratch, players: Players) -> None:
    apps = Apps(pool)
    app = apps.create("App", _hash())
    player, _ = apps.register(app.app_id, "Gast")
    acting = apps.acting(app, player.player_id, ["play", "read"])
    assert acting is not None
    device = players.issue(player.player_id, _hash(), ["play", "read"], key_id=app.key_id)
    assert device is not None
    for scope in ("audit", "admin"):
        for id in (player.player_id, acting.token_id, device.token_id):
            with pytest.raises(AppsPlayer):
                players.change_scope(id, scope, granted=True)
            assert players.change_scope(id, scope, granted=False) == []
    assert apps.acting(app, player.player_id, ["play", "read"]) == acting
    assert not players.holds(player.player_id, "audit")


def test_what_an_apps_token_makes_ends_with_the_app(pool: Pool, players: Players) -> None:
    apps = Apps(pool)
    app = apps.create("App", _hash())
    player, _ = apps.register(app.app_id, "Gast")
    device = players.issue(player.player_id, _hash(), ["read"], key_id=app.key_id)
    assert device is not None
    child = _hash()
    assert players.issue(player.player_id, child, ["read"], by=device.token_id)
    assert players.lookup(child) is not None
    assert {each.app_id for each in players.tokens(player.player_id)} == {app.app_id}
    assert apps.revoke(app.app_id)
    assert players.lookup(child) is None


def test_a_revoked_token_is_nobodys(players: Players) -> None:
    own = _hash()
    caller = players.register("Al", own, ["play"])
    other = players.register("Bo", _hash(), ["play"])
    assert not players.revoke(other.player_id, caller.token_id)
    assert players.lookup(own) is not None
    for _ in range(2):  # who did not get the first answer asks again
        assert players.revoke(caller.player_id, caller.token_id)
    assert players.lookup(own) is None
    assert players.tokens(caller.player_id) == []


def test_an_expired_token_is_nobodys(scratch: Scratch, players: Players) -> None:
    own = _hash()
    caller = players.register("Al", own, ["play"])
    scratch.execute("UPDATE tokens SET expires_at = now() WHERE token_id = %s", (caller.token_id,))
    assert players.lookup(own) is None
    assert players.tokens(caller.player_id) == []


def test_a_person_can_be_forgotten(players: Players, executor: Executor) -> None:
    table = open_table(executor)
    own = _hash()
    caller = players.register("Al", own, ["play"])
    other = players.register("Bo", _hash(), ["play"])
    both = [caller.player_id, other.player_id, uuid7()]
    assert players.names(both) == {caller.player_id: "Al", other.player_id: "Bo"}
    assert players.erase(caller.player_id)
    assert not players.erase(caller.player_id)
    assert players.lookup(own) is None
    assert players.names(both) == {other.player_id: "Bo"}
    assert players.names([]) == {}
    assert verify(table.events(), game_id=table.game_id) is None


def test_a_name_is_not_asked_for_again_at_once(pool: Pool, players: Players) -> None:
    caller = players.register("Al", _hash(), ["play"])
    assert players.names([caller.player_id]) == {caller.player_id: "Al"}
    assert Players(pool).erase(caller.player_id)
    assert players.names([caller.player_id]) == {caller.player_id: "Al"}
    assert Players(pool).names([caller.player_id]) == {}


def test_a_name_that_was_erased_elsewhere_is_soon_forgotten(pool: Pool) -> None:
    forgetful = Players(pool, remember_seconds=0)
    caller = forgetful.register("Al", _hash(), ["play"])
    assert forgetful.names([caller.player_id]) == {caller.player_id: "Al"}
    assert Players(pool).erase(caller.player_id)
    assert forgetful.names([caller.player_id]) == {}


def test_nothing_stored_lets_one_use_a_token(scratch: Scratch, players: Players) -> None:
    own = _hash()
    caller = players.register("Al", own, ["play"])
    ((row,),) = scratch.execute(
        "SELECT row_to_json(t)::text FROM tokens t WHERE token_id = %s", (caller.token_id,)
    )
    assert own.hex() in row


def test_an_invitation(executor: Executor, invites: Invites) -> None:
    table = open_table(executor, start=False, visibility="private")
    other = open_table(executor, start=False, visibility="private")
    code = invites.create(table.game_id)
    assert invites.valid(table.game_id, code)
    assert not invites.valid(other.game_id, code)
    assert not invites.valid(table.game_id, code.upper())
    assert code != invites.create(table.game_id)
    for _ in range(2):
        assert invites.revoke(table.game_id, code)
    assert not invites.revoke(other.game_id, code)
    assert not invites.valid(table.game_id, code)


def test_who_is_admitted(executor: Executor, invites: Invites) -> None:
    table, guest = open_table(executor, start=False, visibility="private"), uuid7()
    assert not invites.admitted(table.game_id, guest)
    for _ in range(2):
        invites.admit(table.game_id, guest)
    assert invites.admitted(table.game_id, guest)


def test_an_invitation_by_key(executor: Executor, invites: Invites) -> None:
    table, request = open_table(executor, start=False), a_request(path="/invites")
    code = invites.create(table.game_id, idempotency=request)
    assert invites.create(table.game_id, idempotency=request) == code
    assert invites.create(table.game_id, idempotency=a_request(path="/invites")) != code
    other = a_request(request.key, token=request.token_id, path="/others")
    with pytest.raises(KeyReused):
        invites.create(table.game_id, idempotency=other)
    assert invites.revoke(table.game_id, code)
    assert invites.create(table.game_id, idempotency=request) == code
    assert not invites.valid(table.game_id, code)


def test_an_invitation_that_is_forbidden(executor: Executor, invites: Invites) -> None:
    def forbid(game: Game) -> Any:
        raise PermissionError

    table = open_table(executor, start=False)
    with pytest.raises(PermissionError):
        invites.create(table.game_id, check=forbid)
    with pytest.raises(GameNotFound):
        invites.create(uuid7())
