"""Whether the service is well."""

from __future__ import annotations

import psycopg
from flask import Response

from eventstore.database import patiently
from eventstore.errors import Unavailable

from . import responses
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import unavailable
from .schemas.health import Health
from .services import services

blueprint = Blueprint("health", __name__, description="Whether the service is well.")

READY_SECONDS = 2.0


@blueprint.route("/healthz", methods=["GET"])
@operation("getHealth", access=Access.OPEN, answers={200: Answer("It does.", Health)})
def get_health(call: Call) -> Response:
    """Tell whether this process answers.

    Nothing else is looked at: a process that does not answer should be started again.
    """
    call.validate()
    return responses.json({"status": "ok"})


@blueprint.route("/readyz", methods=["GET"])
@operation(
    "getReadiness",
    access=Access.OPEN,
    answers={200: Answer("It can.", Health)},
    problems=("unavailable",),
)
def get_readiness(call: Call) -> Response:
    """Tell whether this process can serve requests.

    It reaches its database within two seconds; a process that does not should get no requests.
    """
    call.validate()
    try:
        patiently(_reach_database, READY_SECONDS)
    except (psycopg.Error, Unavailable):
        raise unavailable() from None
    return responses.json({"status": "ok"})


def _reach_database() -> None:
    services().store.database.once("SELECT 1", {})
