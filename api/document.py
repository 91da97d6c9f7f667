"""The OpenAPI document as plain data: what holds for all of it, whatever operations there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

Document = dict[str, Any]

METHODS = ("get", "post", "patch", "put", "delete")
REQUEST_ID = "X-Request-Id"
MESSAGES = "messages"
_COMPONENT = "#/components/{}/{}"


def add_webhooks(document: Document, messages: dict[str, str], headers: Iterable[str]) -> None:
    """Describe the calls that the server makes: `messages` are the components by type of message,
    `headers` the parameters that each call carries.

    They have a tag of their own: generators make one file for each tag, of the operations and anew
    of these."""
    document["tags"].append({"name": MESSAGES, "description": "What is sent to webhooks."})
    document["webhooks"] = {
        type_: {
            "post": {
                "operationId": f"receive{name.removesuffix('Message')}",
                "summary": document["components"]["schemas"][name]["description"],
                "description": _CALL,
                "tags": [MESSAGES],
                "security": [],
                "parameters": [reference("parameters", header) for header in headers],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": reference("schemas", name)}},
                },
                "responses": {status: {"description": told} for status, told in _REPLIES.items()},
            }
        }
        for type_, name in messages.items()
    }


_CALL = (
    "Abbot calls the URL of each webhook that is to be told of this. Check the signature "
    "(Standard Webhooks), answer any 2xx within 10 seconds, and work afterwards. A message can "
    "come twice, with the same `webhook-id`, and messages can overtake each other."
)
_REPLIES = {
    "204": "It is taken, as with any 2xx. Nobody reads a body.",
    "410": "The webhook is disabled at once, and what waits for it is given up.",
    "503": "It is sent again later, as after anything but a 2xx; not before `Retry-After`, which "
    "is heeded with 429 as well.",
}


def finish(document: Document, examples: dict[str, Any]) -> None:
    """Add what follows from the rest (names, headers of all answers) and the examples; drop
    what is unused."""
    _name_types(document)
    _spell_patterns(document)
    _add_common_headers(document)
    _add_examples(document, examples)
    _drop_unused(document, "headers", "parameters", "responses", "links")


def operations(document: Document) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each operation as path, path item, operation."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, item, item[method]


def reference(kind: str, name: str) -> dict[str, str]:
    """A reference to a component."""
    return {"$ref": _COMPONENT.format(kind, name)}


def resolved(document: Document, value: dict[str, Any]) -> dict[str, Any]:
    """What `value` refers to, or itself."""
    while "$ref" in value:
        at: Any = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            at = at[part]
        value = at
    return value


def _name_types(document: Document) -> None:
    """Give the values of each `type` a component of their own.

    Generators name a list of values after its field, and `Type` is a word of Swift's.
    """
    schemas = document["components"]["schemas"]
    for owner, schema in list(schemas.items()):
        values = schema.get("properties", {}).get("type", {})
        if "enum" in values:
            name = f"{owner}Type"
            schemas[name] = {**values, "description": f"`type` of {owner}."}
            schema["properties"]["type"] = reference("schemas", name)
    document["components"]["schemas"] = dict(sorted(schemas.items()))


def _spell_patterns(value: Any) -> None:
    """Write patterns as ECMA-262 has them, which a JSON schema asks for."""
    if isinstance(value, dict):
        pattern = value.get("pattern")
        if isinstance(pattern, str):
            anchored = pattern if pattern.startswith("^") else f"^(?:{pattern})"
            value["pattern"] = re.sub(r"\\Z", "$", anchored)
        for inner in value.values():
            _spell_patterns(inner)
    elif isinstance(value, list):
        for inner in value:
            _spell_patterns(inner)


def _add_common_headers(document: Document) -> None:
    """Every call takes an id and a language, and every answer has the id."""
    for item in document["paths"].values():
        common = [reference("parameters", name) for name in ("RequestId", "AcceptLanguage")]
        item.setdefault("parameters", []).extend(common)
    answers = list(document["components"]["responses"].values())
    for _, _, operation in operations(document):
        answers += [each for each in operation["responses"].values() if "$ref" not in each]
    for answer in answers:
        answer.setdefault("headers", {})[REQUEST_ID] = reference("headers", REQUEST_ID)


def _add_examples(document: Document, examples: dict[str, Any]) -> None:
    """Put the recorded answers and requests where they belong; a problem's under its code."""
    for _, _, operation in operations(document):
        name = operation["operationId"]
        for status, by_media in examples["answers"].get(name, {}).items():
            content = operation["responses"].get(status, {}).get("content", {})
            for media, example in by_media.items():
                if media in content:
                    content[media]["example"] = example
        if name in examples["requests"]:
            for content in operation.get("requestBody", {}).get("content", {}).values():
                content["example"] = examples["requests"][name]
    for type_, message in examples.get("messages", {}).items():
        for content in document["webhooks"][type_]["post"]["requestBody"]["content"].values():
            content["example"] = message
    for answer in document["components"]["responses"].values():
        for content in answer["content"].values():
            content["examples"] = {
                code: {"value": example}
                for codes in examples["problems"].values()
                for code, example in codes.items()
                if f"`{code}`" in answer["description"]
            }


def _drop_unused(document: Document, *kinds: str) -> None:
    """Drop components that nothing refers to."""
    used = set(_references(document))
    components = document["components"]
    for kind in kinds:
        components[kind] = {
            name: each
            for name, each in components.get(kind, {}).items()
            if _COMPONENT.format(kind, name) in used
        }


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "$ref" and isinstance(inner, str):
                yield inner
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)
