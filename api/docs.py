"""The OpenAPI document, which describes everything but itself."""

from __future__ import annotations

import functools

import orjson
from flask import Blueprint, Flask, Response, current_app

from . import documentation, encoding, etags, responses
from .auth import Access
from .operation import Call, operation

blueprint = Blueprint("docs", __name__)

YAML = "application/yaml"
"""RFC 9512."""


@functools.lru_cache(maxsize=2)
def _as_json(app: Flask) -> bytes:
    return orjson.dumps(documentation.openapi(app))


@functools.lru_cache(maxsize=2)
def _as_yaml(app: Flask) -> bytes:
    # Takes a second, so it is done once per process.
    return documentation.to_yaml(documentation.openapi(app)).encode()


@blueprint.get("/openapi.json")
@operation("getOpenapiJson", access=Access.OPEN, answers={})
def get_openapi_json(call: Call) -> Response:
    """Get the document as JSON."""
    call.validate()
    return _document(_as_json(_app()), encoding.MEDIA_TYPE)


@blueprint.get("/openapi.yaml")
@operation("getOpenapiYaml", access=Access.OPEN, answers={}, offered=(YAML,))
def get_openapi_yaml(call: Call) -> Response:
    """Get the document as YAML."""
    call.validate()
    return _document(_as_yaml(_app()), YAML)


def _app() -> Flask:
    app: Flask = current_app._get_current_object()  # type: ignore[attr-defined]
    return app


def _document(body: bytes, media_type: str) -> Response:
    response = current_app.response_class(body, mimetype=media_type)
    return etags.conditional(response, responses.digest(body))
