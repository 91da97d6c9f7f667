"""What is checked of every request before its path is even looked up."""

from __future__ import annotations

from flask import Flask, request

from .problems import Problem, not_found

MAX_BODY = 64 * 1024
"""Bytes; the most that a request body may have."""


def register(app: Flask) -> None:
    """First the size (413), then the path and method (404, 405 by the router)."""
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY
    # Form parsing is never used; a form is just a wrong media type here.
    app.config["MAX_FORM_MEMORY_SIZE"] = MAX_BODY
    app.url_map.merge_slashes = False

    @app.before_request
    def _limit() -> None:
        if (request.content_length or 0) > MAX_BODY:
            raise Problem("too-large", f"A body may have at most {MAX_BODY} bytes.")
        # Reads a body of unknown length up to the limit, and no further.
        request.get_data()
        raw_path = str(request.environ.get("RAW_URI", "")).partition("?")[0].lower()
        if "%2f" in raw_path or "%5c" in raw_path:
            raise not_found("There is no such path.")
