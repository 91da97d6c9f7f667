"""Webhooks of an app, for the games of all of its players."""

from __future__ import annotations

from flask import Response

from eventstore.webhooks import Owner

from . import webhooks, webhooks_of
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .schemas import webhooks as schemas
from .schemas.games import EmptyObject

blueprint = Blueprint("app_webhooks", __name__, description="An app's webhooks.")


@blueprint.route("/apps/me/webhooks", methods=["POST"])
@operation(
    "createAppWebhook",
    access=Access.APP,
    answers={201: Answer("The webhook.", schemas.WebhookWithSecret, ("Location",))},
    body=schemas.NewWebhook,
    body_required=True,
    problems=("too-many-webhooks",),
    body_example={"url": "https://app.example.com/abbot", "events": ["turn.begun", "game.over"]},
)
def create_app_webhook(call: Call) -> Response:
    """Make a webhook of the app.

    The URL is called from now on when something happens in the games of any of the app's players,
    once for each seat that one of them holds. The secret that the calls are signed with is shown
    this once: keep it.
    """
    return webhooks_of.create(call, _owner(call))


@blueprint.route("/apps/me/webhooks", methods=["GET"])
@operation(
    "listAppWebhooks",
    access=Access.APP,
    answers={200: Answer("A page of webhooks.", schemas.WebhookList, ("ETag", "Link"))},
    query=schemas.WebhooksQuery,
    if_none_match=True,
)
def list_app_webhooks(call: Call) -> Response:
    """List the app's webhooks.

    Disabled ones too, newest first.
    """
    return webhooks_of.page(call, _owner(call))


@blueprint.route("/apps/me/webhooks/<id:webhook_id>", methods=["GET"])
@operation(
    "getAppWebhook",
    access=Access.APP,
    answers={200: Answer("The webhook.", schemas.WebhookInfo, ("ETag",))},
    problems=("not-found",),
    if_none_match=True,
)
def get_app_webhook(call: Call, webhook_id: str) -> Response:
    """Get a webhook of the app.

    Whether it is called, and since when it fails if it does.
    """
    return webhooks_of.get(call, _owner(call), webhook_id)


@blueprint.route("/apps/me/webhooks/<id:webhook_id>", methods=["PATCH"])
@operation(
    "changeAppWebhook",
    access=Access.APP,
    answers={200: Answer("The webhook.", schemas.WebhookInfo)},
    body=schemas.WebhookChange,
    problems=("not-found",),
    body_example={"enabled": True},
)
def change_app_webhook(call: Call, webhook_id: str) -> Response:
    """Change a webhook of the app.

    Also to disable it, and to enable it again.
    """
    return webhooks_of.change(call, _owner(call), webhook_id)


@blueprint.route("/apps/me/webhooks/<id:webhook_id>", methods=["DELETE"])
@operation(
    "deleteAppWebhook",
    access=Access.APP,
    answers={204: Answer("It is not called any more.")},
    problems=("not-found",),
)
def delete_app_webhook(call: Call, webhook_id: str) -> Response:
    """Remove a webhook of the app.

    With the log of its deliveries.
    """
    return webhooks_of.remove(call, _owner(call), webhook_id)


@blueprint.route("/apps/me/webhooks/<id:webhook_id>/rotate-secret", methods=["POST"])
@operation(
    "rotateAppWebhookSecret",
    access=Access.APP,
    answers={200: Answer("The webhook with its new secret.", schemas.WebhookWithSecret)},
    body=EmptyObject,
    problems=("not-found",),
)
def rotate_app_webhook_secret(call: Call, webhook_id: str) -> Response:
    """Make a new secret for a webhook of the app.

    It is shown this once. For a day messages are signed with the one before as well; a further
    rotation ends that one at once.
    """
    return webhooks_of.rotate(call, _owner(call), webhook_id)


@blueprint.route("/apps/me/webhooks/<id:webhook_id>/ping", methods=["POST"])
@operation(
    "pingAppWebhook",
    access=Access.APP,
    answers=webhooks.SEND,
    body=EmptyObject,
    problems=("not-found", "webhook-disabled"),
)
def ping_app_webhook(call: Call, webhook_id: str) -> Response:
    """Have a test message sent to the app.

    Of type `ping`, at once. While one waits, that one is answered and no other is made.
    """
    return webhooks_of.ping(call, _owner(call), webhook_id)


@blueprint.route("/apps/me/webhooks/<id:webhook_id>/deliveries", methods=["GET"])
@operation(
    "listAppDeliveries",
    access=Access.APP,
    answers={200: Answer("A page of deliveries.", schemas.WebhookDeliveryList, ("ETag", "Link"))},
    query=schemas.WebhooksQuery,
    problems=("not-found",),
    if_none_match=True,
)
def list_app_deliveries(call: Call, webhook_id: str) -> Response:
    """List what was delivered to the app.

    And what was not, or not yet, newest first. It is kept for 30 days.
    """
    return webhooks_of.deliveries(call, _owner(call), webhook_id)


@blueprint.route("/apps/me/webhooks/<id:webhook_id>/deliveries/<id:delivery_id>", methods=["GET"])
@operation(
    "getAppDelivery",
    access=Access.APP,
    answers={200: Answer("The delivery.", schemas.WebhookDelivery, ("ETag",))},
    problems=("not-found",),
    if_none_match=True,
)
def get_app_delivery(call: Call, webhook_id: str, delivery_id: str) -> Response:
    """Get a delivery to the app.

    With the attempts so far.
    """
    return webhooks_of.delivery(call, _owner(call), webhook_id, delivery_id)


@blueprint.route(
    "/apps/me/webhooks/<id:webhook_id>/deliveries/<id:delivery_id>/retry", methods=["POST"]
)
@operation(
    "retryAppDelivery",
    access=Access.APP,
    answers={200: webhooks.SEND[200]},
    body=EmptyObject,
    problems=("not-found", "webhook-disabled"),
)
def retry_app_delivery(call: Call, webhook_id: str, delivery_id: str) -> Response:
    """Have a message sent to the app again.

    At once and under the same `webhook-id`, whatever became of it before.
    """
    return webhooks_of.retry(call, _owner(call), webhook_id, delivery_id)


def _owner(call: Call) -> Owner:
    return Owner("app", call.app.app_id)
