"""Entity tags and conditional requests (RFC 9110, sections 8.8 and 13)."""

from __future__ import annotations

import re

from flask import Response, request

from domain.wording import Sentence

from .problems import Problem

_TAG = re.compile(r'(?P<weak>W/)?"(?P<tag>[\x21\x23-\x7e\x80-\xff]*)"')


def _tags(header: str) -> list[tuple[bool, str]] | None:
    """The tags of a list as (weak, tag); None for `*`. A 400 for what is no list of tags."""
    text = request.headers.get(header, "").strip(" \t")
    if text == "*":
        return None
    tags = []
    position = 0
    while position < len(text):
        if text[position] in ", \t":
            position += 1
            continue
        match = _TAG.match(text, position)
        if match is None or text[match.end() : match.end() + 1] not in ("", ",", " ", "\t"):
            raise Problem(
                "malformed-request",
                Sentence('{header} must be "*" or a list of quoted entity tags.', header=header),
            )
        tags.append((match["weak"] is not None, match["tag"]))
        position = match.end()
    if not tags:
        raise Problem("malformed-request", Sentence("{header} is empty.", header=header))
    return tags


def check_syntax() -> None:
    """A 400 for an If-Match or If-None-Match that cannot be read."""
    for header in ("If-Match", "If-None-Match"):
        if header in request.headers:
            _tags(header)


def require_match(version: int) -> None:
    """412 unless If-Match, if there is one, names `version` strongly or is `*`.

    The tags of a game that has a rematch (`"17r"`) and of its history as NDJSON (`"17n"`) name
    the same version.
    """
    if "If-Match" not in request.headers:
        return
    tags = _tags("If-Match")
    current = (str(version), f"{version}r", f"{version}n")
    if tags is None or any(not weak and tag in current for weak, tag in tags):
        return
    raise Problem(
        "precondition-failed",
        Sentence("The game is at version {version} now.", version=version),
        headers={"ETag": f'"{version}"'},
        version=version,
    )


def unchanged(tag: str) -> bool:
    """Whether this is a read whose If-None-Match names `tag` (weakly compared)."""
    if "If-None-Match" not in request.headers or request.method not in ("GET", "HEAD"):
        return False
    tags = _tags("If-None-Match")
    return tags is None or any(tag == other for _, other in tags)


def conditional(response: Response, tag: str) -> Response:
    """`response` with the ETag `tag`, or 304 if that is what the caller has."""
    response.headers["ETag"] = f'"{tag}"'
    if unchanged(tag):
        response.status_code = 304
        response.set_data(b"")
        for header in ("Content-Type", "Content-Length", "Link"):
            response.headers.pop(header, None)
    return response
