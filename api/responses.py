"""Answers as they go out."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
from flask import Response, current_app

from . import encoding, etags


def json(body: Any, status: int = 200, *, location: str | None = None) -> Response:
    """`body` as JSON, with Location where something was created."""
    response = current_app.response_class(
        orjson.dumps(body), status=status, mimetype=encoding.MEDIA_TYPE
    )
    if location is not None:
        response.headers["Location"] = location
    return response


def tagged(body: Any, tag: str | None = None) -> Response:
    """A read's answer with its ETag, or 304. Without a version the tag is made of the body."""
    response = json(body)
    if tag is None:
        tag = digest(response.get_data())
    return etags.conditional(response, tag)


def digest(body: bytes) -> str:
    """An entity tag for what has no version."""
    return hashlib.sha256(body).hexdigest()[:32]


def nothing() -> Response:
    """204."""
    return current_app.response_class(status=204)


def secret(response: Response) -> Response:
    """`response`, to be kept nowhere: it shows a token."""
    response.headers["Cache-Control"] = "private, no-cache, no-store"
    return response
