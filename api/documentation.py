"""The OpenAPI document, from what the operations declare."""

from __future__ import annotations

import copy
import inspect
import json
from pathlib import Path
from typing import Any

import marshmallow
import yaml
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask
from flask_smorest import Api
from flask_smorest import Blueprint as SmorestBlueprint
from marshmallow import fields

from . import document as documents
from . import encoding, identifiers, links, problems, refusing
from .auth import Access
from .negotiation import NDJSON
from .operation import Answer, Operation
from .schemas import events as event_schemas
from .schemas.messages import MESSAGES
from .schemas.problems import Problem

TITLE = "Abbot"
VERSION = "1.0.0"
SCHEME = "token"
APP_SCHEME = "appKey"
EXAMPLES = Path(__file__).with_name("examples.json")
"""What the server really answered (see tests/api/examples.py)."""

DESCRIPTION = """
Referee and record keeper for the card games Halleluja and Vallelujah.

Register with `POST /v1/players` and send the token with each call. Every move becomes an event;
what a game is, is what its events say. Times are UTC (RFC 3339), ids are UUIDs, what does not
apply is absent rather than null. Values, fields, event types and codes may be added: ignore those
you do not know. This document is at `/openapi.json` and
`/openapi.yaml`, and to try at `/docs`.
""".strip()

_TAGS = r'^(?:\*|(?:W/)?"[!#-~]*"(?:[ \t]*,[ \t]*(?:W/)?"[!#-~]*")*)$'
"""A list of entity tags, or `*` (RFC 9110, section 8.8.3)."""

PARAMETERS: dict[str, dict[str, Any]] = {
    "AcceptLanguage": {
        "in": "header",
        "name": "Accept-Language",
        "description": "In which language rules, refusals and reasons are worded: `en`, which is "
        "the default, or `de`; weights as in RFC 9110.",
        "schema": {"type": "string", "examples": ["de-AT, de;q=0.9, en;q=0.5"]},
    },
    "IdempotencyKey": {
        "in": "header",
        "name": "Idempotency-Key",
        "description": "Makes the call safe to send again: for 24 hours the same key, path and "
        "body get the first answer. Any 1 to 255 visible ASCII characters.",
        "schema": {"type": "string", "pattern": "^[!-~]{1,255}$"},
    },
    "IfMatch": {
        "in": "header",
        "name": "If-Match",
        "description": 'Only if the game is still at this version, as `"17"`; else 412.',
        "schema": {"type": "string", "pattern": _TAGS},
    },
    "LastEventId": {
        "in": "header",
        "name": "Last-Event-ID",
        "description": "The version of the last event that you have; wins over `after`.",
        "schema": {"type": "string", "pattern": "^(?:0|[1-9][0-9]{0,8})?$"},
    },
    "IfNoneMatch": {
        "in": "header",
        "name": "If-None-Match",
        "description": "The ETag that you have; 304 if it is still the right one.",
        "schema": {"type": "string", "pattern": _TAGS},
    },
    "AbbotPlayer": {
        "in": "header",
        "name": "Abbot-Player",
        "description": "With an app's key: the id of the player of the app for whom it asks.",
        "schema": {"type": "string", "format": "uuid"},
    },
    "SandboxRefuse": {
        "in": "header",
        "name": refusing.HEADER,
        "description": "In the sandbox: refuse this request so, before anything is done; one of "
        + ", ".join(f"`{code}`" for code in refusing.CODES)
        + ". For anyone else 403.",
        "schema": {"type": "string", "pattern": f"^({'|'.join(refusing.CODES)})$"},
    },
    "RequestId": {
        "in": "header",
        "name": "X-Request-Id",
        "description": "Names this request in our logs: 8 to 64 of ASCII letters, digits, `.`, `_` "
        "and `-`. Anything else is not taken up.",
        "schema": {"type": "string"},
    },
    "WebhookId": {
        "in": "header",
        "name": "webhook-id",
        "description": "Names the message; the same whenever it is sent again.",
        "required": True,
        "schema": {"type": "string", "format": "uuid"},
    },
    "WebhookTimestamp": {
        "in": "header",
        "name": "webhook-timestamp",
        "description": "When this call was made, in seconds since 1970. Refuse what is more than "
        "five minutes from your own clock.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9]+$", "examples": ["1772366400"]},
    },
    "WebhookSignature": {
        "in": "header",
        "name": "webhook-signature",
        "description": "One or more of `v1,` and base64, with spaces between: HMAC-SHA256 with the "
        "webhook's secret over `webhook-id`, `.`, `webhook-timestamp`, `.` and the body as it "
        "came. One that fits is enough; for a day after a rotation there are two.",
        "required": True,
        "schema": {
            "type": "string",
            "pattern": "^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$",
            "examples": ["v1,Zm9sbG93IHRoZSBzcGVjLCBub3QgdGhpcyB0ZXh0LiA="],
        },
    },
}

WEBHOOK_HEADERS = ("WebhookId", "WebhookTimestamp", "WebhookSignature")
"""Of PARAMETERS those that a call of a webhook carries."""

HEADERS: dict[str, dict[str, Any]] = {
    "Content-Language": {
        "description": "The language of the wording.",
        "schema": {"type": "string", "examples": ["en"]},
    },
    "ETag": {
        "description": 'The version, as `"17"`.',
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "Where to find what was created.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "Link": {
        "description": 'The next page, as `<…>; rel="next"` (RFC 8288); absent on the last.',
        "schema": {"type": "string"},
    },
    "Allow": {"description": "The methods of this path.", "schema": {"type": "string"}},
    "Retry-After": {
        "description": "Seconds to wait before the next try.",
        "schema": {"type": "integer"},
    },
    "RateLimit": {
        "description": "What is left of each quota that the request counted against (`r`), and in "
        'how many seconds it is whole again (`t`), as `"token";r=5999;t=42`. Absent where nothing '
        "was counted.",
        "schema": {"type": "string"},
    },
    "RateLimit-Policy": {
        "description": "These quotas (`q`), each for so many seconds (`w`), as "
        '`"token";q=6000;w=60`.',
        "schema": {"type": "string"},
    },
    "WWW-Authenticate": {
        "description": "How to authenticate.",
        "schema": {"type": "string"},
    },
    "Deprecation": {
        "description": "Since when the operation is to go, as `@` and Unix seconds (RFC 9745).",
        "schema": {"type": "string"},
    },
    "Sunset": {
        "description": "When the operation may be gone (RFC 8594).",
        "schema": {"type": "string"},
    },
    "X-Request-Id": {
        "description": "Names this request in our logs; the id that was sent along, if it was one.",
        "schema": {"type": "string"},
    },
}

_STATUS_NAMES = {
    400: "BadRequest",
    401: "Unauthenticated",
    403: "Forbidden",
    404: "NotFound",
    406: "NotAcceptable",
    409: "Conflict",
    412: "PreconditionFailed",
    413: "TooLarge",
    415: "UnsupportedMediaType",
    422: "Unprocessable",
    429: "TooManyRequests",
    500: "InternalFault",
    503: "Unavailable",
}
_RATES = ("RateLimit", "RateLimit-Policy")
_STATUS_HEADERS = {
    401: ("WWW-Authenticate",),
    412: ("ETag",),
    429: ("Retry-After",),
    503: ("Retry-After",),
}
_PATH_PARAMETERS = {
    "game_id": "The game.",
    "app_id": "The app, or one of its keys.",
    "player_id": "The player.",
    "token_id": "The token.",
    "dispute_id": "The dispute.",
    "webhook_id": "The webhook.",
    "delivery_id": "The delivery.",
    "seat": "The seat's number.",
    "version": "The version of an event.",
    "code": "The invite's code.",
    "ruleset": "The ruleset's id.",
}


class Blueprint(SmorestBlueprint):
    """Views whose documentation is what `operation` declares."""

    def add_url_rule(  # type: ignore[override]
        self, rule: str, endpoint: str | None = None, view_func: Any = None, **options: Any
    ) -> None:
        declared: Operation | None = getattr(view_func, "operation", None)
        if declared is not None:
            view_func._apidoc = {"manual_doc": _document(declared, view_func)}
        super().add_url_rule(rule, endpoint, view_func, **options)


class Documented(Api):
    """flask-smorest's Api without its own idea of errors and its own routes."""

    DEFAULT_ERROR_RESPONSE_NAME = None

    def _register_error_handlers(self) -> None:
        """`problems.register` does that."""

    def _register_responses(self) -> None:
        """Only the responses that are declared exist."""

    def _register_etag_headers(self) -> None:
        """`HEADERS` and `PARAMETERS` have them."""

    def _register_pagination_header(self) -> None:
        """Pages say where they go on in `Link`."""


def create_api(app: Flask) -> Documented:
    """The Api whose document `openapi` gives, once all blueprints are registered."""
    app.config.update(API_TITLE=TITLE, API_VERSION=VERSION, OPENAPI_VERSION="3.1.0")
    plugin = MarshmallowPlugin(schema_name_resolver=_component_name)
    api = Documented(
        app,
        spec_kwargs={
            "marshmallow_plugin": plugin,
            "info": {"description": _unwrapped(DESCRIPTION)},
            "servers": [{"url": "/"}],
        },
    )
    plugin.converter.add_attribute_function(_event_reference)
    for name, schema in _PATH_SCHEMAS.items():
        api.register_converter(identifiers.CONVERTERS[name], lambda _, schema=schema: dict(schema))
    _register_components(api.spec)
    return api


_PATH_SCHEMAS: dict[str, dict[str, Any]] = {
    "id": {"type": "string", "format": "uuid"},
    "seat": {"type": "integer", "minimum": 0, "maximum": 99},
    "version": {"type": "integer", "minimum": 1},
    "code": {"type": "string", "pattern": "^[0-9A-Za-z]{1,64}$"},
    "name": {"type": "string", "pattern": "^[a-z][a-z-]{0,63}$"},
}


def openapi(app: Flask) -> dict[str, Any]:
    """The document of `app`, as plain data."""
    api: Documented = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    document: dict[str, Any] = copy.deepcopy(api.spec.to_dict())
    _describe_components(api, document["components"]["schemas"])
    for item in document["paths"].values():
        for parameter in item.get("parameters", []):
            parameter["description"] = _PATH_PARAMETERS[parameter["name"]]
    messages = {type_: schema.__name__ for type_, schema in MESSAGES.items()}
    documents.add_webhooks(document, messages, WEBHOOK_HEADERS)
    links.add(document)
    documents.finish(document, json.loads(EXAMPLES.read_bytes()))
    components = document["components"]
    document["components"] = {kind: components[kind] for kind in sorted(components)}
    document["components"]["schemas"] = dict(sorted(components["schemas"].items()))
    return {name: document[name] for name in _MEMBERS if name in document}


_MEMBERS = (
    "openapi", "info", "servers", "security", "tags", "paths", "webhooks", "components",
)  # fmt: skip


def to_yaml(document: dict[str, Any]) -> str:
    """The document as the file `openapi.yaml` has it."""
    return yaml.dump(document, sort_keys=False, allow_unicode=True, width=100, Dumper=_PlainDumper)


class _PlainDumper(yaml.SafeDumper):
    """Writes everything out: anchors would only puzzle readers."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _component_name(schema: Any) -> str:
    if isinstance(schema, str):
        return schema
    cls = schema if isinstance(schema, type) else type(schema)
    return cls.__name__


def _register_components(spec: APISpec) -> None:
    spec.components.security_scheme(
        SCHEME,
        {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `POST /v1/players` or `POST /v1/me/tokens`.",
        },
    )
    spec.components.security_scheme(
        APP_SCHEME,
        {
            "type": "http",
            "scheme": "bearer",
            "description": "The key of an app, which an operator registers. `Abbot-Player` says "
            "for which of the app's players it asks.",
        },
    )
    for name, header in HEADERS.items():
        spec.components.header(name, header)
    for name, parameter in PARAMETERS.items():
        spec.components.parameter(name, parameter["in"], parameter)
    lines = (event_schemas.OtherEvent, event_schemas.ExportSigned)
    for schema in (*event_schemas.VARIANTS.values(), *lines, *MESSAGES.values()):
        spec.components.schema(schema.__name__, schema=schema)
    spec.components.schema("GameEvent", _event_union())
    spec.components.schema("Problem", schema=Problem)
    for status, name in _STATUS_NAMES.items():
        codes = [code for code, kind in problems.KINDS.items() if kind.status == status]
        spec.components.response(name, _problem_response(status, codes))


def _event_union() -> dict[str, Any]:
    reference = "#/components/schemas/{}"
    variants = {name: schema.__name__ for name, schema in event_schemas.VARIANTS.items()}
    names = [*variants.values(), event_schemas.OtherEvent.__name__]
    return {
        "description": "One thing that happened; `type` tells which variant it is.",
        "anyOf": [{"$ref": reference.format(name)} for name in names],
        "discriminator": {
            "propertyName": "type",
            "mapping": {key: reference.format(name) for key, name in variants.items()},
        },
    }


def _problem_response(status: int, codes: list[str]) -> dict[str, Any]:
    listed = ", ".join(f"`{code}`" for code in codes)
    response: dict[str, Any] = {
        "description": f"{listed}.",
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    headers = ("Content-Language", *_STATUS_HEADERS.get(status, ()))
    response["headers"] = {name: _header(name) for name in headers}
    return response


def _header(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/headers/{name}"}


def _document(declared: Operation, view: Any) -> dict[str, Any]:
    summary, _, description = inspect.cleandoc(view.__doc__ or "").partition("\n\n")
    parameters: list[Any] = []
    if declared.query is not None:
        parameters.append({"in": "query", "schema": declared.query})
    parameters += [
        name
        for name, used in (
            ("IdempotencyKey", declared.idempotent),
            ("IfMatch", declared.if_match),
            ("IfNoneMatch", declared.if_none_match),
            ("LastEventId", declared.last_event_id),
            ("AbbotPlayer", declared.access in (Access.OPTIONAL, Access.REQUIRED)),
            ("SandboxRefuse", declared.access is not Access.OPEN),
        )
        if used
    ]
    document: dict[str, Any] = {
        "operationId": declared.id,
        "summary": summary.replace("\n", " ").rstrip("."),
        "description": _unwrapped(description or summary),
        "parameters": parameters,
        "responses": _responses(declared),
        "security": {
            Access.OPEN: [],
            Access.OPTIONAL: [{}, {SCHEME: []}, {APP_SCHEME: []}],
            Access.REQUIRED: [{SCHEME: []}, {APP_SCHEME: []}],
            Access.APP: [{APP_SCHEME: []}],
        }[declared.access],
    }
    if declared.deprecated is not None:
        document["deprecated"] = True
        for answer in document["responses"].values():
            if isinstance(answer, dict):
                names = declared.deprecated.headers()
                answer.setdefault("headers", {}).update({name: _header(name) for name in names})
    if declared.body is not None:
        content: dict[str, Any] = {"schema": declared.body}
        if declared.body_example is not None:
            content["example"] = declared.body_example
        document["requestBody"] = {
            "required": declared.body_required,
            "content": {encoding.MEDIA_TYPE: content},
        }
    return document


def _unwrapped(text: str) -> str:
    """Paragraphs without their line breaks."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def _responses(declared: Operation) -> dict[str, Any]:
    responses: dict[str, Any] = {
        str(status): _answer(answer, _RATES if declared.counted else ())
        for status, answer in declared.answers.items()
    }
    if declared.if_none_match:
        responses["304"] = {
            "description": "Nothing has changed.",
            "headers": {"ETag": _header("ETag")},
        }
    for status in sorted(_problem_statuses(declared)):
        responses[str(status)] = _STATUS_NAMES[status]
    return responses


def _problem_statuses(declared: Operation) -> set[int]:
    statuses = {400, 406, 413, 422, 500}
    statuses |= {problems.KINDS[code].status for code in declared.problems}
    if declared.counted:
        statuses.add(429)
    if declared.access is not Access.OPEN:
        statuses |= {401, 403, 503}
    if declared.body is not None:
        statuses |= {415}
    if declared.if_match:
        statuses.add(412)
    return statuses


def _answer(answer: Answer, more: tuple[str, ...]) -> dict[str, Any]:
    document: dict[str, Any] = {"description": answer.meaning}
    if answer.headers or more:
        document["headers"] = {name: _header(name) for name in (*answer.headers, *more)}
    if answer.media is not None:
        # Without a type: tools differ on whether such a body is one text or many messages.
        document["content"] = {answer.media: {"schema": {"description": answer.meaning}}}
    if answer.schema is not None:
        content: dict[str, Any] = {"schema": answer.schema}
        document["content"] = {encoding.MEDIA_TYPE: content}
        if answer.ndjson:
            lines = ("GameEvent", event_schemas.ExportSigned.__name__)
            document["content"][NDJSON] = {
                "schema": {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in lines]}
            }
    return document


def _event_reference(self: Any, field: fields.Field[Any], **_: Any) -> dict[str, Any]:
    if isinstance(field, event_schemas.AnyEvent):
        return {"$ref": "#/components/schemas/GameEvent"}
    return {}


def _describe_components(api: Documented, schemas: dict[str, Any]) -> None:
    """Schemas' own descriptions, from their docstrings."""
    described: dict[str, type[marshmallow.Schema]] = {
        name: key[0] for key, name in api.ma_plugin.converter.refs.items()
    }
    for name, schema in schemas.items():
        cls = described.get(name)
        if cls is not None and "description" not in schema:
            schema["description"] = " ".join(inspect.cleandoc(cls.__doc__ or "").split())
