"""Answers about the service itself."""

from __future__ import annotations

from marshmallow import fields

from .fields import Answered, open_text, text


class Health(Answered):
    """The state of the service."""

    status = open_text("How it is.", ("ok",), required=True)


class OpenapiDocument(Answered):
    """An OpenAPI document."""

    openapi = text("The version of OpenAPI.", required=True)
    info = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "About this API."}
    )
    paths = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "Every operation."}
    )
