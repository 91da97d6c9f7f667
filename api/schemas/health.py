"""Answers about the service itself."""

from __future__ import annotations

from .fields import Answered, nested, open_text

PARTS = ("ok", "degraded")


class Health(Answered):
    """The state of the service."""

    status = open_text("How it is.", ("ok",), required=True)


class Checks(Answered):
    """The parts that the service stands on. Where one is degraded moves are taken all the same."""

    database = open_text("Whether the database answers.", ("ok",), required=True)
    schema = open_text("Whether it has been migrated.", ("ok",), required=True)
    workers = open_text("Whether a worker node lives.", PARTS, required=True)
    broker = open_text("Whether every worker node reaches the broker.", PARTS, required=True)


class Readiness(Health):
    """The state of the service and of its parts."""

    checks = nested(Checks, required=True)
