"""Cursor pages: where to go on, in the body and as a Link (RFC 8288)."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from flask import Response, request

from domain.wording import Sentence

from . import responses
from .problems import invalid


def cursor(id: str) -> str:
    """The opaque cursor that goes on after the item `id`."""
    return base64.urlsafe_b64encode(UUID(id).bytes).decode().rstrip("=")


def read_cursor(text: str | None) -> str | None:
    """The id that a cursor stands for; 422 for what is no cursor of ours."""
    if text is None:
        return None
    try:
        given = UUID(bytes=base64.urlsafe_b64decode(text.encode("ascii") + b"=="))
    except (ValueError, binascii.Error):
        given = None
    if given is None or given.version != 7 or cursor(str(given)) != text:
        raise invalid(("cursor", Sentence("Unknown cursor.")))
    return str(given)


def link_next(response: Response, **changes: Any) -> Response:
    """`response` with a Link to the same list with `changes` in its query."""
    query = {**request.args.to_dict(), **{name: str(value) for name, value in changes.items()}}
    response.headers["Link"] = f'<{request.path}?{urlencode(query)}>; rel="next"'
    return response


def page(items: list[dict[str, Any]], next_id: str | None) -> Response:
    """A page that goes on after the item `next_id`, if told."""
    if next_id is None:
        return responses.tagged({"items": items})
    onward = cursor(next_id)
    return link_next(responses.tagged({"items": items, "next_cursor": onward}), cursor=onward)
