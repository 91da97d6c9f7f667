"""Webhooks: URLs that are called when something happens in their owner's games."""

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
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import Problem, forbidden, invalid, not_found, unavailable
from .schemas import webhooks as schemas
from .schemas.games import EmptyObject
from .services import services

blueprint = Blueprint("webhooks", __name__, description="Calls when something happens.")

_LOOKUPS = threading.BoundedSemaphore(4)
"""Names that are looked up at a time in one process: who names many that take long to be found
does not keep the process from looking up others."""
_LOOKUP_SECONDS = 5.0

_SEND = {
    200: Answer("It waits to be sent.", schemas.WebhookDelivery),
    201: Answer("It waits to be sent.", schemas.WebhookDelivery, ("Location",)),
}


@blueprint.route("/me/webhooks", methods=["POST"])
@operation(
    "createWebhook",
    answers={201: Answer("The webhook.", schemas.WebhookWithSecret, ("Location",))},
    body=schemas.NewWebhook,
    body_required=True,
    problems=("forbidden", "too-many-webhooks"),
    body_example={"url": "https://bots.example.com/abbot", "events": ["turn.begun", "game.over"]},
)
def create_webhook(call: Call) -> Response:
    """Make a webhook.

    The URL is called from now on when something happens in your games. The secret that the calls
    are signed with is shown this once: keep it.
    """
    owner = _owner(call)
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
    return responses.secret(responses.json(body, 201, location=_path(webhook.webhook_id)))


@blueprint.route("/me/webhooks", methods=["GET"])
@operation(
    "listWebhooks",
    answers={200: Answer("A page of webhooks.", schemas.WebhookList, ("ETag", "Link"))},
    query=schemas.WebhooksQuery,
    problems=("forbidden",),
    if_none_match=True,
)
def list_webhooks(call: Call) -> Response:
    """List one's webhooks.

    Disabled ones too, newest first.
    """
    owner = _owner(call)
    call.validate()
    limit = call.query["limit"]
    before = paging.read_cursor(call.query.get("cursor"))
    found = services().webhooks.of(owner, before=before, limit=limit + 1)
    shown = [_shown(webhook) for webhook in found[:limit]]
    return paging.page(shown, shown[-1]["webhook_id"] if len(found) > limit else None)


@blueprint.route("/me/webhooks/<id:webhook_id>", methods=["GET"])
@operation(
    "getWebhook",
    answers={200: Answer("The webhook.", schemas.WebhookInfo, ("ETag",))},
    problems=("forbidden", "not-found"),
    if_none_match=True,
)
def get_webhook(call: Call, webhook_id: str) -> Response:
    """Get a webhook.

    Whether it is called, and since when it fails if it does.
    """
    webhook = _own(call, webhook_id)
    call.validate()
    return responses.tagged(_shown(webhook))


@blueprint.route("/me/webhooks/<id:webhook_id>", methods=["PATCH"])
@operation(
    "changeWebhook",
    answers={200: Answer("The webhook.", schemas.WebhookInfo)},
    body=schemas.WebhookChange,
    problems=("forbidden", "not-found"),
    body_example={"enabled": True},
)
def change_webhook(call: Call, webhook_id: str) -> Response:
    """Change a webhook.

    Also to disable it, and to enable it again.
    """
    webhook = _own(call, webhook_id)
    call.validate()
    sent = dict(call.fields)
    if "url" in sent and sent["url"] != webhook.url:
        _check(sent["url"])
    if "events" in sent:
        sent["events"] = _unique(sent["events"])
    changed = services().webhooks.change(_owner(call), webhook_id, **sent)
    if changed is None:
        raise _unknown()
    return responses.json(_shown(changed))


@blueprint.route("/me/webhooks/<id:webhook_id>", methods=["DELETE"])
@operation(
    "deleteWebhook",
    answers={204: Answer("It is not called any more.")},
    problems=("forbidden", "not-found"),
)
def delete_webhook(call: Call, webhook_id: str) -> Response:
    """Remove a webhook.

    With the log of its deliveries.
    """
    _own(call, webhook_id)
    call.validate()
    if not services().webhooks.remove(_owner(call), webhook_id):
        raise _unknown()
    return responses.nothing()


@blueprint.route("/me/webhooks/<id:webhook_id>/rotate-secret", methods=["POST"])
@operation(
    "rotateWebhookSecret",
    answers={200: Answer("The webhook with its new secret.", schemas.WebhookWithSecret)},
    body=EmptyObject,
    problems=("forbidden", "not-found"),
)
def rotate_webhook_secret(call: Call, webhook_id: str) -> Response:
    """Make a new secret.

    It is shown this once. For a day messages are signed with the one before as well; a further
    rotation ends that one at once.
    """
    _own(call, webhook_id)
    call.validate()
    rotated = services().webhooks.rotate(_owner(call), webhook_id)
    if rotated is None:
        raise _unknown()
    webhook, secret = rotated
    return responses.secret(responses.json(_shown(webhook) | {"secret": secret_text(secret)}))


@blueprint.route("/me/webhooks/<id:webhook_id>/ping", methods=["POST"])
@operation(
    "pingWebhook",
    answers=_SEND,
    body=EmptyObject,
    problems=("forbidden", "not-found", "webhook-disabled"),
)
def ping_webhook(call: Call, webhook_id: str) -> Response:
    """Have a test message sent.

    Of type `ping`, at once. While one waits, that one is answered and no other is made.
    """
    _own(call, webhook_id)
    call.validate()
    try:
        delivery, new = services().webhooks.ping(webhook_id)
    except Disabled:
        raise _disabled() from None
    if not new:
        return responses.json(_delivery(delivery))
    location = f"{_path(webhook_id)}/deliveries/{delivery.delivery_id}"
    return responses.json(_delivery(delivery), 201, location=location)


@blueprint.route("/me/webhooks/<id:webhook_id>/deliveries", methods=["GET"])
@operation(
    "listDeliveries",
    answers={200: Answer("A page of deliveries.", schemas.WebhookDeliveryList, ("ETag", "Link"))},
    query=schemas.WebhooksQuery,
    problems=("forbidden", "not-found"),
    if_none_match=True,
)
def list_deliveries(call: Call, webhook_id: str) -> Response:
    """List what was delivered.

    And what was not, or not yet, newest first. It is kept for 30 days.
    """
    _own(call, webhook_id)
    call.validate()
    limit = call.query["limit"]
    before = paging.read_cursor(call.query.get("cursor"))
    found = services().webhooks.deliveries(webhook_id, before=before, limit=limit + 1)
    shown = [_delivery(delivery) for delivery in found[:limit]]
    return paging.page(shown, shown[-1]["delivery_id"] if len(found) > limit else None)


@blueprint.route("/me/webhooks/<id:webhook_id>/deliveries/<id:delivery_id>", methods=["GET"])
@operation(
    "getDelivery",
    answers={200: Answer("The delivery.", schemas.WebhookDelivery, ("ETag",))},
    problems=("forbidden", "not-found"),
    if_none_match=True,
)
def get_delivery(call: Call, webhook_id: str, delivery_id: str) -> Response:
    """Get a delivery.

    With the attempts so far.
    """
    _own(call, webhook_id)
    call.validate()
    delivery = services().webhooks.delivery(webhook_id, delivery_id)
    if delivery is None:
        raise not_found("There is no such delivery.")
    return responses.tagged(_delivery(delivery))


@blueprint.route("/me/webhooks/<id:webhook_id>/deliveries/<id:delivery_id>/retry", methods=["POST"])
@operation(
    "retryDelivery",
    answers={200: _SEND[200]},
    body=EmptyObject,
    problems=("forbidden", "not-found", "webhook-disabled"),
)
def retry_delivery(call: Call, webhook_id: str, delivery_id: str) -> Response:
    """Have a message sent again.

    At once and under the same `webhook-id`, whatever became of it before.
    """
    _own(call, webhook_id)
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


def _owner(call: Call) -> Owner:
    """Whose webhooks the call is about; 403 for a token that may only read, and for apps: what
    an app asked for would outlive it."""
    call.require_play()
    if call.identity.app is not None:
        raise forbidden("Only a player's own token manages webhooks.")
    return Owner("player", call.player.player_id)


def _own(call: Call, webhook_id: str) -> Webhook:
    webhook = services().webhooks.one(_owner(call), webhook_id)
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


def _path(webhook_id: str) -> str:
    return f"/v1/me/webhooks/{webhook_id}"


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
