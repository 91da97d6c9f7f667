"""Fields that take a value only in its own JSON type, and the spellings of the API's values."""

from __future__ import annotations

import re
from typing import Any

import marshmallow
from marshmallow import fields, validate

from domain.wording import Sentence

from .. import names


class Request(marshmallow.Schema):
    """What a caller sends: a name that is not listed is refused, and so is in any string what
    nobody can see."""

    class Meta:
        unknown = marshmallow.RAISE

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        _let_speak(field_obj)
        _require_readable(field_obj)


def _require_readable(field: fields.Field[Any]) -> None:
    """Have a field that is any string, or a list of such, refuse what nobody can see."""
    if isinstance(field, fields.List):
        _require_readable(field.inner)
    elif (
        isinstance(field, fields.String)
        and not isinstance(field, PlayerName)
        and not any(isinstance(each, validate.OneOf) for each in field.validators)
    ):
        # A list of its own: that of the class is shared by all its instances.
        readable = _Readable("\n" if isinstance(field, Words) else "")
        field.validators = [readable, *field.validators]


class _Readable(validate.Validator):
    """Refuses what nobody can see, but for the characters `allowed`."""

    error = "Must not have {what}."

    def __init__(self, allowed: str) -> None:
        self.allowed = allowed

    def __call__(self, value: str) -> str:
        try:
            names.require_readable(value, allowed=self.allowed)
        except ValueError as error:
            raise marshmallow.ValidationError(error.args[0]) from None
        return value


def _let_speak(field: fields.Field[Any]) -> None:
    """Have the library's checks of bounds say what is wrong by a template and facts."""
    for each in field.validators:
        if isinstance(each, validate.Range | validate.Length) and each.error is None:
            bounds = {name: getattr(each, name) for name in ("min", "max")}
            given = {name: bound for name, bound in bounds.items() if bound is not None}
            template = getattr(each, f"message_{'all' if len(given) == 2 else next(iter(given))}")
            each.error = Sentence(template, **given)
    if isinstance(field, fields.List):
        _let_speak(field.inner)


class Answered(marshmallow.Schema):
    """What the API answers; it documents. Callers must ignore names they do not know."""

    class Meta:
        unknown = marshmallow.EXCLUDE


class Integer(fields.Integer):
    """An integer as JSON Schema has it: 1, and 1.0 as some languages write it; not "1" or true."""

    def _validated(self, value: Any) -> int:
        number = whole(value)
        if number is None:
            raise marshmallow.ValidationError(Sentence("Must be an integer."))
        return number


def whole(value: Any) -> int | None:
    """The integer that a JSON value is, or None."""
    if type(value) is float and value.is_integer():
        return int(value)
    return value if type(value) is int else None


class Boolean(fields.Boolean):
    """A JSON true or false, nothing else."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> bool:
        if type(value) is not bool:
            raise marshmallow.ValidationError(Sentence("Must be true or false."))
        return value


class PlayerName(fields.String):
    """A player's name, normalised."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            return names.normalised(text)
        except ValueError as error:
            raise marshmallow.ValidationError(error.args[0]) from None


class Words(fields.String):
    """Words for people, in lines."""


class QueryInteger(fields.Integer):
    """An integer in a query: ASCII digits without sign, blank or leading zero."""

    _TEXT = re.compile(r"0|[1-9][0-9]{0,18}")

    def _validated(self, value: Any) -> int:
        if not isinstance(value, str) or not self._TEXT.fullmatch(value):
            raise marshmallow.ValidationError(Sentence("Must be an integer, in plain digits."))
        return int(value)


class QueryBoolean(fields.Boolean):
    """`true` or `false` in a query."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> bool:
        if value not in ("true", "false"):
            raise marshmallow.ValidationError(Sentence("Must be true or false."))
        return bool(value == "true")


def text(meaning: str, **more: Any) -> fields.String:
    """A string."""
    return fields.String(metadata={"description": meaning, **more.pop("metadata", {})}, **more)


def words(meaning: str, **more: Any) -> Words:
    """Words for people, in lines."""
    return Words(metadata={"description": meaning}, **more)


VISIBLE = validate.Regexp(r"^[!-~]+$", error=Sentence("Must be visible ASCII characters."))


def invite_code() -> fields.String:
    """The code of an invite that one has."""
    return text(
        "The code of an invite to a private table.", validate=[validate.Length(1, 64), VISIBLE]
    )


def page_cursor() -> fields.String:
    """Where a page of a list begins."""
    return text("Where to go on: `next_cursor` of the page before.", metadata={"minLength": 1})


def page_limit() -> QueryInteger:
    """How long a page of a list is."""
    return QueryInteger(
        load_default=50,
        validate=validate.Range(1, 100),
        metadata={"description": "How many at most."},
    )


def integer(meaning: str, **more: Any) -> Integer:
    """An integer."""
    return Integer(metadata={"description": meaning, **more.pop("metadata", {})}, **more)


def boolean(meaning: str, **more: Any) -> Boolean:
    """A boolean."""
    return Boolean(metadata={"description": meaning, **more.pop("metadata", {})}, **more)


def one_of(meaning: str, values: tuple[str, ...], **more: Any) -> fields.String:
    """A string out of `values`."""
    message = Sentence("Must be one of {values}.", values=", ".join(values))
    return text(meaning, validate=validate.OneOf(values, error=message), **more)


def open_text(meaning: str, values: tuple[str, ...], **more: Any) -> fields.String:
    """A string that is one of `values` today; callers must take others too."""
    listed = ", ".join(f"`{value}`" for value in values)
    metadata = {"examples": [values[0]], **more.pop("metadata", {})}
    return text(f"{meaning} One of {listed}; more may be added.", metadata=metadata, **more)


def texts(meaning: str, **more: Any) -> fields.List[Any]:
    """A list of strings."""
    inner = {"metadata": more.pop("item", {})}
    return fields.List(
        fields.String(**inner),
        metadata={"description": meaning, **more.pop("metadata", {})},
        **more,
    )


def integers(meaning: str, **more: Any) -> fields.List[Any]:
    """A list of integers."""
    return fields.List(Integer(), metadata={"description": meaning}, **more)


def nested(schema: type[marshmallow.Schema], **more: Any) -> fields.Nested:
    """An object; its own schema says what it means."""
    return fields.Nested(schema, **more)


def many(schema: type[marshmallow.Schema], meaning: str, **more: Any) -> fields.List[Any]:
    """A list of objects."""
    return fields.List(fields.Nested(schema), metadata={"description": meaning}, **more)


def uuid(meaning: str, **more: Any) -> fields.String:
    """An id."""
    return text(meaning, metadata={"format": "uuid", **more.pop("metadata", {})}, **more)


def time(meaning: str, **more: Any) -> fields.String:
    """A time: UTC, RFC 3339, six decimals."""
    metadata = {"format": "date-time", "examples": ["2026-03-01T12:00:00.000000Z"]}
    return text(meaning, metadata=metadata, **more)


def hash_(meaning: str, **more: Any) -> fields.String:
    """32 bytes in lower-case hex."""
    return text(meaning, metadata={"pattern": "^[0-9a-f]{64}$"}, **more)


CLIENT_SEED = re.compile(r"^([0-9a-f]{2}){1,32}$")


def client_seed(meaning: str, **more: Any) -> fields.String:
    """A seat's own seed."""
    fault = Sentence("Must be 1 to 32 bytes in lower-case hex.")
    return text(
        meaning,
        validate=[
            validate.Length(min=2, max=64, error=fault),
            validate.Regexp(CLIENT_SEED, error=fault),
        ],
        metadata={"examples": ["5eed0123456789ab"]},
        **more,
    )
