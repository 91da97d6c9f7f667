"""Answers about the service itself."""

from __future__ import annotations

from .fields import Answered, open_text


class Health(Answered):
    """The state of the service."""

    status = open_text("How it is.", ("ok",), required=True)
