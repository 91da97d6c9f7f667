"""Which representation the caller accepts, and which one the body has."""

from __future__ import annotations

from flask import request
from werkzeug.http import parse_options_header

from domain.wording import Sentence

from . import encoding
from .problems import Problem

NDJSON = "application/x-ndjson"
EVENT_STREAM = "text/event-stream"


def acceptable(offered: tuple[str, ...]) -> str:
    """The best of `offered` by the Accept header, the first where it does not mind; else 406.

    Parameters of a media range are not looked at: `application/json; charset=utf-8` is JSON.
    """
    if not request.headers.get("Accept", "").strip():
        return offered[0]
    ranges = [
        (media.partition(";")[0].strip().lower(), quality)
        for media, quality in request.accept_mimetypes
    ]
    best = max(offered, key=lambda media: _quality(media, ranges))
    if _quality(best, ranges) <= 0:
        raise Problem("not-acceptable", Sentence("What is on offer: {offered}.", offered=offered))
    return best


def _quality(media: str, ranges: list[tuple[str, float]]) -> float:
    """The weight of the most specific range that `media` is in (RFC 9110, section 12.5.1)."""
    for pattern in (media, f"{media.partition('/')[0]}/*", "*/*"):
        weights = [quality for range_, quality in ranges if range_ == pattern]
        if weights:
            return max(weights)
    return 0


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
