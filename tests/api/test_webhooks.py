"""Webhooks over HTTP: whose they are, which URLs are taken, and what is shown of secrets."""

from __future__ import annotations

import base64
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from api.services import Services
from eventstore.deliveries import Claimed, Deliveries
from eventstore.sealing import Sealer
from eventstore.webhooks import MOST_OF_OWNER
from tests.api.client import Client
from tests.databases import Scratch

URL = "https://bots.example.com/abbot?key=1"


def made(client: Client, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/me/webhooks", {"url": URL, **more}, expect=201)
    webhook: dict[str, Any] = answer.get_json()
    assert answer.headers["Location"] == f"/v1/me/webhooks/{webhook['webhook_id']}"
    assert "no-store" in answer.headers["Cache-Control"]
    return webhook


def path(webhook: dict[str, Any]) -> str:
    return f"/v1/me/webhooks/{webhook['webhook_id']}"


def test_a_webhook_is_made_changed_and_removed(anna: Client) -> None:
    webhook = made(anna, description="my bot")
    secret = webhook.pop("secret")
    assert re.fullmatch(r"whsec_[0-9A-Za-z+/]{43}=", secret)
    assert webhook["events"] == ["turn.begun", "game.over"]
    answer = anna.get(path(webhook), expect=200)
    assert answer.get_json() == webhook
    anna.get(path(webhook), headers={"If-None-Match": answer.headers["ETag"]}, expect=304)
    assert anna.get("/v1/me/webhooks", expect=200).get_json() == {"items": [webhook]}
    change = {"events": ["game.event", "game.event"], "enabled": False}
    changed = anna.patch(path(webhook), change, expect=200).get_json()
    assert changed == webhook | {
        "events": ["game.event"], "enabled": False, "disabled_reason": "owner"
    }  # fmt: skip
    assert anna.patch(path(webhook), {"enabled": True}, expect=200).get_json()["enabled"]
    anna.delete(path(webhook), expect=204)
    anna.delete(path(webhook), expect=404)
    anna.get(path(webhook), expect=404)


def test_another_players_webhook_is_not_found(anna: Client, bert: Client) -> None:
    webhook = made(anna)
    own = path(webhook)
    ping = anna.post(f"{own}/ping", expect=201).get_json()
    bert.get(own, expect=404)
    bert.patch(own, {"enabled": False}, expect=404)
    bert.delete(own, expect=404)
    bert.post(f"{own}/rotate-secret", expect=404)
    bert.post(f"{own}/ping", expect=404)
    bert.get(f"{own}/deliveries", expect=404)
    bert.get(f"{own}/deliveries/{ping['delivery_id']}", expect=404)
    bert.post(f"{own}/deliveries/{ping['delivery_id']}/retry", expect=404)
    mine = path(made(bert))
    bert.get(f"{mine}/deliveries/{ping['delivery_id']}", expect=404)
    bert.post(f"{mine}/deliveries/{ping['delivery_id']}/retry", expect=404)
    assert anna.get(own, expect=200).get_json()["enabled"]


def test_a_token_that_only_reads_sees_none(anna: Client) -> None:
    made(anna)
    issued = anna.post("/v1/me/tokens", {"scopes": ["read"]}, expect=201).get_json()
    reader = Client(anna.app, issued["token"], anna.player_id)
    reader.get("/v1/me/webhooks", expect=403)
    reader.post("/v1/me/webhooks", {"url": URL}, expect=403)


@pytest.mark.parametrize(
    "url",
    [
        "http://bots.example.com/",
        "ftp://bots.example.com/",
        "bots.example.com",
        "https://",
        "https:///path",
        "https://nowhere.example.org/",
        "https://private.example.com/",
        "https://localhost/",
        "https://intranet/",
        "https://printer.local/",
        "https://metadata.google.internal/",
        "https://me:pw@bots.example.com/",
        "https://bots.example.com/#here",
        "https://bots.example.com:22/",
        "https://bots.example.com:0/",
        "https://bots.example.com:99999/",
        "https://bots.example.com/a b",
        "https://bots.example.com/\r\nHost: x",
        "https://bots.example.com\\@localhost/",
        "https://bots.example.com./",
        "https://bücher.example.com/",
        "https://bots.example.com/" + "x" * 2048,
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.0.0.1/",
        "https://0177.0.0.1/",
        "https://0/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://100.64.0.1/",
        "https://192.168.1.1/",
        "https://[::1]/",
        "https://[::]/",
        "https://[fe80::1]/",
        "https://[fe80::1%25eth0]/",
        "https://[fc00::1]/",
        "https://[::ffff:93.184.215.14]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[64:ff9b:1::1]/",
        "https://[2002:7f00:1::]/",
        "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
        "https://[ff02::1]/",
    ],
)
def test_urls_that_lead_nowhere_public_are_refused(anna: Client, url: str) -> None:
    problem = anna.refused(anna.post("/v1/me/webhooks", {"url": url}), 422, "validation")
    assert [error["field"] for error in problem["errors"]] == ["url"]
    webhook = made(anna)
    anna.refused(anna.patch(path(webhook), {"url": url}), 422, "validation")
    assert anna.get(path(webhook), expect=200).get_json()["url"] == URL


@pytest.mark.parametrize(
    "url",
    [
        "https://bots.example.com",
        "https://BOTS.example.com:8443/a?b=%20",
        "https://93.184.215.14/",
        "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:1024/x",
    ],
)
def test_public_urls_are_taken(anna: Client, url: str) -> None:
    assert made(anna, url=url)["url"] == url


def test_values_are_checked(anna: Client) -> None:
    for wrong in ({"events": []}, {"events": ["card"]}, {"description": "x" * 201}, {"more": 1}):
        anna.refused(anna.post("/v1/me/webhooks", {"url": URL, **wrong}), 422, "validation")
    anna.refused(anna.post("/v1/me/webhooks", {}), 422, "validation")


def test_there_is_a_most_however_many_ask_at_once(anna: Client) -> None:
    def ask(_: int) -> int:
        own = Client(anna.app, anna.token, anna.player_id)
        return own.post("/v1/me/webhooks", {"url": URL}).status_code

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(ask, range(MOST_OF_OWNER + 6)))
    assert sorted(statuses) == [201] * MOST_OF_OWNER + [409] * 6
    problem = anna.refused(anna.post("/v1/me/webhooks", {"url": URL}), 409, "too-many-webhooks")
    assert str(MOST_OF_OWNER) in problem["detail"]
    first = anna.get("/v1/me/webhooks", query="limit=7", expect=200).get_json()
    rest = anna.get(
        "/v1/me/webhooks", query=f"limit=7&cursor={first['next_cursor']}", expect=200
    ).get_json()
    ids = [each["webhook_id"] for page in (first, rest) for each in page["items"]]
    assert len(set(ids)) == MOST_OF_OWNER
    assert "next_cursor" not in rest


def test_secrets_are_sealed_and_shown_once(
    anna: Client, opened: Services, scratch: Scratch
) -> None:
    webhook = made(anna)
    first = base64.b64decode(webhook["secret"].removeprefix("whsec_"))
    rotated = anna.post(f"{path(webhook)}/rotate-secret", expect=200).get_json()
    second = base64.b64decode(rotated["secret"].removeprefix("whsec_"))
    assert first != second
    assert rotated["old_secret_until"]
    shown = anna.get(path(webhook), expect=200).get_json()
    assert "secret" not in shown
    [(row,)] = scratch.execute(
        "SELECT to_jsonb(w)::text FROM webhooks w WHERE webhook_id = %s", (webhook["webhook_id"],)
    )
    assert first.hex() not in row
    assert second.hex() not in row
    anna.post(f"{path(webhook)}/ping", expect=201)
    claimed = _claimed(opened, webhook)
    sealer = Sealer(opened.signer.folder)
    assert sealer.open(claimed.secret, claimed.webhook_id) == second
    assert claimed.old_secret is not None
    assert sealer.open(claimed.old_secret, claimed.webhook_id) == first
    Deliveries(opened.store.pool).release(claimed)
    scratch.advance(24 * 3600 + 1)
    assert "old_secret_until" not in anna.get(path(webhook), expect=200).get_json()
    assert _claimed(opened, webhook).old_secret is None


def _claimed(opened: Services, webhook: dict[str, Any]) -> Claimed:
    deliveries = Deliveries(opened.store.pool)
    key_id = Sealer(opened.signer.folder).key_id
    claimed = deliveries.claim(key_id, 1000, 60, slow=False)
    return next(each for each in claimed if each.webhook_id == webhook["webhook_id"])


def test_a_ping_waits_once_and_is_in_the_log(anna: Client) -> None:
    webhook = made(anna)
    answer = anna.post(f"{path(webhook)}/ping", expect=201)
    ping = answer.get_json()
    assert ping["type"] == "ping"
    assert ping["status"] == "pending"
    assert anna.get(answer.headers["Location"], expect=200).get_json() == ping
    assert anna.post(f"{path(webhook)}/ping", expect=200).get_json() == ping
    assert anna.get(f"{path(webhook)}/deliveries", expect=200).get_json() == {"items": [ping]}
    anna.post(f"{answer.headers['Location']}/retry", expect=200)
    anna.patch(path(webhook), {"enabled": False}, expect=200)
    given_up = anna.get(answer.headers["Location"], expect=200).get_json()
    assert given_up["status"] == "failed"
    for call in (f"{path(webhook)}/ping", f"{answer.headers['Location']}/retry"):
        anna.refused(anna.post(call), 409, "webhook-disabled")
    anna.patch(path(webhook), {"enabled": True}, expect=200)
    again = anna.post(f"{answer.headers['Location']}/retry", expect=200).get_json()
    assert again["status"] == "pending"


def test_who_is_erased_is_called_no_more(anna: Client, opened: Services, scratch: Scratch) -> None:
    webhook = made(anna)
    anna.post(f"{path(webhook)}/ping", expect=201)
    assert opened.players.erase(anna.player_id)
    for table in ("webhooks", "deliveries"):
        counted = scratch.execute(
            f"SELECT count(*) FROM {table} WHERE webhook_id = %s", (webhook["webhook_id"],)
        )
        assert counted == [(0,)]
