"""What is checked of every request before its path is even looked up."""

from __future__ import annotations

from flask import Flask, request
from gunicorn.http.errors import ParseException
from werkzeug.exceptions import HTTPException

from domain.wording import Sentence

from .problems import Problem, not_found

MAX_BODY = 64 * 1024
"""Bytes; the most that a request body may have."""


_UNREADABLE = (ParseException, OSError, ValueError)
"""What reading a body raises when the client breaks off, or its chunks are no chunks."""

MAX_DRAINED = 1024 * 1024
"""Bytes of a body too large that are still read."""


def _drain() -> None:
    """Read what is left of a body that is too large, within reason: a connection that is closed on
    a client that still sends is reset, and the client may never see the answer."""
    if (request.content_length or 0) > MAX_DRAINED:
        return
    rest, stream = MAX_DRAINED, request.environ["wsgi.input"]
    if request.content_length is not None:
        rest = request.content_length
    elif not request.environ.get("wsgi.input_terminated"):
        return
    while rest > 0 and (block := stream.read(min(rest, MAX_BODY))):
        rest -= len(block)


def _body() -> bytes:
    try:
        return request.get_data()
    except HTTPException:
        raise
    except _UNREADABLE:
        raise _broken("The body is not chunked as it says.") from None


def _broken(template: str) -> Problem:
    """400 for a body whose end is not known."""
    return Problem("malformed-request", template)


def register(app: Flask) -> None:
    """First the size (413), then the path and method (404, 405 by the router)."""
    # One byte more than is allowed: a body of unknown length is cut off there and seen to be too
    # long. (The framework's own limit stays silent where the cut falls on the end of a read.)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY + 1
    app.url_map.merge_slashes = False

    @app.before_request
    def _limit() -> None:
        announced = request.content_length
        if (announced or 0) > MAX_BODY or (received := len(_body())) > MAX_BODY:
            _drain()
            raise Problem(
                "too-large", Sentence("A body may have at most {most} bytes.", most=MAX_BODY)
            )
        if announced is not None and received < announced:
            # RFC 9112, section 8: what was cut off was not meant to be carried out like that.
            raise _broken(
                Sentence(
                    "The body ends after {received} of {announced} bytes.",
                    received=received,
                    announced=announced,
                )
            )
        raw_path = str(request.environ.get("RAW_URI", "")).partition("?")[0].lower()
        if "%2f" in raw_path or "%5c" in raw_path:
            raise not_found("There is no such path.")
