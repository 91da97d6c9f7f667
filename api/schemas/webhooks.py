"""Webhooks, and what was delivered to them."""

from __future__ import annotations

from typing import Any

from marshmallow import fields, validate

from domain.webhooks import SUBJECTS

from .fields import (
    Answered,
    Request,
    boolean,
    integer,
    many,
    one_of,
    open_text,
    page_cursor,
    page_limit,
    text,
    time,
    uuid,
    words,
)

_SUBJECTS = (
    "`turn.begun`: a turn of the player has begun; `game.over`: a game of the player has ended; "
    "`game.event`: each event of the player's games, as the player's seat may see it then. An "
    "app's webhook is told of all of its players, of each by itself."
)


def _url(**more: Any) -> fields.String:
    return text(
        "An https URL on a public address, on port 443, or 1024 or above.",
        metadata={
            "maxLength": 2048,
            "pattern": "^[!-~]+$",
            "examples": ["https://bots.example.com/abbot"],
        },
        **more,
    )


def _subjects(**more: Any) -> fields.List[Any]:
    return fields.List(
        one_of("What to be told of.", SUBJECTS),
        validate=validate.Length(1, len(SUBJECTS)),
        metadata={"description": f"What to be told of. {_SUBJECTS}", "examples": [["game.over"]]},
        **more,
    )


def _description(**more: Any) -> fields.String:
    return words("Your own words for it.", validate=validate.Length(0, 200), **more)


class NewWebhook(Request):
    """Where to call, and what for."""

    url = _url(required=True)
    events = _subjects(load_default=lambda: ["turn.begun", "game.over"])
    description = _description(load_default="")


class WebhookChange(Request):
    """What shall be otherwise."""

    url = _url()
    events = _subjects()
    description = _description()
    enabled = boolean(
        "Whether it is called. What waits for one that is disabled is given up; one that was "
        "disabled by the service can be enabled again."
    )


class WebhookInfo(Answered):
    """A webhook. Its secret is shown when it is made, and cannot be asked for later."""

    webhook_id = uuid("The webhook.", required=True)
    url = text("What is called.", required=True)
    events = fields.List(
        open_text("What it is told of.", SUBJECTS),
        required=True,
        metadata={"description": f"What it is told of. {_SUBJECTS}"},
    )
    description = text("The owner's own words for it.", required=True)
    enabled = boolean("Whether it is called.", required=True)
    disabled_reason = open_text(
        "Why it is not called: you said so, it answered 410, nothing arrived for three days, or "
        "too much waited for it.",
        ("owner", "gone", "failing", "backlog"),
    )
    created_at = time("When it was made.", required=True)
    failing_since = time("Since when no message has arrived.")
    old_secret_until = time("Until when messages are signed with the secret before as well.")


class WebhookWithSecret(WebhookInfo):
    """A webhook with its new secret, which is shown only this once."""

    secret = text(
        "`whsec_` and 32 bytes in base64. Check signatures with it; it is not shown again.",
        required=True,
    )


class WebhookList(Answered):
    """A page of webhooks."""

    items = many(WebhookInfo, "Newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")


class DeliveryAttempt(Answered):
    """One call of a webhook."""

    at = time("When it had been made.", required=True)
    duration_ms = integer("How long it took, in milliseconds.", required=True)
    status_code = integer("The status of the answer.")
    error = open_text(
        "Why there was no answer.",
        ("timeout", "unreachable", "unresolved", "tls", "closed-address", "not-http", "no-event"),
    )


class WebhookDelivery(Answered):
    """A message to a webhook, and the attempts to deliver it."""

    delivery_id = uuid("The message, the same at each attempt: `webhook-id`.", required=True)
    type = open_text("What it tells.", (*SUBJECTS, "ping"), required=True)
    game_id = uuid("The game that it is about.")
    version = integer("The version of the event that it is about.")
    status = open_text("What became of it.", ("pending", "delivered", "failed"), required=True)
    created_at = time("When it was made.", required=True)
    due_at = time("When the next attempt is due.")
    attempts = many(DeliveryAttempt, "The newest attempts, the last one at the end.", required=True)


class WebhookDeliveryList(Answered):
    """A page of deliveries."""

    items = many(WebhookDelivery, "Newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")


class WebhooksQuery(Request):
    """Which page."""

    cursor = page_cursor()
    limit = page_limit()
