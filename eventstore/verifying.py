"""All that can be said of an export without a server: its form, its signature, its receipts, and
everything that the domain checks of a record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.events import Recorded
from domain.verification import CHECKS, Check, verify

from .exports import BadExport, Export, read
from .jws import BadSignature, kids
from .jws import read as read_jws

FILE, SIGNATURE, RECEIPT = "file", "signature", "receipt"
_SIGNED = ("game_id", "version", "hash", "at")
_ENDS = ("game.won", "game.drawn", "game.abandoned", "game.cancelled")


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked. `game_id` and `events`, how many there are, only where the file is one."""

    checks: list[Check]
    game_id: str | None = None
    events: int = 0
    sandbox: bool = False
    """Whether the record says that it is no real game's."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; something may not have been checked."""
        return all(check.ok is not False for check in self.checks)

    @property
    def first_wrong(self) -> Check | None:
        """Of what is wrong, what stands first in the record."""
        wrong = [check for check in self.checks if check.ok is False]
        return min(wrong, key=_place, default=None)


def check_export(
    data: bytes, *, receipts: Sequence[str] = (), jwks: Mapping[str, Any] | None = None
) -> Report:
    """Check an export, and whether the `receipts` belong to it.

    `jwks` are the keys that are trusted. Without them it can be seen that a signature is intact,
    and not whose it is.
    """
    try:
        export = read(data)
    except BadExport as bad:
        unread = [Check(name, None, "the file cannot be read") for name in (SIGNATURE, *CHECKS)]
        detail = f"line {bad.line}: {bad.reason}"
        return Report([Check(FILE, False, detail, bad.line), *unread])
    trusted = None if jwks is None else kids(jwks)
    events = export.events
    checks = [
        _check_file(export),
        _check_signature(export, trusted),
        *verify(events),
        *(_check_receipt(receipt, events, trusted) for receipt in receipts),
    ]
    return Report(checks, events[0].game_id, len(events), "sandbox" in events[0].data)


def _place(check: Check) -> tuple[float, int]:
    order = (FILE, *CHECKS, SIGNATURE, RECEIPT)
    return (float("inf") if check.version is None else check.version, order.index(check.check))


def _check_file(export: Export) -> Check:
    last = export.events[-1]
    if export.head is None and last.type not in _ENDS:
        return Check(
            FILE,
            False,
            f"the record is cut after event {len(export.events)}: neither the end of the game nor "
            "a signed head follows",
            len(export.events) + 1,
        )
    lines = len(export.events) + (export.head is not None)
    return Check(FILE, True, f"{lines} lines of canonical JSON")


def _check_signature(export: Export, trusted: set[str] | None) -> Check:
    head, last = export.head, export.events[-1]
    if head is None:
        if trusted is not None:
            return Check(SIGNATURE, False, "the record is not signed")
        return Check(SIGNATURE, None, "no signature: the record is checked by itself alone")
    try:
        signed = read_jws(head["jws"])
    except BadSignature as bad:
        return Check(SIGNATURE, False, f"the signed head: {bad}")
    if signed.payload != {name: head[name] for name in (*_SIGNED, "sandbox") if name in head}:
        return Check(SIGNATURE, False, "the signature is not of the head that it stands in")
    if head["game_id"] != last.game_id:
        return Check(SIGNATURE, False, f"the signature is of another game, {head['game_id']}")
    fault = _mismarked("the signed head", head, export.events)
    if fault is not None:
        return Check(SIGNATURE, False, fault)
    # How many events there are, not the number that the last one says it has.
    ends = len(export.events)
    if head["version"] > ends:
        events = f"{ends} event{'s' if ends > 1 else ''}"
        detail = f"the record is cut: {events} where {head['version']} were signed"
        return Check(SIGNATURE, False, detail, ends + 1)
    if head["version"] < ends:
        detail = f"events were added: the last one was {head['version']} when it was signed"
        return Check(SIGNATURE, False, detail, head["version"] + 1)
    for name in ("hash", "at"):
        if head[name] != getattr(last, name):
            return Check(
                SIGNATURE,
                False,
                f"the record was changed: {name} of its last event was {head[name]} when it was "
                "signed",
                ends,
            )
    return _trust(SIGNATURE, signed.kid, trusted, f"of event {last.version}, the last one")


def _mismarked(what: str, said: Mapping[str, Any], events: Sequence[Recorded]) -> str | None:
    """How what is signed is wrong about whether the game is one of the sandbox; None if right."""
    if "sandbox" not in events[0].data:
        if "sandbox" not in said:
            return None
        return f"{what} says that the game is a sandbox game, and its record does not"
    if said.get("sandbox") is True:
        return None
    return f"{what} does not say that the game is a sandbox game, as its record does"


def _trust(check: str, kid: str, trusted: set[str] | None, of: str) -> Check:
    if trusted is None:
        return Check(
            check,
            None,
            f"{of}: intact, by the key {kid}; whose key that is can only be told by a trusted "
            "list of keys",
        )
    if kid not in trusted:
        return Check(check, False, f"{of}: the key {kid} is not among the trusted ones")
    return Check(check, True, f"{of}, by the key {kid}, which is trusted")


def _check_receipt(receipt: str, events: Sequence[Recorded], trusted: set[str] | None) -> Check:
    try:
        signed = read_jws(receipt)
    except BadSignature as bad:
        return Check(RECEIPT, False, f"it is no receipt: {bad}")
    said = signed.payload
    version = said.get("version")
    if (
        set(said) - {"sandbox"} != {*_SIGNED, "player_id"}
        or type(version) is not int
        or version < 1
    ):
        return Check(RECEIPT, False, "it is no receipt: what is signed is something else")
    if trusted is not None and signed.kid not in trusted:
        return Check(RECEIPT, False, f"the key {signed.kid} is not among the trusted ones")
    if said["game_id"] != events[0].game_id:
        return Check(RECEIPT, False, f"the receipt is of another game, {said['game_id']}")
    fault = _mismarked("the receipt", said, events)
    if fault is not None:
        return Check(RECEIPT, False, fault)
    if version > events[-1].version:
        if events[-1].type in _ENDS:
            detail = f"the record was changed: the receipt is of event {version}, beyond its end"
            return Check(RECEIPT, False, detail, events[-1].version)
        detail = f"the receipt is of event {version}; the record ends before, with "
        return Check(RECEIPT, None, f"{detail}{events[-1].version}")
    event = next((event for event in events if event.version == version), None)
    if event is None:
        return Check(RECEIPT, False, f"the record lacks event {version}, of which it is", version)
    found = {
        "game_id": event.game_id,
        "version": event.version,
        "hash": event.hash,
        "at": event.at,
        "player_id": event.by.get("player_id"),
    }
    for name, value in found.items():
        if said[name] != value:
            return Check(
                RECEIPT,
                False,
                f"the record was changed since: {name} of event {version} is {value}, and was "
                f"{said[name]} when the receipt was given",
                version,
            )
    known = "which is trusted" if trusted is not None else "which no list was given for"
    return Check(
        RECEIPT, True, f"it is of event {version}, as it stands here; key {signed.kid}, {known}"
    )
