"""Logs: one JSON object a line, with the request's id; never a token, a secret or a card."""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
from typing import Any
from uuid import uuid4

import orjson
import psycopg
import structlog
from flask import Flask, Response, g, request

_REQUEST_ID = re.compile(r"[0-9A-Za-z._-]{8,64}")
log = structlog.get_logger("api")


def _without_values(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """An exception as its types and places. Local variables may be hands and tokens, and what the
    database says may quote values, so neither is written."""
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    elif isinstance(error, tuple):
        error = error[1]
    chain: list[dict[str, Any]] = []
    while isinstance(error, BaseException) and len(chain) < 5:
        frames = traceback.extract_tb(error.__traceback__)
        told = error.sqlstate if isinstance(error, psycopg.Error) else str(error)[:200]
        chain.append(
            {
                "type": type(error).__name__,
                "message": told,
                "at": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-12:]],
            }
        )
        error = error.__cause__ or error.__context__
    if chain:
        event["exception"] = chain
    return event


def configure(level: str = "info") -> None:
    """Send the process's logs, the libraries' too, to standard output as JSON."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_values,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(
                    serializer=lambda event, **_: orjson.dumps(event, default=repr).decode()
                ),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())


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
            milliseconds=round((time.perf_counter() - g.began) * 1000, 1),
        )
        return response
