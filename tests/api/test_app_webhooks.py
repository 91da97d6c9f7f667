"""Webhooks of an app over HTTP: its key alone manages them, and nobody else sees them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from api.services import Services
from eventstore.webhooks import MOST_OF_OWNER
from tests.api.client import Client
from tests.api.test_apps import caller, player_of, registered_app  # noqa: F401
from tests.databases import Scratch

URL = "https://app.example.com/abbot"
EVERY = "/v1/apps/me/webhooks"


def made(caller: Client, **more: Any) -> str:  # noqa: F811
    """The path of a new webhook."""
    webhook = caller.post(EVERY, {"url": URL, **more}, expect=201).get_json()
    return f"{EVERY}/{webhook['webhook_id']}"


def test_an_app_makes_changes_and_removes_one(caller: Client) -> None:  # noqa: F811
    answer = caller.post(EVERY, {"url": URL, "description": "all tables"}, expect=201)
    webhook = answer.get_json()
    path = f"{EVERY}/{webhook['webhook_id']}"
    assert answer.headers["Location"] == path
    assert "no-store" in answer.headers["Cache-Control"]
    secret = webhook.pop("secret")
    assert re.fullmatch(r"whsec_[0-9A-Za-z+/]{43}=", secret)
    answer = caller.get(path, expect=200)
    assert answer.get_json() == webhook
    caller.get(path, headers={"If-None-Match": answer.headers["ETag"]}, expect=304)
    assert caller.get(EVERY, expect=200).get_json() == {"items": [webhook]}
    # For whom else the app speaks changes nothing: it is the app's.
    assert player_of(caller).get(EVERY, expect=200).get_json() == {"items": [webhook]}
    changed = caller.patch(path, {"events": ["game.event"], "enabled": False}, expect=200)
    assert changed.get_json() == webhook | {
        "events": ["game.event"], "enabled": False, "disabled_reason": "owner"
    }  # fmt: skip
    caller.refused(caller.post(f"{path}/ping"), 409, "webhook-disabled")
    caller.patch(path, {"enabled": True}, expect=200)
    rotated = caller.post(f"{path}/rotate-secret", expect=200).get_json()
    assert rotated["secret"] != secret
    answer = caller.post(f"{path}/ping", expect=201)
    ping = answer.get_json()
    assert answer.headers["Location"] == f"{path}/deliveries/{ping['delivery_id']}"
    assert caller.post(f"{path}/ping", expect=200).get_json() == ping
    assert caller.get(answer.headers["Location"], expect=200).get_json() == ping
    assert caller.get(f"{path}/deliveries", expect=200).get_json() == {"items": [ping]}
    caller.post(f"{answer.headers['Location']}/retry", expect=200)
    caller.delete(path, expect=204)
    caller.refused(caller.get(path), 404, "not-found")


def test_nobody_else_finds_it(
    caller: Client, anna: Client, nobody: Client, app: Flask, opened: Services  # noqa: F811
) -> None:  # fmt: skip
    path = made(caller)
    ping = caller.post(f"{path}/ping", expect=201).get_json()
    rival, _ = registered_app(app, opened, "Rival")
    calls = [
        ("GET", path), ("PATCH", path), ("DELETE", path), ("POST", f"{path}/rotate-secret"),
        ("POST", f"{path}/ping"), ("GET", f"{path}/deliveries"),
        ("GET", f"{path}/deliveries/{ping['delivery_id']}"),
        ("POST", f"{path}/deliveries/{ping['delivery_id']}/retry"),
    ]  # fmt: skip
    for method, where in calls:
        body = {} if method == "PATCH" else None
        rival.refused(rival.send(method, where, body), 404, "not-found")
        anna.refused(anna.send(method, where, body), 403, "forbidden")
        nobody.refused(nobody.send(method, where, body), 401, "unauthenticated")
        # Nor is it one of a player of the app.
        own = where.replace("/apps/me/", "/me/")
        player = player_of(caller)
        player.refused(player.send(method, own, body), 403, "forbidden")
        anna.refused(anna.send(method, own, body), 404, "not-found")
    assert rival.get(EVERY, expect=200).get_json() == {"items": []}
    mine = made(rival)
    rival.get(f"{mine}/deliveries/{ping['delivery_id']}", expect=404)
    rival.post(f"{mine}/deliveries/{ping['delivery_id']}/retry", expect=404)
    assert caller.get(path, expect=200).get_json()["enabled"]


@pytest.mark.parametrize(
    "url", ["http://app.example.com/", "https://private.example.com/", "https://10.0.0.1/"]
)
def test_it_leads_nowhere_private(caller: Client, url: str) -> None:  # noqa: F811
    caller.refused(caller.post(EVERY, {"url": url}), 422, "validation")
    path = made(caller)
    caller.refused(caller.patch(path, {"url": url}), 422, "validation")


def test_an_app_has_so_many(caller: Client) -> None:  # noqa: F811
    for _ in range(MOST_OF_OWNER):
        made(caller)
    caller.refused(caller.post(EVERY, {"url": URL}), 409, "too-many-webhooks")
    first = caller.get(EVERY, query="limit=7", expect=200).get_json()
    rest = caller.get(EVERY, query=f"limit=7&cursor={first['next_cursor']}", expect=200).get_json()
    ids = [each["webhook_id"] for page in (first, rest) for each in page["items"]]
    assert len(set(ids)) == MOST_OF_OWNER


def test_it_goes_with_the_app(
    caller: Client, opened: Services, scratch: Scratch  # noqa: F811
) -> None:  # fmt: skip
    path = made(caller)
    caller.post(f"{path}/ping", expect=201)
    assert opened.apps.revoke(caller.get("/v1/apps/me").get_json()["app_id"])
    caller.refused(caller.get(EVERY), 401, "unauthenticated")
    webhook_id = path.rpartition("/")[2]
    for table in ("webhooks", "deliveries"):
        counted = scratch.execute(
            f"SELECT count(*) FROM {table} WHERE webhook_id = %s", (webhook_id,)
        )
        assert counted == [(0,)]
