"""Logs of requests, each with its id (see eventstore/logs.py)."""

from __future__ import annotations

import re
import time
from uuid import uuid4

import structlog
from flask import Flask, Response, g, request

from eventstore.logs import configure

__all__ = ["configure", "log", "register"]

_REQUEST_ID = re.compile(r"[0-9A-Za-z._-]{8,64}")
log = structlog.get_logger("api")


def register(app: Flask) -> None:
    """A request id for each request, and one line when it is answered.

    The line names the route, not the URL: a query may carry an invite's code.
    """

    @app.before_request
    def _begin() -> None:
        structlog.contextvars.clear_contextvars()
        sent = request.headers.get("X-Request-Id", "")
        g.request_id = sent if _REQUEST_ID.fullmatch(sent) else uuid4().hex
        g.began = time.perf_counter()
        structlog.contextvars.bind_contextvars(request_id=g.request_id)
        if request.view_args and "game_id" in request.view_args:
            structlog.contextvars.bind_contextvars(game_id=request.view_args["game_id"])

    @app.after_request
    def _end(response: Response) -> Response:
        response.headers["X-Request-Id"] = g.request_id
        log.info(
            "request",
            method=request.method,
            route=request.url_rule.rule if request.url_rule else None,
            status=response.status_code,
            code=g.get("problem_code"),
            milliseconds=round((time.perf_counter() - g.began) * 1000, 1),
        )
        return response
