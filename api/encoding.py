"""JSON in and out: strict about what comes in, fast about what goes out."""

from __future__ import annotations

import json
from typing import Any, NoReturn

import orjson
from flask import Response, current_app
from flask.json.provider import JSONProvider

from domain.wording import Sentence

from .problems import Problem

MEDIA_TYPE = "application/json"
MAX_DEPTH = 16


class OrjsonProvider(JSONProvider):
    """Flask's JSON by orjson."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        return current_app.response_class(
            orjson.dumps(self._prepare_response_obj(args, kwargs)), mimetype=MEDIA_TYPE
        )


def parse(body: bytes) -> Any:
    """The JSON value in `body`, or a 400.

    Refused are what RFC 8259 and I-JSON (RFC 7493) refuse: a byte order mark, bad UTF-8, lone
    surrogates, NaN, a name twice in one object; and what is nested deeper than `MAX_DEPTH`.
    """
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        if "depth limit" in error.msg:
            raise _too_deep() from None
        raise Problem(
            "malformed-json",
            Sentence("Line {line}: {fault}.", line=error.lineno, fault=error.msg),
        ) from None
    if _depth(value) > MAX_DEPTH:
        raise _too_deep()
    # orjson keeps the last of two equal names silently; this second look finds them.
    json.loads(body.decode(), object_pairs_hook=_no_name_twice, parse_int=len, parse_float=len)
    return value


def _too_deep() -> Problem:
    return Problem(
        "malformed-request",
        Sentence("The body is nested deeper than {most} levels.", most=MAX_DEPTH),
    )


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        level = [each for each in level if isinstance(each, dict | list)]
        depth += bool(level)
        level = [
            inner for each in level for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return depth


def _no_name_twice(pairs: list[tuple[str, Any]]) -> None:
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        _refuse_twice(twice)


def _refuse_twice(name: str) -> NoReturn:
    raise Problem(
        "malformed-json",
        Sentence("The name {name} stands twice in one object.", name=repr(name[:64])),
    )
