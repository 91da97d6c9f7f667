"""Logs of every process: one JSON object a line, and never a token, a secret or a card."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Any

import orjson
import structlog

from .errors import StoreError

IDS = ("game_id", "request_id", "kind")
"""What a log call of the standard library may name beside its text, in `extra`."""


def without_values(_logger: Any, _method: str, event: dict[str, Any]) -> dict[str, Any]:
    """An exception as its types and places. Local variables may be hands and tokens, and so may be
    what an exception says, the database's too, unless it is the system's or our own."""
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exc_info()[1]
    elif isinstance(error, tuple):
        error = error[1]
    chain: list[dict[str, Any]] = []
    while isinstance(error, BaseException) and len(chain) < 5:
        frames = traceback.extract_tb(error.__traceback__)
        says = isinstance(error, OSError | StoreError)
        told = str(error)[:200] if says else getattr(error, "sqlstate", None)
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


def handler() -> logging.Handler:
    """Writes to standard output, a line of JSON each."""
    writing = logging.StreamHandler(sys.stdout)
    writing.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(),
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(
                    serializer=lambda event, **_: orjson.dumps(event, default=repr).decode()
                ),
            ],
        )
    )
    return writing


def configure(level: str = "info") -> None:
    """Send the process's logs, the libraries' too, to standard output as JSON."""
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    root.handlers[:] = [handler()]
    root.setLevel(level.upper())


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(allow=IDS),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_values,
    ]
