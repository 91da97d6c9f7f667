"""Webhooks of a player or an app: what each call on them does.

It gives the answer, or raises what is wrong.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Response

from domain.webhooks import secret_text
from domain.wording import Sentence
from eventstore.destinations import Unfit
from eventstore.webhooks import MOST_OF_OWNER, Delivery, Disabled, Owner, Webhook

from . import paging, responses
from .operation import Call
from .problems import Problem, invalid, not_found, unavailable
from .services import services

_LOOKUPS = threading.BoundedSemaphore(4)
"""Names that are looked up at a time in one process: who names many that take long to be found
does not keep the process from looking up others."""
_LOOKUP_SECONDS = 5.0


def create(call: Call, owner: Owner) -> Response:
    """A new webhook of `owner`."""
    call.validate()
    sent = call.fields
    _check(sent["url"])
    added = services().webhooks.add(
        owner, sent["url"], _unique(sent["events"]), sent["description"]
    )
    if added is None:
        raise Problem(
            "too-many-webhooks",
            Sentence("You have {most} webhooks; that is the most.", most=MOST_OF_OWNER),
        )
    webhook, secret = added
    body = _shown(webhook) | {"secret": secret_text(secret)}
    return responses.secret(responses.json(body, 201, location=_path(owner, webhook.webhook_id)))


def page(call: Call, owner: Owner) -> Response:
    """A page of the webhooks of `owner`."""
    call.validate()
    limit = call.query["limit"]
    before = paging.read_cursor(call.query.get("cursor"))
    found = services().webhooks.of(owner, before=before, limit=limit + 1)
    shown = [_shown(webhook) for webhook in found[:limit]]
    return paging.page(shown, shown[-1]["webhook_id"] if len(found) > limit else None)


def get(call: Call, owner: Owner, webhook_id: str) -> Response:
    """One of them."""
    webhook = _own(owner, webhook_id)
    call.validate()
    return responses.tagged(_shown(webhook))


def change(call: Call, owner: Owner, webhook_id: str) -> Response:
    """The same, changed."""
    webhook = _own(owner, webhook_id)
    call.validate()
    sent = dict(call.fields)
    if "url" in sent and sent["url"] != webhook.url:
        _check(sent["url"])
    if "events" in sent:
        sent["events"] = _unique(sent["events"])
    changed = services().webhooks.change(owner, webhook_id, **sent)
    if changed is None:
        raise _unknown()
    return responses.json(_shown(changed))


def remove(call: Call, owner: Owner, webhook_id: str) -> Response:
    """Nothing: it is gone."""
    _own(owner, webhook_id)
    call.validate()
    if not services().webhooks.remove(owner, webhook_id):
        raise _unknown()
    return responses.nothing()


def rotate(call: Call, owner: Owner, webhook_id: str) -> Response:
    """The same with a new secret."""
    _own(owner, webhook_id)
    call.validate()
    rotated = services().webhooks.rotate(owner, webhook_id)
    if rotated is None:
        raise _unknown()
    webhook, secret = rotated
    return responses.secret(responses.json(_shown(webhook) | {"secret": secret_text(secret)}))


def ping(call: Call, owner: Owner, webhook_id: str) -> Response:
    """A test message that waits to be sent."""
    _own(owner, webhook_id)
    call.validate()
    try:
        delivery, new = services().webhooks.ping(webhook_id)
    except Disabled:
        raise _disabled() from None
    if not new:
        return responses.json(_delivery(delivery))
    location = f"{_path(owner, webhook_id)}/deliveries/{delivery.delivery_id}"
    return responses.json(_delivery(delivery), 201, location=location)


def deliveries(call: Call, owner: Owner, webhook_id: str) -> Response:
    """A page of what was delivered."""
    _own(owner, webhook_id)
    call.validate()
    limit = call.query["limit"]
    before = paging.read_cursor(call.query.get("cursor"))
    found = services().webhooks.deliveries(webhook_id, before=before, limit=limit + 1)
    shown = [_delivery(delivery) for delivery in found[:limit]]
    return paging.page(shown, shown[-1]["delivery_id"] if len(found) > limit else None)


def delivery(call: Call, owner: Owner, webhook_id: str, delivery_id: str) -> Response:
    """One of these."""
    _own(owner, webhook_id)
    call.validate()
    delivery = services().webhooks.delivery(webhook_id, delivery_id)
    if delivery is None:
        raise not_found("There is no such delivery.")
    return responses.tagged(_delivery(delivery))


def retry(call: Call, owner: Owner, webhook_id: str, delivery_id: str) -> Response:
    """The same, waiting to be sent again."""
    _own(owner, webhook_id)
    call.validate()
    if services().webhooks.delivery(webhook_id, delivery_id) is None:
        raise not_found("There is no such delivery.")
    try:
        delivery = services().webhooks.send_again(webhook_id, delivery_id)
    except Disabled:
        raise _disabled() from None
    if delivery is None:
        raise not_found("There is no such delivery.")
    return responses.json(_delivery(delivery))


def _own(owner: Owner, webhook_id: str) -> Webhook:
    webhook = services().webhooks.one(owner, webhook_id)
    if webhook is None:
        raise _unknown()
    return webhook


def _unknown() -> Problem:
    return not_found("You have no such webhook.")


def _disabled() -> Problem:
    return Problem("webhook-disabled", "Nothing is sent to it until it is enabled again.")


@contextmanager
def _looking_up() -> Iterator[None]:
    if not _LOOKUPS.acquire(timeout=_LOOKUP_SECONDS):
        raise unavailable("Too many names are being looked up at the moment; try again.")
    try:
        yield
    finally:
        _LOOKUPS.release()


def _check(url: str) -> None:
    """422 for a URL that webhooks may not have."""
    try:
        with _looking_up():
            services().destinations.check(url)
    except Unfit as unfit:
        raise invalid(("url", unfit.detail)) from None


def _unique(subjects: list[str]) -> list[str]:
    return list(dict.fromkeys(subjects))


def _path(owner: Owner, webhook_id: str) -> str:
    of = {"player": "me", "app": "apps/me"}[owner.kind]
    return f"/v1/{of}/webhooks/{webhook_id}"


def _shown(webhook: Webhook) -> dict[str, Any]:
    shown = {
        "webhook_id": webhook.webhook_id,
        "url": webhook.url,
        "events": list(webhook.events),
        "description": webhook.description,
        "enabled": webhook.enabled,
        "disabled_reason": webhook.disabled_reason,
        "created_at": webhook.created_at,
        "failing_since": webhook.failing_since,
        "old_secret_until": webhook.old_secret_until,
    }
    return {name: value for name, value in shown.items() if value is not None}


def _delivery(delivery: Delivery) -> dict[str, Any]:
    shown = {
        "delivery_id": delivery.delivery_id,
        "type": delivery.type,
        "game_id": delivery.game_id,
        "version": delivery.version,
        "status": delivery.status,
        "created_at": delivery.created_at,
        "due_at": delivery.due_at,
        "attempts": list(delivery.attempts),
    }
    return {name: value for name, value in shown.items() if value is not None}
