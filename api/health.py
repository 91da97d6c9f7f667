"""Whether the service is well."""

from __future__ import annotations

from flask import Response

from eventstore.errors import Unavailable
from eventstore.health import HealthRows

from . import responses
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import unavailable
from .schemas.health import Health, Readiness
from .services import services

blueprint = Blueprint("health", __name__, description="Whether the service is well.")

READY_SECONDS = 2.0


@blueprint.route("/healthz", methods=["GET"])
@operation(
    "getHealth",
    access=Access.OPEN,
    answers={200: Answer("It does.", Health)},
    counted=False,
)
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
    answers={200: Answer("It can.", Readiness)},
    counted=False,
    problems=("unavailable",),
)
def get_readiness(call: Call) -> Response:
    """Tell whether this process can serve requests.

    It reaches its database within two seconds and finds the schema there that it needs; a process
    that does not should get no requests. Workers and their broker are told of too. Without them
    moves are taken all the same, so they make no process unready.
    """
    call.validate()
    try:
        found = HealthRows(services().store.pool).readiness(READY_SECONDS)
    except Unavailable:
        raise unavailable() from None
    if not found.schema:
        raise unavailable("The database has not been migrated to this release.")
    checks = {
        "database": "ok",
        "schema": "ok",
        "workers": "ok" if found.nodes else "degraded",
        "broker": "ok" if found.nodes and found.with_broker == found.nodes else "degraded",
    }
    return responses.json({"status": "ok", "checks": checks})
