"""`/docs`: the document as an interactive reference, with nothing fetched from elsewhere.

Swagger UI comes from its package, the page around it from this folder.
"""

from __future__ import annotations

import functools
import gzip
from importlib import resources
from importlib.resources.abc import Traversable

from flask import Blueprint, Response, current_app, request

from .. import etags, responses
from ..auth import Access
from ..operation import Call, operation
from ..problems import not_found

blueprint = Blueprint("reference", __name__)

HTML = "text/html"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        # Its icons are in its style sheet.
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""The page's Content-Security-Policy: nothing but this server's own files, nothing inline."""

ASSETS: dict[str, tuple[str, str]] = {
    "reference.css": (__name__, "text/css"),
    "reference.js": (__name__, "text/javascript"),
    "plain.css": (__name__, "text/css"),
    "swagger-ui.css": ("flask_swagger_ui", "text/css"),
    "swagger-ui-bundle.js": ("flask_swagger_ui", "text/javascript"),
    "favicon-32x32.png": ("flask_swagger_ui", "image/png"),
}
"""What the pages load: the package that each file is in, and its media type."""


@blueprint.get("/docs")
@operation("getReference", access=Access.OPEN, answers={}, offered=(HTML,))
def get_reference(call: Call) -> Response:
    """Get the reference."""
    call.validate()
    body = _folder(__name__).joinpath("index.html").read_bytes()
    return answer(body, HTML, responses.digest(body))


@blueprint.get("/docs/<string(maxlength=64):name>")
def get_asset(name: str) -> Response:
    """Get a file of the reference."""
    if name not in ASSETS:
        raise not_found("There is no such path.")
    body, packed, tag = _asset(name)
    media_type = ASSETS[name][1]
    if packed and "gzip" in request.accept_encodings:
        response = answer(packed, media_type, f"{tag}z")
        response.headers["Content-Encoding"] = "gzip"
    else:
        response = answer(body, media_type, tag)
    response.vary.add("Accept-Encoding")
    return response


def answer(body: bytes, media_type: str, tag: str) -> Response:
    """A file for browsers, under the page's policy."""
    response = current_app.response_class(body, mimetype=media_type)
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return etags.conditional(response, tag)


@functools.cache
def _asset(name: str) -> tuple[bytes, bytes, str]:
    """A file, the same packed where that makes it smaller, and its ETag."""
    body = _folder(ASSETS[name][0]).joinpath(name).read_bytes()
    packed = gzip.compress(body, mtime=0)
    return body, packed if len(packed) < len(body) else b"", responses.digest(body)


def _folder(package: str) -> Traversable:
    folder = resources.files(package)
    return folder if package == __name__ else folder / "dist"
