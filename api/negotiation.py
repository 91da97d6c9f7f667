"""Which representation the caller accepts, and which one the body has."""

from __future__ import annotations

from flask import request
from werkzeug.http import parse_options_header

from . import encoding
from .problems import Problem

NDJSON = "application/x-ndjson"


def acceptable(offered: tuple[str, ...]) -> str:
    """The best of `offered` by the Accept header, the first where it does not mind; else 406."""
    accepted = request.accept_mimetypes
    if not request.headers.get("Accept", "").strip():
        return offered[0]
    best = accepted.best_match(offered)
    if best is None or accepted.quality(best) <= 0:
        raise Problem("not-acceptable", f"What is on offer: {', '.join(offered)}.")
    return str(best)


def require_json_body() -> None:
    """415 unless the body is uncompressed JSON in UTF-8."""
    media_type, parameters = parse_options_header(request.headers.get("Content-Type"))
    charset = parameters.get("charset", "utf-8").lower().replace("_", "-")
    coding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if media_type.strip().lower() != encoding.MEDIA_TYPE or charset not in ("utf-8", "utf8"):
        raise Problem(
            "unsupported-media-type",
            "Send the body as application/json in UTF-8.",
            headers={"Accept": encoding.MEDIA_TYPE},
        )
    if coding not in ("", "identity"):
        raise Problem(
            "unsupported-media-type",
            "Send the body without a content encoding.",
            headers={"Accept-Encoding": "identity"},
        )
