"""Ids and numbers in paths. Whatever is not written in the one canonical way is a 404."""

from __future__ import annotations

from flask import Flask
from werkzeug.routing import BaseConverter


class IdConverter(BaseConverter):
    """A UUID in its 36-character form; upper-case digits are read as lower-case ones."""

    regex = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

    def to_python(self, value: str) -> str:
        return value.lower()


class SeatConverter(BaseConverter):
    """The number of a seat, in ASCII digits without leading zeros."""

    regex = "(?:0|[1-9][0-9]?)"

    def to_python(self, value: str) -> int:
        return int(value)


class VersionConverter(BaseConverter):
    """A version of a game, in ASCII digits without leading zeros."""

    regex = "(?:0|[1-9][0-9]{0,9})"

    def to_python(self, value: str) -> int:
        return int(value)


class CodeConverter(BaseConverter):
    """The code of an invite."""

    regex = "[0-9A-Za-z]{1,64}"


class NameConverter(BaseConverter):
    """The id of a ruleset."""

    regex = "[a-z][a-z-]{0,63}"


CONVERTERS = {
    "id": IdConverter,
    "seat": SeatConverter,
    "version": VersionConverter,
    "code": CodeConverter,
    "name": NameConverter,
}


def register(app: Flask) -> None:
    app.url_map.converters.update(CONVERTERS)
