"""What is outside `/v1`: health, and the OpenAPI document."""

from __future__ import annotations

import psycopg
from flask import Response, current_app
from psycopg_pool import PoolTimeout

from eventstore.errors import Unavailable

from . import documentation, etags, responses
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .problems import unavailable
from .schemas.health import Health, OpenapiDocument
from .services import services

blueprint = Blueprint("service", __name__, description="The service itself.")

READY_SECONDS = 2.0
YAML = "application/yaml"


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
        with services().store.pool.connection(timeout=READY_SECONDS) as connection:
            connection.execute("SELECT 1")
    except (psycopg.Error, PoolTimeout, Unavailable):
        raise unavailable() from None
    return responses.json({"status": "ok"})


@blueprint.route("/openapi.json", methods=["GET"])
@operation(
    "getOpenapiJson",
    access=Access.OPEN,
    answers={200: Answer("The document.", OpenapiDocument, ("ETag",))},
    if_none_match=True,
)
def get_openapi_json(call: Call) -> Response:
    """Get this document as JSON.

    OpenAPI 3.1.
    """
    call.validate()
    return responses.tagged(documentation.openapi(current_app))


@blueprint.route("/openapi.yaml", methods=["GET"])
@operation(
    "getOpenapiYaml",
    access=Access.OPEN,
    answers={200: Answer("The document.", OpenapiDocument, ("ETag",), media_type=YAML)},
    if_none_match=True,
    offered=(YAML,),
)
def get_openapi_yaml(call: Call) -> Response:
    """Get this document as YAML.

    OpenAPI 3.1.
    """
    call.validate()
    text = documentation.to_yaml(documentation.openapi(current_app))
    response = current_app.response_class(text, mimetype=YAML)
    return etags.conditional(response, responses.digest(text.encode()))
