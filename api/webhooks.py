"""Webhooks: URLs that are called when something happens in their owner's games."""

from __future__ import annotations

from flask import Response

from eventstore.webhooks import Owner

from . import webhooks_of
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import forbidden
from .schemas import webhooks as schemas
from .schemas.games import EmptyObject

blueprint = Blueprint("webhooks", __name__, description="Calls when something happens.")

SEND = {
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
    return webhooks_of.create(call, _owner(call))


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
    return webhooks_of.page(call, _owner(call))


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
    return webhooks_of.get(call, _owner(call), webhook_id)


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
    return webhooks_of.change(call, _owner(call), webhook_id)


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
    return webhooks_of.remove(call, _owner(call), webhook_id)


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
    return webhooks_of.rotate(call, _owner(call), webhook_id)


@blueprint.route("/me/webhooks/<id:webhook_id>/ping", methods=["POST"])
@operation(
    "pingWebhook",
    answers=SEND,
    body=EmptyObject,
    problems=("forbidden", "not-found", "webhook-disabled"),
)
def ping_webhook(call: Call, webhook_id: str) -> Response:
    """Have a test message sent.

    Of type `ping`, at once. While one waits, that one is answered and no other is made.
    """
    return webhooks_of.ping(call, _owner(call), webhook_id)


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
    return webhooks_of.deliveries(call, _owner(call), webhook_id)


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
    return webhooks_of.delivery(call, _owner(call), webhook_id, delivery_id)


@blueprint.route("/me/webhooks/<id:webhook_id>/deliveries/<id:delivery_id>/retry", methods=["POST"])
@operation(
    "retryDelivery",
    answers={200: SEND[200]},
    body=EmptyObject,
    problems=("forbidden", "not-found", "webhook-disabled"),
)
def retry_delivery(call: Call, webhook_id: str, delivery_id: str) -> Response:
    """Have a message sent again.

    At once and under the same `webhook-id`, whatever became of it before.
    """
    return webhooks_of.retry(call, _owner(call), webhook_id, delivery_id)


def _owner(call: Call) -> Owner:
    """Whose webhooks the call is about; 403 for a token that may only read, and for apps: what
    an app asked for would outlive it."""
    call.require_play()
    if call.identity.app is not None:
        raise forbidden("Only a player's own token manages webhooks.")
    return Owner("player", call.player.player_id)
