"""Links of the OpenAPI document: what can be done next with what an answer holds."""

from __future__ import annotations

import re
from typing import Any

from .document import Document, operations, reference, resolved

_GAME = {"game_id": "$response.body#/game_id"}
_SAME_GAME = {"game_id": "$request.path.game_id"}
_FROM_HERE = {**_GAME, "after": "$response.body#/version"}
_AS_IT_STANDS = {
    "listLegalMoves": _GAME,
    "makeMove": _GAME,
    "listEvents": _FROM_HERE,
    "streamEvents": _FROM_HERE,
    "getState": {**_GAME, "version": "$response.body#/version"},
}
_AFTER_MOVE = {**_SAME_GAME, "after": "$response.body#/game/version"}
_NEW_TABLE = {"getGame": _GAME, "takeSeat": _GAME, "startGame": _GAME}
ONWARD: dict[tuple[str, str], dict[str, dict[str, Any]]] = {
    ("getMe", "200"): {"getPlayer": {"player_id": "$response.body#/player_id"}},
    ("listGames", "200"): {"getGame": {"game_id": "$response.body#/items/0/game_id"}},
    ("getGame", "200"): _AS_IT_STANDS,
    ("startGame", "200"): _AS_IT_STANDS,
    ("rematch", "200"): _NEW_TABLE,
    ("rematch", "201"): _NEW_TABLE,
    ("makeMove", "201"): {
        "listLegalMoves": _SAME_GAME,
        "listEvents": _AFTER_MOVE,
        "streamEvents": _AFTER_MOVE,
        "getState": {**_SAME_GAME, "version": "$response.body#/game/version"},
    },
    ("createInvite", "201"): {
        "getGame": {**_SAME_GAME, "invite": "$response.body#/code"},
    },
    ("createStreamTicket", "201"): {
        "streamEvents": {**_SAME_GAME, "ticket": "$response.body#/ticket"},
    },
}
"""Where else an answer leads: by operation and status, then by the operation that it leads to, from
where that operation's parameters come."""
BODIES: dict[tuple[str, str, str], str] = {
    ("listLegalMoves", "200", "makeMove"): "$response.body#/legal_moves/0/move",
}
"""The same where an answer has what the next request sends: by operation, status and the operation
that it leads to, where the whole body is. One put together of parts would be an object, which
openapi-generator does not take."""


def add(document: Document) -> None:
    """From each answer that creates something to the operations on what it created, from each page
    to the next, and what `ONWARD` and `BODIES` say."""
    links: dict[str, Any] = {}
    by_id = {operation["operationId"]: operation for _, _, operation in operations(document)}

    def link(
        source: str, status: str, target: str, parameters: dict[str, str], **body: Any
    ) -> None:
        here = all(place == f"$response.body#/{name}" for name, place in parameters.items())
        name = target if here and not body and "cursor" not in parameters else f"{source}_{target}"
        links[name] = {"operationId": target, "parameters": parameters, **body}
        answer = by_id[source]["responses"][status]
        answer.setdefault("links", {})[target] = reference("links", name)

    for path, _, operation in operations(document):
        source, known = operation["operationId"], _path_parameters(path)
        same = {name: f"$request.path.{name}" for name in known}
        new = _created(document, operation, known)
        for target, _, linked in operations(document):
            needed = _path_parameters(target)
            if _owner_of_webhooks(path) != _owner_of_webhooks(target):
                continue
            if set(needed) & set(new) and set(needed) <= {*known, *new}:
                places = {each: same.get(each, f"$response.body#/{each}") for each in needed}
                link(source, "201", linked["operationId"], places)
        page = operation["responses"].get("200", {})
        if "next_cursor" in _schema_of(document, page).get("properties", {}):
            names = {resolved(document, each)["name"] for each in operation["parameters"]}
            onward = "cursor" if "cursor" in names else "after"
            link(source, "200", source, {**same, onward: "$response.body#/next_cursor"})
    for (source, status), targets in ONWARD.items():
        for target, parameters in targets.items() if source in by_id else ():
            link(source, status, target, parameters)
    for (source, status, target), body in BODIES.items():
        if source in by_id:
            link(source, status, target, _SAME_GAME, requestBody=body)
    document["components"]["links"] = dict(sorted(links.items()))


def _created(document: Document, operation: dict[str, Any], known: tuple[str, ...]) -> list[str]:
    """What is new in an answer with 201: ids which the path did not have."""
    answer = operation["responses"].get("201")
    required = _schema_of(document, answer).get("required", ()) if answer else ()
    ids = [name for name in required if name.endswith("_id") or name == "code"]
    return [name for name in ids if name not in known]


def _owner_of_webhooks(path: str) -> str | None:
    """Whose webhooks a path is about: a player's and an app's are not the same."""
    owner, webhooks, _ = path.partition("/webhooks")
    return owner if webhooks else None


def _path_parameters(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\{([^}]+)\}", path))


def _schema_of(document: Document, answer: dict[str, Any]) -> dict[str, Any]:
    content = answer.get("content", {}).get("application/json", {})
    return resolved(document, content.get("schema", {}))
