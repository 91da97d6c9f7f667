"""How Schemathesis asks this API: as whom, about which games, and which refusals are no fault.

Schemathesis loads it by itself (`schemathesis.toml` names it).
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

import schemathesis
from schemathesis.core.failures import Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import RejectedPositiveData

from api import refusing
from tests.api.fuzzing import world
from tests.api.fuzzing.world import caller

PLAYER_HEADER = "Abbot-Player"

_NAMES = ("registerPlayer", "registerApp", "registerAppPlayer")
_WEBHOOKS = ("createWebhook", "changeWebhook", "createAppWebhook", "changeAppWebhook")
_MOVE = ("type", "card", "wish", "call", "word", "units", "take")
REFUSED: dict[str, tuple[str, ...]] = {
    # What Unicode makes visible is no matter of a pattern that all languages read alike.
    **dict.fromkeys(_NAMES, ("name",)),
    # Only who runs the name server knows where a URL leads.
    **dict.fromkeys(_WEBHOOKS, ("url", "description")),
    # One flat object for both games: which member goes with which type, game and cards is for the
    # referee, as is which option belongs to which game.
    "makeMove": _MOVE,
    "createGame": ("options.", "max_seats"),
    "changeTable": ("options.", "max_seats"),
    # Who sat there then is known from the record alone.
    "getState": ("seat",),
    # What goes together: generators make poor code of `oneOf`, so the document says it in words.
    "takeSeat": ("client_seed", "invite"),
    "fileDispute": ("version", "attempt_id", "receipt", "claim", "statement"),
    "resolveDispute": ("resolution",),
    "listGames": ("wait", "cursor"),
    "streamEvents": ("ticket",),
}
"""Members and parameters that can be refused with 422 though they fit the schema, by operation; and
any list's `cursor`, which is the server's own and nobody can make up."""


def _operation(case: Any) -> str:
    return str(case.operation.definition.raw.get("operationId"))


def _chosen(values: list[str], key: object) -> str:
    """One of `values`, the same for the same key."""
    return values[zlib.crc32(repr(key).encode()) % len(values)]


def _negative(case: Any, location: ParameterLocation) -> bool:
    return case.meta is not None and bool(case.meta.is_negative_at(location))


# A provider's token is kept for all operations unless it is told not to.
@schemathesis.auth(refresh_interval=None)
class Credentials:
    """Whose token goes with a request: an app's where it names a player, none with a ticket, else
    what the operation needs."""

    def get(self, case: Any, context: Any) -> str:
        made = world.current()
        if PLAYER_HEADER in (case.headers or {}):
            return made.key
        return caller(made, case.operation.definition.raw)

    def set(self, case: Any, data: str, context: Any) -> None:
        if "ticket" not in (case.query or {}):
            case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.deserializer("application/x-ndjson")
def _line(context: Any, response: Any) -> Any:
    """The newest event: the schema is that of each line (tests/api/client.py looks at all)."""
    lines = response.content.splitlines()
    return json.loads(lines[-2] if len(lines) > 1 else lines[-1])


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Ask about what exists, and don't wait for long."""
    made, operation = world.current(), _operation(case)
    path, headers, query = case.path_parameters or {}, case.headers or {}, case.query or {}
    linked = case.meta is not None and case.meta.phase.name == "stateful"
    if path and not _negative(case, ParameterLocation.PATH):
        if operation == "streamEvents":
            # Any other's stream goes on for hours.
            path["game_id"] = _chosen(made.over, path["game_id"])
        elif "game_id" in path and not linked:
            games = [made.disputed] if "dispute_id" in path else made.games
            path["game_id"] = _chosen(games, path["game_id"])
        for name in () if linked else tuple(path):
            path[name] = made.value(case.path, name) or path[name]
    if PLAYER_HEADER in headers and not _negative(case, ParameterLocation.HEADER):
        headers[PLAYER_HEADER] = made.acts_for
    if not _negative(case, ParameterLocation.HEADER):
        # Refused as asked for, with a 503 too, which is no fault (tests/api/test_refusing.py).
        headers.pop(refusing.HEADER, None)
    if str(query.get("wait", "")) in map(str, range(1, 31)):
        query["wait"] = 1


@schemathesis.hook
def filter_failure(context: Any, failure: Failure, case: Any, response: Any) -> bool:
    """Whether it is one: what fits the schema can still ask for what cannot be, as `REFUSED` lists.
    Values that are no good in themselves are no exception."""
    if not isinstance(failure, RejectedPositiveData):
        return True
    if _off_pattern(case):
        return False
    if response.status_code != 422:
        return True
    problem = json.loads(response.content)
    if problem["code"] == "idempotency-key-reused":
        # The same made-up key comes with another body.
        return False
    if problem["code"] == "illegal-move":
        return _operation(case) != "makeMove"
    fields = ("cursor", *REFUSED.get(_operation(case), ()))
    return not all(_listed(error["field"], fields) for error in problem["errors"])


def _off_pattern(case: Any) -> bool:
    """Whether a header is not what its pattern says: where Schemathesis (4.32) combines optional
    headers to cover them it forgets their patterns, and takes what it made up for valid."""
    sent = {name.lower(): value for name, value in (case.headers or {}).items()}
    for parameter in case.operation.headers:
        value, schema = sent.get(parameter.name.lower()), parameter.definition.get("schema", {})
        if value is not None and "pattern" in schema and not re.search(schema["pattern"], value):
            return True
    return False


def _listed(field: str, fields: tuple[str, ...]) -> bool:
    return any(
        field == each or field.startswith(f"{each}." if not each.endswith(".") else each)
        for each in fields
    )
