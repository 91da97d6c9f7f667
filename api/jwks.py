"""The public keys of receipts and exports."""

from __future__ import annotations

from flask import Response

from . import responses
from .auth import Access
from .documentation import Blueprint
from .operation import Answer, Call, operation
from .schemas.keys import KeySet
from .services import services

blueprint = Blueprint("keys", __name__, description="The keys that receipts are signed with.")

MAX_AGE = 300
"""Seconds that the list may be kept without asking again."""


@blueprint.route("/.well-known/jwks.json", methods=["GET"])
@operation(
    "getKeys",
    access=Access.OPEN,
    answers={200: Answer("The keys.", KeySet, ("ETag",))},
    problems=("unavailable",),
    if_none_match=True,
)
def get_keys(call: Call) -> Response:
    """Get the public keys.

    A JWK set (RFC 7517) of the Ed25519 keys that receipts and exports were ever signed with. Keys
    are changed now and then; those that sign no more stay listed.
    """
    call.validate()
    response = responses.tagged(services().signer.jwks())
    response.headers["Cache-Control"] = f"public, max-age={MAX_AGE}"
    return response
