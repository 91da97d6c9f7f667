"""Answers about the service itself."""

from __future__ import annotations

from typing import Any

from marshmallow import fields

from .fields import Answered, open_text, text


def _part(meaning: str, **more: Any) -> fields.Dict:
    return fields.Dict(keys=fields.String(), metadata={"description": meaning}, **more)


class Health(Answered):
    """The state of the service."""

    status = open_text("How it is.", ("ok",), required=True)


class OpenapiDocument(Answered):
    """An OpenAPI document."""

    openapi = text("The version of OpenAPI.", required=True)
    info = _part("About this API.", required=True)
    paths = _part("Every operation.", required=True)
    components = _part("What operations refer to.", required=True)
    servers = fields.List(
        fields.Dict(keys=fields.String()), metadata={"description": "Where the API is."}
    )
    tags = fields.List(
        fields.Dict(keys=fields.String()), metadata={"description": "Groups of operations."}
    )
