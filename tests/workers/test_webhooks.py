"""Webhooks from the event to the receiver: what is told, again and again until it has arrived."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from domain.commands import CreateGame, LeaveSeat, RemoveSeat, Resign, StartGame, TakeSeat
from domain.redaction import Viewer, redact
from domain.webhooks import SUBJECTS
from eventstore import deliveries as module
from eventstore.apps import Apps
from eventstore.deliveries import MOST_WAITING, Deliveries, Fanout
from eventstore.destinations import Destinations
from eventstore.executor import Executor
from eventstore.feed import Feed
from eventstore.ids import uuid7
from eventstore.pool import Pool, open_pool
from eventstore.sealing import Sealer
from eventstore.settings import Settings
from eventstore.store import Store
from eventstore.webhooks import Delivery, Owner, Webhook, Webhooks
from tests.api.client import faults
from tests.databases import Scratch
from tests.eventstore.tables import Table, open_table
from tests.workers.conftest import Nodes
from tests.workers.receivers import Received, Receiver, answers, hangs, receiver, takes
from tests.workers.servers import wait_for
from workers.following import FeedService
from workers.posting import Poster
from workers.resources import Resources
from workers.sending import APP_AT_ONCE, Sender


class Hooks:
    """Webhooks on a clock that the test moves, and what makes and sends their messages."""

    def __init__(self, pool: Pool, scratch: Scratch, keys: Path) -> None:
        self.scratch = scratch
        self.pool = pool
        self.executor = Executor(Store(pool))
        self.sealer = Sealer(keys)
        self.webhooks = Webhooks(pool, self.sealer)
        self.deliveries = Deliveries(pool)
        self.feed = Feed(pool)
        self.fanout = Fanout(pool)
        self.secrets: dict[str, list[bytes]] = {}

    def add(self, player: str, url: str, *events: str) -> Webhook:
        """A webhook of a player."""
        # Only of who is known: what belongs to an app that was revoked is told nobody.
        self.scratch.execute(
            "INSERT INTO players (player_id, name) VALUES (%s, 'Anna') ON CONFLICT DO NOTHING",
            (player,),
        )
        return self.add_for(Owner("player", player), url, *events)

    def add_for(self, owner: Owner, url: str, *events: str) -> Webhook:
        """A webhook of a player or an app."""
        added = self.webhooks.add(owner, url, events or SUBJECTS)
        assert added is not None
        webhook, secret = added
        self.secrets[webhook.webhook_id] = [secret]
        return webhook

    def follow(self) -> None:
        """Have all that has happened made into messages."""
        while self.feed.waiting():
            self.feed.sequence()
        while self.fanout.step():
            pass

    def sender(self, **more: Any) -> Sender:
        """A sender; `send` does one round of it in this thread."""
        poster = Poster(Destinations(anywhere=True), seconds=more.pop("seconds", 10.0))
        return Sender(lambda: self.deliveries, self.sealer, poster, places=more.pop("places", 8))

    def send(self, sender: Sender | None = None) -> int:
        """Send what is due, one webhook after the other; how many were called."""
        called = 0
        for slow in (False, True):
            for claimed in self.deliveries.claim(self.sealer.key_id, 100, 60, slow=slow):
                (sender or self.sender()).serve(claimed)
                called += 1
        return called

    def settle(self) -> None:
        """Send until nothing is due now."""
        while self.send():
            pass

    def of(self, webhook: Webhook) -> list[Delivery]:
        """Its deliveries, oldest first."""
        return self.webhooks.deliveries(webhook.webhook_id, limit=1000)[::-1]

    def state(self, webhook: Webhook) -> tuple[bool, str | None]:
        """Whether it is enabled, and why not."""
        rows = self.scratch.execute(
            "SELECT enabled, disabled_reason FROM webhooks WHERE webhook_id = %s",
            (webhook.webhook_id,),
        )
        return rows[0]  # type: ignore[return-value]


@pytest.fixture
def hooks(scratch: Scratch, tmp_path: Path) -> Iterator[Hooks]:
    scratch.execute("DELETE FROM webhooks; DELETE FROM leases")
    with open_pool(scratch.clocked_url, 8) as pool:
        yield Hooks(pool, scratch, tmp_path / "keys")
    scratch.execute("DELETE FROM webhooks; DELETE FROM leases")


@pytest.fixture
def server() -> Iterator[Receiver]:
    with receiver() as running:
        yield running


def verified(received: Received, secret: bytes) -> bool:
    """As a receiver checks it, from the text of the specification alone."""
    content = f"{received.id}.{received.headers['webhook-timestamp']}.".encode() + received.body
    own = base64.b64encode(hmac.new(secret, content, hashlib.sha256).digest()).decode()
    given = received.headers["webhook-signature"].split(" ")
    assert all(each.startswith("v1,") for each in given)
    assert abs(time.time() - int(received.headers["webhook-timestamp"])) < 300
    return f"v1,{own}" in given


def player_of(table: Table, seat: int) -> str:
    player = table.players[seat]
    assert player is not None
    return player


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_a_seat_is_told_what_it_may_see_and_no_more(
    hooks: Hooks, server: Receiver, ruleset: str
) -> None:
    hooks.follow()
    owner = uuid7()
    webhook = hooks.add(owner, server.url)
    created = hooks.executor.create(CreateGame(uuid7(), ruleset, {}, 600))
    game_id, host = created.game.game_id, created.game.seats[0].player_id
    assert host is not None
    hooks.executor.execute(game_id, TakeSeat(owner))
    table = Table(hooks.executor, game_id, (host, owner))
    hooks.executor.execute(game_id, StartGame(host))
    for _ in range(6):
        table.make_move()
    hooks.executor.execute(game_id, Resign(host))
    hooks.follow()
    hooks.settle()
    events = table.events()
    joined = next(
        event.version for event in events
        if event.type == "seat.taken" and event.data["player_id"] == owner
    )  # fmt: skip
    told = server.messages("game.event")
    assert {each["data"]["player_id"] for each in told} == {owner}
    assert [each["data"]["event"] for each in told] == [
        redact(event, Viewer(1), False) for event in events if event.version >= joined
    ]
    dealt = next(event for event in events if event.type == "round.dealt")
    wire = b"".join(each.body for each in server.received)
    for card in dealt.data["hands"]["1"]:
        assert card.encode() in wire
    assert dealt.data["salt"].encode() not in wire
    assert b'"undealt"' not in wire
    assert all(set(each["data"]["event"]["data"].get("hands", {})) <= {"1"} for each in told)
    begun = [event.version for event in events if event.data.get("turn", {}).get("seat") == 1]
    assert [each["data"]["version"] for each in server.messages("turn.begun")] == begun
    (over,) = server.messages("game.over")
    assert over["data"]["status"] == "finished"
    assert over["data"]["result"]["winner"] == 1
    assert over["timestamp"] == events[-1].at
    secret = hooks.secrets[webhook.webhook_id][0]
    assert all(verified(each, secret) for each in server.received)
    assert not any(verified(each, b"x" * 32) for each in server.received)
    assert {each.status for each in hooks.of(webhook)} == {"delivered"}


def test_only_what_was_asked_for_and_only_from_then_on(hooks: Hooks, server: Receiver) -> None:
    table = open_table(hooks.executor)
    while hooks.feed.waiting():
        hooks.feed.sequence()
    webhook = hooks.add(player_of(table, 0), server.url, "game.over")
    stranger = hooks.add(uuid7(), server.url)
    hooks.follow()
    assert not hooks.of(webhook)
    hooks.executor.execute(table.game_id, Resign(player_of(table, 1)))
    hooks.follow()
    assert [each.type for each in hooks.of(webhook)] == ["game.over"]
    assert not hooks.of(stranger)


def test_who_was_removed_from_a_table_hears_of_that_and_then_no_more(
    hooks: Hooks, server: Receiver
) -> None:
    owner, other = uuid7(), uuid7()
    webhook = hooks.add(owner, server.url, "game.event")
    created = hooks.executor.create(CreateGame(other, "halleluja", {}, 600, visibility="private"))
    game_id = created.game.game_id
    hooks.executor.execute(game_id, TakeSeat(owner))
    hooks.executor.execute(game_id, RemoveSeat(other, 1))
    hooks.executor.execute(game_id, TakeSeat(uuid7()))
    hooks.executor.execute(game_id, LeaveSeat(other))
    hooks.follow()
    hooks.settle()
    told = [
        (each["data"]["event"]["type"], each["data"]["version"])
        for each in server.messages("game.event")
    ]
    assert told == [("seat.taken", 3), ("seat.left", 4)]
    assert len(hooks.of(webhook)) == 2


def test_each_message_once_however_many_nodes_follow(hooks: Hooks, server: Receiver) -> None:
    table = open_table(hooks.executor, rounds_to_win=9)
    webhook = hooks.add(player_of(table, 0), server.url, "game.event")
    for _ in range(10):
        table.make_move()
    while hooks.feed.waiting():
        hooks.feed.sequence()
    assert not hooks.of(webhook)

    def follow() -> None:
        while hooks.fanout.step(3):
            pass

    threads = [threading.Thread(target=follow) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    versions = [each.version for each in hooks.of(webhook)]
    assert len(versions) == len(set(versions))
    assert sorted(v for v in versions if v)[-1] == table.game().version


def _one(hooks: Hooks, server: Receiver) -> tuple[Webhook, str]:
    webhook = hooks.add(uuid7(), server.url)
    delivery, _ = hooks.webhooks.ping(webhook.webhook_id)
    return webhook, delivery.delivery_id


def test_what_fails_is_tried_again_for_three_days_under_the_same_id(
    hooks: Hooks, server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first wait is short; on a machine that is busy it could be over before it is looked at.
    monkeypatch.setattr(module, "RETRY_SECONDS", (300, *module.RETRY_SECONDS[1:]))
    server.behaviour = answers(500)
    webhook, delivery_id = _one(hooks, server)
    waits = []
    for _ in range(len(module.RETRY_SECONDS)):
        assert hooks.send() == 1
        assert hooks.send() == 0, "not before its time"
        wait = hooks.deliveries.wait(hooks.sealer.key_id)
        assert wait is not None
        waits.append(wait)
        hooks.scratch.advance(wait + 0.01)
    for wait, least in zip(waits, module.RETRY_SECONDS, strict=True):
        assert least - 30 < wait <= max(1.2 * least, 300)
    assert sum(waits) >= 3 * 24 * 3600 - 60
    (delivery,) = hooks.of(webhook)
    assert delivery.status == "pending"
    assert [each["status_code"] for each in delivery.attempts] == [500] * len(waits)
    assert hooks.state(webhook) == (True, None)
    hooks.send()
    (delivery,) = hooks.of(webhook)
    assert delivery.status == "failed"
    assert len({each.id for each in server.received}) == 1
    assert server.received[0].id == delivery_id
    assert len({each.body for each in server.received}) == 1
    assert hooks.state(webhook) == (False, "failing")


def test_one_success_and_it_is_not_failing_any_more(hooks: Hooks, server: Receiver) -> None:
    server.behaviour = answers(500)
    webhook, _ = _one(hooks, server)
    hooks.send()
    owner = Owner("player", _owner(hooks, webhook))
    failing = hooks.webhooks.one(owner, webhook.webhook_id)
    assert failing is not None
    assert failing.failing_since is not None
    server.behaviour = takes
    hooks.scratch.advance(4 * 24 * 3600)
    hooks.send()
    (delivery,) = hooks.of(webhook)
    assert delivery.status == "delivered"
    works = hooks.webhooks.one(owner, webhook.webhook_id)
    assert works is not None
    assert works.failing_since is None
    assert works.enabled


def _owner(hooks: Hooks, webhook: Webhook) -> str:
    rows = hooks.scratch.execute(
        "SELECT owner_id::text FROM webhooks WHERE webhook_id = %s", (webhook.webhook_id,)
    )
    return str(rows[0][0])


def test_gone_is_gone_at_once(hooks: Hooks, server: Receiver) -> None:
    table = open_table(hooks.executor)
    webhook = hooks.add(player_of(table, 0), server.url, "game.event")
    server.behaviour = answers(410)
    for _ in range(3):
        table.make_move()
    hooks.follow()
    waiting = len(hooks.of(webhook))
    assert waiting > 2
    hooks.settle()
    assert len(server.received) == 1
    assert hooks.state(webhook) == (False, "gone")
    assert {each.status for each in hooks.of(webhook)} == {"failed"}
    table.make_move()
    hooks.follow()
    assert len(hooks.of(webhook)) == waiting, "nothing more is made for it"
    owner = Owner("player", player_of(table, 0))
    hooks.webhooks.change(owner, webhook.webhook_id, enabled=True)
    server.behaviour = takes
    table.make_move()
    hooks.follow()
    hooks.settle()
    assert hooks.of(webhook)[-1].status == "delivered"
    assert hooks.state(webhook) == (True, None)


def test_one_for_which_too_much_waits_is_disabled(hooks: Hooks, server: Receiver) -> None:
    table = open_table(hooks.executor)
    webhook = hooks.add(player_of(table, 0), server.url, "game.event")
    for _ in range(3):
        table.make_move()
    hooks.follow()
    (claimed,) = hooks.deliveries.claim(hooks.sealer.key_id, 10, 60, slow=False)
    assert not hooks.deliveries.disable_if_too_much_waits(claimed, 100)
    assert hooks.deliveries.disable_if_too_much_waits(claimed, 2)
    assert hooks.state(webhook) == (False, "backlog")


def test_when_to_come_again_is_heeded(hooks: Hooks, server: Receiver) -> None:
    server.behaviour = answers(503, Retry_After="900")
    table = open_table(hooks.executor)
    hooks.add(player_of(table, 0), server.url, "game.event")
    table.make_move()
    hooks.follow()
    hooks.send()
    assert len(server.received) == 1, "nothing else is sent meanwhile"
    wait = hooks.deliveries.wait(hooks.sealer.key_id)
    assert wait is not None
    assert 860 < wait <= 900


def test_a_webhook_that_fails_rests_whatever_comes(hooks: Hooks, server: Receiver) -> None:
    table = open_table(hooks.executor, rounds_to_win=9)
    hooks.add(player_of(table, 0), server.url, "game.event")
    server.behaviour = answers(500)
    hooks.scratch.execute("UPDATE webhooks SET failures = 10")
    calls = 0
    for _ in range(8):
        table.make_move()
        hooks.follow()
        calls += hooks.send()
    assert calls == 1
    assert len(server.received) == 1


def test_both_secrets_sign_for_a_day_after_a_rotation(hooks: Hooks, server: Receiver) -> None:
    webhook, _ = _one(hooks, server)
    owner = Owner("player", _owner(hooks, webhook))
    old = hooks.secrets[webhook.webhook_id][0]
    rotated = hooks.webhooks.rotate(owner, webhook.webhook_id)
    assert rotated is not None
    new = rotated[1]
    hooks.send()
    hooks.scratch.advance(24 * 3600 + 1)
    hooks.webhooks.ping(webhook.webhook_id)
    hooks.send()
    during, after = server.received
    assert verified(during, old)
    assert verified(during, new)
    assert verified(after, new)
    assert not verified(after, old)


def test_another_key_claims_nothing(hooks: Hooks, server: Receiver, tmp_path: Path) -> None:
    _one(hooks, server)
    other = Sealer(tmp_path / "other")
    assert other.key_id != hooks.sealer.key_id
    assert hooks.deliveries.claim(other.key_id, 10, 60, slow=False) == []
    assert hooks.send() == 1


def test_a_sender_that_died_is_followed_by_another(hooks: Hooks, server: Receiver) -> None:
    webhook, delivery_id = _one(hooks, server)
    (lost,) = hooks.deliveries.claim(hooks.sealer.key_id, 10, 60, slow=False)
    (due,) = hooks.deliveries.due(webhook.webhook_id)
    assert hooks.send() == 0
    hooks.scratch.advance(61)
    assert hooks.send() == 1
    assert server.received[0].id == delivery_id
    late = hooks.deliveries.note(lost, due, {"status_code": 500}, delivered=False)
    assert late is None
    hooks.deliveries.release(lost)
    assert hooks.of(webhook)[0].status == "delivered"


def test_those_that_hang_keep_no_other_waiting(hooks: Hooks, server: Receiver) -> None:
    """More of them than there are places: they fill theirs, and another is called meanwhile."""
    with receiver(hangs) as dead:
        sender = hooks.sender(places=4, seconds=60.0)
        for number in range(6):
            webhook = hooks.add(uuid7(), f"{dead.url}&n={number}")
            hooks.webhooks.ping(webhook.webhook_id)
        # They have been slow before.
        hooks.scratch.execute("UPDATE webhooks SET slow = true")
        sender.start()
        wait_for(lambda: len(dead.received) == 2, 30, "half of the places are taken")
        for number in range(3):
            webhook = hooks.add(uuid7(), server.url)
            hooks.webhooks.ping(webhook.webhook_id)
            sender.wake()
            wait_for(lambda: len(server.received) == number + 1, 30, "the other is called")  # noqa: B023
        assert len(dead.received) == 2
        sender.stop()
    sender.join(30)


def test_a_receiver_learns_nothing_from_the_log_of_a_secret(
    hooks: Hooks, server: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server.behaviour = answers(410)
    webhook, _ = _one(hooks, server)
    hooks.send()
    secret = hooks.secrets[webhook.webhook_id][0]
    for text in (secret.hex(), base64.b64encode(secret).decode(), repr(secret), "?a=b"):
        assert text not in caplog.text
        assert text not in json.dumps([list(each.attempts) for each in hooks.of(webhook)])


def test_old_deliveries_are_forgotten(hooks: Hooks, server: Receiver) -> None:
    webhook, _ = _one(hooks, server)
    hooks.send()
    hooks.scratch.advance(29 * 24 * 3600)
    hooks.deliveries.purge(1000)
    hooks.webhooks.ping(webhook.webhook_id)
    assert len(hooks.of(webhook)) == 2
    hooks.scratch.advance(2 * 24 * 3600)
    hooks.deliveries.purge(1000)
    assert [each.status for each in hooks.of(webhook)] == ["pending"]


def test_a_node_is_killed_while_it_calls_and_another_calls_again(
    hooks: Hooks, server: Receiver, tmp_path: Path, broker_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """From the move to the receiver through a real node, and what it left through another's."""
    keys = tmp_path / "keys"
    monkeypatch.setenv("ABBOT_WEBHOOKS", "anywhere")
    monkeypatch.setenv("ABBOT_SIGNING_KEYS", str(keys))
    nodes = Nodes(hooks.scratch.clocked_url, tmp_path)
    table = open_table(hooks.executor, turn_seconds=600)
    hooks.follow()
    webhook = hooks.add(player_of(table, 0), server.url, "game.over")
    server.behaviour = hangs
    node = nodes("one", broker_url)
    try:
        hooks.executor.execute(table.game_id, Resign(player_of(table, 1)))
        wait_for(lambda: server.received, 60, "the node calls")
    finally:
        nodes.end()
    assert "whsec" not in node.output()
    assert [each.status for each in hooks.of(webhook)] == ["pending"]
    server.behaviour = takes
    hooks.scratch.advance(61)
    settings = replace(
        Settings.from_env(database_required=False), database_url=hooks.scratch.clocked_url
    )
    service = FeedService(Resources(settings))
    service.start()
    wait_for(lambda: hooks.of(webhook)[0].status == "delivered", 60, "another node calls")
    service.stop()
    first, second = server.received
    assert first.id == second.id
    assert first.body == second.body


def test_an_app_is_told_of_each_of_its_players_by_itself(hooks: Hooks, server: Receiver) -> None:
    apps = Apps(hooks.pool)
    app, rival = (apps.create(name, uuid7().encode()) for name in ("Card Table", "Rival"))
    hooks.follow()
    webhook = hooks.add_for(Owner("app", app.app_id), server.url)
    rivals = hooks.add_for(Owner("app", rival.app_id), server.url)
    players = [apps.register(app.app_id, name)[0].player_id for name in ("Anna", "Bert")]
    host = uuid7()
    own = hooks.add(players[0], server.url)
    created = hooks.executor.create(CreateGame(host, "halleluja", {}, 600))
    game_id = created.game.game_id
    for player in players:
        hooks.executor.execute(game_id, TakeSeat(player))
    table = Table(hooks.executor, game_id, (host, *players))
    hooks.executor.execute(game_id, StartGame(host))
    for _ in range(4):
        table.make_move()
    hooks.executor.execute(game_id, Resign(host))
    hooks.executor.execute(game_id, Resign(players[1]))
    hooks.follow()
    hooks.settle()
    secret = hooks.secrets[webhook.webhook_id][0]
    told = [each for each in server.received if verified(each, secret)]
    # They can overtake each other.
    told.sort(key=lambda each: each.message["data"]["version"])
    events = table.events()
    for seat, player in enumerate(players, 1):
        mine = [each.message for each in told if each.message["data"]["player_id"] == player]
        joined = next(e.version for e in events if e.data.get("player_id") == player)
        assert [m["data"]["event"] for m in mine if m["type"] == "game.event"] == [
            redact(event, Viewer(seat), False) for event in events if event.version >= joined
        ]
        begun = [e.version for e in events if e.data.get("turn", {}).get("seat") == seat]
        assert [m["data"]["version"] for m in mine if m["type"] == "turn.begun"] == begun
        assert [m["data"]["seat"] for m in mine if m["type"] == "game.over"] == [seat]
    assert {each.status for each in hooks.of(webhook)} == {"delivered"}
    # The player's own is called as well, and a rival hears of nothing.
    assert {each.status for each in hooks.of(own)} == {"delivered"}
    assert not hooks.of(rivals)
    # All that is sent is what the document says.
    for each in server.received:
        body = ("requestBody", "content", "application/json", "schema")
        wrong = faults(("webhooks", each.message["type"], "post", *body), each.message)
        assert not wrong, (each.message, wrong)
    # Each message once, of whom it is about.
    assert len(told) == len(hooks.of(webhook)) == len({each.id for each in told})


def test_an_app_is_sent_several_messages_at_a_time(hooks: Hooks, server: Receiver) -> None:
    app = Apps(hooks.pool).create("Card Table", uuid7().encode())
    player, _ = Apps(hooks.pool).register(app.app_id, "Anna")
    hooks.follow()
    webhook = hooks.add_for(Owner("app", app.app_id), server.url, "game.event")
    own = hooks.add(player.player_id, f"{server.url}&own", "game.event")
    game_id = hooks.executor.create(CreateGame(player.player_id, "halleluja")).game.game_id
    hooks.executor.execute(game_id, TakeSeat(uuid7()))
    hooks.executor.execute(game_id, StartGame(player.player_id))
    hooks.follow()
    count = len(hooks.of(webhook))
    assert 3 < count == len(hooks.of(own)) <= APP_AT_ONCE
    lock, met, running, most = threading.Lock(), threading.Barrier(count - 1), 0, 0
    first = True

    def together(receiver: Receiver, handler: BaseHTTPRequestHandler) -> None:
        """The app's come together but for the first, the player's one by one."""
        nonlocal running, most, first
        if "own" in handler.path:
            with lock:
                running += 1
                most = max(most, running)
            takes(receiver, handler)
            with lock:
                running -= 1
        elif first:
            first = False
            takes(receiver, handler)
        else:
            met.wait(60)
            takes(receiver, handler)

    server.behaviour = together
    hooks.settle()
    assert {each.status for each in (*hooks.of(webhook), *hooks.of(own))} == {"delivered"}
    assert most == 1


def test_an_app_that_fails_is_sent_one_message_at_a_time(hooks: Hooks, server: Receiver) -> None:
    app = Apps(hooks.pool).create("Card Table", uuid7().encode())
    player, _ = Apps(hooks.pool).register(app.app_id, "Anna")
    hooks.follow()
    webhook = hooks.add_for(Owner("app", app.app_id), server.url, "game.event")
    game_id = hooks.executor.create(CreateGame(player.player_id, "halleluja")).game.game_id
    hooks.executor.execute(game_id, TakeSeat(uuid7()))
    hooks.executor.execute(game_id, StartGame(player.player_id))
    hooks.follow()
    server.behaviour = answers(500)
    for tried in (1, 2):
        hooks.send()
        assert len(server.received) == tried
        hooks.scratch.advance(3600)
    server.behaviour = takes
    hooks.settle()
    assert {each.status for each in hooks.of(webhook)} == {"delivered"}
    assert hooks.state(webhook) == (True, None)


def test_more_may_wait_for_an_app(hooks: Hooks, server: Receiver) -> None:
    app = Apps(hooks.pool).create("Card Table", uuid7().encode())
    webhooks = {
        "app": hooks.add_for(Owner("app", app.app_id), server.url),
        "player": hooks.add(uuid7(), server.url),
    }
    for each in webhooks.values():
        hooks.webhooks.ping(each.webhook_id)
    claims = hooks.deliveries.claim(hooks.sealer.key_id, 100, 60, slow=False)
    assert {each.owner_kind: each.webhook_id for each in claims} == {
        kind: each.webhook_id for kind, each in webhooks.items()
    }
    assert MOST_WAITING["player"] < MOST_WAITING["app"]
    for claimed in claims:
        assert not hooks.deliveries.disable_if_too_much_waits(claimed)
        assert hooks.deliveries.disable_if_too_much_waits(claimed, 0)
        assert hooks.state(webhooks[claimed.owner_kind]) == (False, "backlog")


def test_an_app_that_is_revoked_is_told_nothing_more(hooks: Hooks, server: Receiver) -> None:
    """Neither by what it had made for its players, nor by what it makes at the same moment."""
    apps = Apps(hooks.pool)
    app = apps.create("Card Table", uuid7().encode())
    player, _ = apps.register(app.app_id, "Anna")
    before = hooks.add(player.player_id, server.url)
    assert apps.revoke(app.app_id)
    owner = Owner("player", player.player_id)
    assert hooks.webhooks.one(owner, before.webhook_id) is None
    late = hooks.add(player.player_id, server.url)
    host = uuid7()
    created = hooks.executor.create(CreateGame(host, "halleluja", {}, 600))
    game_id = created.game.game_id
    hooks.executor.execute(game_id, TakeSeat(player.player_id))
    hooks.executor.execute(game_id, StartGame(host))
    hooks.follow()
    assert not hooks.of(late)
