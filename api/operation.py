"""What an operation takes and gives, declared on its view: the one source of its checks and docs.

The checks come in the contract's order. Before the view: size, path, method (`limits` and the
router), then token, Accept, Content-Type, and the form of body, headers and query. Within the
view: what may be seen (404), what may be done (403), the values (422), If-Match (412), and what
the referee says.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import marshmallow
import structlog
from flask import Response, after_this_request, request
from werkzeug.http import http_date

from domain.wording import Sentence, joined, sentence
from eventstore.apps import App
from eventstore.players import Caller

from . import encoding, etags, negotiation
from .auth import ADMIN, PLAY, Access, Identity, authenticate
from .problems import Problem, forbidden, invalid
from .refusing import refuse_as_asked

View = Callable[..., Response]
Schema = type[marshmallow.Schema]

_UNKNOWN_FIELD = Sentence("Unknown field.")
_UNKNOWN_PARAMETER = Sentence("Unknown query parameter.")

_KEY = re.compile(r"[\x21-\x7e]{1,255}")


@dataclass(frozen=True, slots=True)
class Answer:
    """One successful answer: what it means, its schema, and the headers that it carries."""

    meaning: str
    schema: Schema | None = None
    headers: tuple[str, ...] = ()
    ndjson: bool = False
    media: str | None = None
    """What it is where that is no JSON: text of this media type."""


@dataclass(frozen=True, slots=True)
class Deprecation:
    """An operation that is to go: RFC 9745 says so in each of its answers."""

    since: datetime.datetime
    sunset: datetime.datetime
    """From then on it may be gone (RFC 8594)."""
    see: str
    """The URL of what to do instead."""

    def headers(self) -> dict[str, str]:
        """The headers that every answer carries."""
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": http_date(self.sunset),
            "Link": f'<{self.see}>; rel="deprecation"; type="text/html"',
        }

    def add_to(self, response: Response) -> Response:
        """`response`, an error too, with these headers beside its own."""
        for name, value in self.headers().items():
            response.headers.add(name, value)
        return response


@dataclass(frozen=True, slots=True)
class Operation:
    """Everything about one operation that callers can rely on."""

    id: str
    access: Access
    answers: Mapping[int, Answer]
    body: Schema | None = None
    body_required: bool = False
    query: Schema | None = None
    problems: tuple[str, ...] = ()
    idempotent: bool = False
    if_match: bool = False
    if_none_match: bool = False
    last_event_id: bool = False
    offered: tuple[str, ...] = (encoding.MEDIA_TYPE,)
    body_example: Any = None
    counted: bool = True
    """Whether its requests count against the quotas of their token and address."""
    deprecated: Deprecation | None = None


@dataclass(slots=True)
class Call:
    """One request, its form checked, its values not yet."""

    operation: Operation
    identity: Identity
    media_type: str
    sent: dict[str, Any]
    """The body's object; empty where none was sent."""
    asked: list[tuple[str, str]]
    """The query's pairs."""
    idempotency_key: str | None = None
    fields: dict[str, Any] = field(default_factory=dict)
    """The body's values, after `validate`."""
    query: dict[str, Any] = field(default_factory=dict)
    """The query's values, after `validate`."""
    caller: Caller | None = field(init=False)
    """The player who calls, or for whom an app does."""

    def __post_init__(self) -> None:
        self.caller = self.identity.player

    def look_again(self) -> None:
        """Have who calls, and what they may, as it is by now; a 401 if that is nobody any more."""
        self.identity = authenticate(self.operation.access, again=True)
        self.caller = self.identity.player

    @property
    def app(self) -> App:
        """The app that calls an operation for apps."""
        assert self.identity.app is not None
        return self.identity.app

    @property
    def player(self) -> Caller:
        """The caller of an operation that needs a token."""
        assert self.caller is not None
        return self.caller

    @property
    def player_id(self) -> str | None:
        return self.caller.player_id if self.caller else None

    @property
    def sandbox(self) -> bool:
        """Whether the caller lives in the sandbox, and sees nothing else."""
        known = self.caller or self.identity.app
        return known is not None and known.sandbox

    @property
    def invite(self) -> str | None:
        """The code of an invite that was sent, in the query or the body."""
        code = dict(self.asked).get("invite", self.sent.get("invite"))
        return code if isinstance(code, str) else None

    def require_scope(self, scope: str) -> None:
        """403 unless the token has `scope`. Nobody in the sandbox is an admin: real players are
        theirs to rule."""
        lacks = self.caller is not None and scope not in self.caller.scopes
        if lacks or (scope == ADMIN and self.sandbox):
            raise forbidden(Sentence("This token has not the scope {scope}.", scope=scope))

    def require_play(self) -> None:
        """403 for a token that may only read."""
        self.require_scope(PLAY)

    def validate(self) -> None:
        """Set `fields` and `query`; a 422 that names every fault in either."""
        errors: list[tuple[str, Sentence]] = []
        names = [name for name, _ in self.asked]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            errors.append((name, Sentence("May stand only once in the query.")))
        self.query = _load(self.operation.query, dict(self.asked), _UNKNOWN_PARAMETER, errors)
        self.fields = _load(self.operation.body, self.sent, _UNKNOWN_FIELD, errors)
        if errors:
            raise invalid(*errors)


def operation(
    id: str, *, access: Access = Access.REQUIRED, answers: Mapping[int, Answer], **more: Any
) -> Callable[[Callable[..., Response]], View]:
    """Declare the view that it decorates; the view gets a `Call` before its path's values."""
    declared = Operation(id, access, answers, **more)

    def decorate(view: Callable[..., Response]) -> View:
        @functools.wraps(view)
        def wrapped(**path: Any) -> Response:
            if declared.deprecated is not None:
                after_this_request(declared.deprecated.add_to)
            return view(_receive(declared), **path)

        wrapped.operation = declared  # type: ignore[attr-defined]
        return wrapped

    return decorate


def _receive(declared: Operation) -> Call:
    identity = authenticate(declared.access)
    if identity.player is not None:
        structlog.contextvars.bind_contextvars(player_id=identity.player.player_id)
    if identity.app is not None:
        structlog.contextvars.bind_contextvars(app_id=identity.app.app_id)
    if declared.access is not Access.OPEN:
        refuse_as_asked(identity)
    media_type = negotiation.acceptable(declared.offered)
    body = request.get_data() if declared.body is not None else b""
    if body:
        negotiation.require_json_body()
    sent = _object(body, declared)
    key = _idempotency_key() if declared.idempotent else None
    etags.check_syntax()
    return Call(declared, identity, media_type, sent, _query_pairs(), key)


def _object(body: bytes, declared: Operation) -> dict[str, Any]:
    if not body:
        if declared.body_required:
            raise Problem("malformed-json", "A JSON object is needed as the body.")
        return {}
    value = encoding.parse(body)
    if not isinstance(value, dict):
        raise Problem("malformed-request", "The body must be a JSON object.")
    return value


def _idempotency_key() -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is not None and not _KEY.fullmatch(key):
        raise Problem(
            "malformed-request", "Idempotency-Key must be 1 to 255 visible ASCII characters."
        )
    return key


def _query_pairs() -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            request.query_string.decode("ascii"), keep_blank_values=True, errors="strict"
        )
    except ValueError:
        raise Problem("malformed-request", "The query is not UTF-8, percent-encoded.") from None


@functools.cache
def _instance(schema: Schema) -> marshmallow.Schema:
    # Loading leaves a schema as it is, so one instance serves all requests.
    return schema(unknown=marshmallow.RAISE)


def _load(
    schema: Schema | None,
    values: Mapping[str, Any],
    unknown: Sentence,
    errors: list[tuple[str, Sentence]],
) -> dict[str, Any]:
    if schema is None:
        errors += [(name, unknown) for name in values]
        return {}
    try:
        loaded: dict[str, Any] = _instance(schema).load(values)
    except marshmallow.ValidationError as error:
        errors += _flat(error.normalized_messages(), unknown)
        return {}
    return loaded


def _flat(
    messages: Mapping[Any, Any], unknown: Sentence, path: str = ""
) -> list[tuple[str, Sentence]]:
    flat: list[tuple[str, Sentence]] = []
    for name, inner in messages.items():
        at = ".".join(part for part in (path, str(name)) if part and part != "_schema")
        if isinstance(inner, Mapping):
            flat += _flat(inner, unknown, at)
        else:
            # Two checks of one value can have the same to say.
            told = list(dict.fromkeys(sentence(template) for template in inner))
            if told == [_UNKNOWN_FIELD]:
                told = [unknown]
            flat.append((at, told[0] if len(told) == 1 else joined(" ", told)))
    return flat
