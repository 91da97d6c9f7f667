"""Players, tokens, and invitations to private tables."""

from __future__ import annotations

import os
from typing import Any

import pytest

from domain.game import Game
from eventstore.chain import verify
from eventstore.errors import GameNotFound, KeyReused
from eventstore.executor import Executor
from eventstore.ids import uuid7
from eventstore.invites import Invites
from eventstore.players import Caller, Players
from eventstore.pool import Pool
from tests.databases import Scratch
from tests.eventstore.tables import a_request, open_table


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
    token_id, ends = players.issue(caller.player_id, more, ["read"])
    assert ends is None
    assert players.lookup(more) == Caller(caller.player_id, "Al", token_id, frozenset({"read"}))
    listed = players.tokens(caller.player_id)
    assert [token.token_id for token in listed] == [token_id, caller.token_id]
    assert [token.scopes for token in listed] == [("read",), ("play", "read")]
    page = players.tokens(caller.player_id, before=token_id, limit=1)
    assert [token.token_id for token in page] == [caller.token_id]


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
