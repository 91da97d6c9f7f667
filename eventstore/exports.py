"""Records as files: a line for each event, and at the end the head, signed.

Every line is the canonical JSON (RFC 8785) of its object and ends with a line feed. What reads
differently, however slightly, is no export.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from domain.canonical import canonical as plain_canonical
from domain.events import Recorded
from domain.times import is_time

from .recorded import canonical

SIGNED = "export.signed"
LARGEST = 64 << 20
"""Bytes of a file at most."""
LONGEST = 1 << 20
"""Bytes of a line at most."""
DEEPEST = 16
"""Objects and arrays within one another at most."""

_EVENT: dict[str, type] = {
    "game_id": str,
    "version": int,
    "type": str,
    "at": str,
    "by": dict,
    "data": dict,
    "prev_hash": str,
    "hash": str,
}
_HEAD: dict[str, type] = {
    "type": str,
    "game_id": str,
    "version": int,
    "hash": str,
    "at": str,
    "jws": str,
}
_SANDBOX_HEAD = {**_HEAD, "sandbox": bool}
_BY: dict[str, type] = {"kind": str, "seat": int, "player_id": str}
_KINDS = ("player", "clock", "bot")
_HASH = re.compile(r"[0-9a-f]{64}")
_LARGEST_NUMBER = (1 << 53) - 1

Sign = Callable[[Mapping[str, Any]], str]


class BadExport(ValueError):
    """A file that is no export. `line` is the first line that is wrong, from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Export:
    """A file that was read: its events, and the members of its last line if that is a head."""

    events: list[Recorded]
    head: dict[str, Any] | None


def line(shown: Mapping[str, Any]) -> bytes:
    """The line of an event as its reader may see it."""
    return canonical(dict(shown)) + b"\n"


def signed_of(event: Recorded, *, sandbox: bool) -> dict[str, Any]:
    """What is signed of an event. Of a sandbox game it says that it is one, as the key is the same:
    nobody shall take it for a real game's."""
    said: dict[str, Any] = {
        "game_id": event.game_id,
        "version": event.version,
        "hash": event.hash,
        "at": event.at,
    }
    return {**said, "sandbox": True} if sandbox else said


def head_line(event: Recorded, sign: Sign, *, sandbox: bool) -> bytes:
    """The last line: the game's last event, signed."""
    head = signed_of(event, sandbox=sandbox)
    return canonical({"type": SIGNED, **head, "jws": sign(head)}) + b"\n"


def write(
    shown: Iterable[Mapping[str, Any]], last: Recorded, sign: Sign, *, sandbox: bool
) -> bytes:
    """A whole export: the events as their reader may see them, and the head `last`."""
    head = head_line(last, sign, sandbox=sandbox)
    return b"".join([*(line(event) for event in shown), head])


def read(data: bytes) -> Export:
    """What is in the file; BadExport names the first line that is not as it must be."""
    if not data:
        raise BadExport(1, "the file is empty")
    if len(data) > LARGEST:
        raise BadExport(1, f"the file has more than {LARGEST >> 20} MiB")
    if data.startswith(b"\xef\xbb\xbf"):
        raise BadExport(1, "the file begins with a byte order mark")
    lines = data.split(b"\n")
    events: list[Recorded] = []
    head: dict[str, Any] | None = None
    for number, text in enumerate(lines[:-1], 1):
        _require_no_head(head, number)
        value = _parse(number, text)
        if value.get("type") == SIGNED:
            members = _SANDBOX_HEAD if "sandbox" in value else _HEAD
            _check_members(number, value, members, "the signed head")
            head = value
        else:
            _check_members(number, value, _EVENT, "an event")
            _check_by(number, value["by"])
            events.append(Recorded(**value))
    if lines[-1]:
        _require_no_head(head, len(lines))
        raise BadExport(len(lines), "the last line is cut: no line feed ends it")
    if not events:
        raise BadExport(1, "the file has no events")
    return Export(events, head)


def is_page(data: bytes) -> bool:
    """Whether this, which is no export, is a page of events as `application/json` has it."""
    return isinstance(_answer(data).get("items"), list)


def refusal(data: bytes) -> str | None:
    """What an answer says that is a problem (RFC 9457) and no export; None if it is none."""
    answer = _answer(data)
    if not isinstance(answer.get("status"), int) or "code" not in answer:
        return None
    told = [str(answer[name])[:200] for name in ("status", "code", "detail") if name in answer]
    return ": ".join(told)


def _answer(data: bytes) -> dict[str, Any]:
    """The one JSON object that `data` is; {} if it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _require_no_head(head: Mapping[str, Any] | None, number: int) -> None:
    """The line `number` follows: none does on the head, which is what is wrong then."""
    if head is not None:
        raise BadExport(number - 1, "the signed head stands before the end of the file")


def _parse(number: int, text: bytes) -> dict[str, Any]:
    if not text:
        raise BadExport(number, "the line is empty")
    if len(text) > LONGEST:
        raise BadExport(number, f"the line has more than {LONGEST >> 20} MiB")
    decoded = _decoded(number, text)
    if b"\r" in text:
        raise BadExport(number, "the line has a carriage return; lines end with a line feed alone")
    if text.count(b"[") + text.count(b"{") > DEEPEST and _depth_of(text) > DEEPEST:
        raise BadExport(number, f"the line is nested deeper than {DEEPEST} levels")
    try:
        value = json.loads(
            decoded,
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
        same = plain_canonical(value) == text
    except UnicodeError:
        raise BadExport(number, "the line has half a surrogate pair, which no UTF-8 is") from None
    except json.JSONDecodeError as error:
        raise BadExport(number, f"the line is no JSON: {error.msg}, column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise BadExport(number, str(error)) from None
    if not isinstance(value, dict):
        raise BadExport(number, "the line is no JSON object")
    if b"null" in text and _has_null(value):
        raise BadExport(number, "the line has a null, which no record has")
    if not same:
        raise BadExport(
            number,
            "the line is not the canonical JSON of its object (RFC 8785): white space, order of "
            "names or spelling differs",
        )
    return value


def _decoded(number: int, text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise BadExport(number, "the line is not UTF-8") from None


def _depth_of(text: bytes) -> int:
    """How deep brackets stand within one another, strings left out."""
    deepest = depth = 0
    for part in _outside_strings(text):
        for byte in part:
            if byte in b"[{":
                depth += 1
                deepest = max(deepest, depth)
            elif byte in b"]}":
                depth -= 1
    return deepest


def _outside_strings(text: bytes) -> list[bytes]:
    return text.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_null(inner) for inner in value.values())
    return value is None or (isinstance(value, list) and any(_has_null(each) for each in value))


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice[:64]!a} stands twice in one object")
    for name in members:
        if not name.isascii():
            raise ValueError(f"the name {name[:64]!a} is not ASCII, as all names in a record are")
    return members


def _integer(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > _LARGEST_NUMBER:
        raise ValueError("an integer is beyond 2^53 - 1")
    return int(text)


def _no_float(text: str) -> Any:
    raise ValueError(f"{text[:32]} is no integer, as all numbers in a record are")


def _check_members(number: int, value: dict[str, Any], members: dict[str, type], what: str) -> None:
    for name, kind in members.items():
        if name not in value:
            raise BadExport(number, f"the line is not {what}: it lacks {name}")
        if type(value[name]) is not kind:
            raise BadExport(number, f"the line is not {what}: {name} is of another type")
    for name in value:
        if name not in members:
            raise BadExport(number, f"the line is not {what}: {name[:64]!a} does not belong to it")
    for name in ("prev_hash", "hash"):
        if name in members and not _HASH.fullmatch(value[name]):
            reason = f"the line is not {what}: {name} is not 32 bytes in lower-case hex"
            raise BadExport(number, reason)
    if not is_time(value["at"]):
        reason = f"the line is not {what}: at is not RFC 3339 in UTC with six decimals"
        raise BadExport(number, reason)


def _check_by(number: int, by: dict[str, Any]) -> None:
    for name, value in by.items():
        if name not in _BY or type(value) is not _BY[name]:
            reason = f"the line is not an event: {name[:64]!a} of by does not belong to it"
            raise BadExport(number, reason)
    if by.get("kind") not in _KINDS or by.get("seat", 0) < 0:
        raise BadExport(number, "the line is not an event: by names nobody who acts in a game")
