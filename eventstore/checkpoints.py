"""Checkpoints: from time to time the newest events of all games are signed together.

A game's own chain cannot show that the whole game was removed, or that its end was. A checkpoint
holds, of each game that went on since the one before, the newest version and hash, and its
signature covers them and the checkpoint before. Together they cover every game, and each costs
only what has happened since the last.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any, LiteralString, NamedTuple

from domain.verification import Check

from . import sql_checkpoints as sql
from .database import Database
from .errors import Broken
from .jws import BadSignature, verify
from .pool import Pool
from .signing import Signer

CHECKPOINTS = "checkpoints"
"""Every game is still at, or beyond, what was signed of it."""

NOT_SIGNED = "no checkpoint has signed an event of this game"

MOST_POSITIONS = 50_000
"""Events that one checkpoint covers at most."""

_HEAD_BYTES = 16 + 4 + 32
_PAGE = 50
_BEYOND = (1 << 63) - 1


class Head(NamedTuple):
    """The newest event of a game at a checkpoint; the hash is in hex."""

    game_id: str
    version: int
    hash: str

    def missed(self, name: str, own: str | None, last: int, *, begun: bool = True) -> str | None:
        """What is wrong with the game, `name` in the sentence, if its event of this version has
        `own` as its hash, None where there is no such event but `last` is the last that there is;
        of one not `begun` nothing is left."""
        if own == self.hash:
            return None
        if own is not None:
            return f"event {self.version} of {name} is another one than was signed, {self.hash}"
        what = f"is cut off after event {last} and had" if begun else "is gone, which had"
        return f"{name} {what} event {self.version}, signed as {self.hash}"

    def first_missing(self, own: str | None, last: int) -> int:
        """The version of the first event that is not there, or is another one."""
        return self.version if own is not None else last + 1


class NewestHeads:
    """The newest head of each game that checkpoints hold, some 200 bytes of memory each. Their
    signatures are not looked at."""

    def __init__(self, checkpoints: Iterable[Checkpoint]) -> None:
        self._heads = {part[:16]: part[16:] for each in checkpoints for part in _parts(each.heads)}

    def of(self, game_id: str) -> Head | None:
        """The newest head of a game; None where it has none."""
        key = uuid.UUID(game_id).bytes
        rest = self._heads.get(key)
        return None if rest is None else _head(key + rest)


class Checkpoint(NamedTuple):
    """A stored checkpoint, which covers the feed up to `position`."""

    number: int
    position: int
    heads: bytes
    jws: str

    @property
    def hash(self) -> str:
        """What the next checkpoint names as the one before it."""
        return hash_of(self.jws)


class Kept(NamedTuple):
    """What somebody keeps of a checkpoint elsewhere, to see later that it is still there."""

    number: int
    hash: str

    @classmethod
    def read(cls, text: str) -> Kept:
        """What `text` says, `number:hash`; ValueError if it does not."""
        if re.fullmatch(r"[1-9][0-9]{0,17}:[0-9a-fA-F]{64}", text) is None:
            raise ValueError(f"{text!r} is not of the form NUMBER:HASH, with 64 hex digits")
        number, _, digest = text.partition(":")
        return cls(int(number), digest.lower())


class Checkpoints:
    """The checkpoints of one database. Raises Unavailable when that is away for a while."""

    def __init__(self, pool: Pool) -> None:
        self.database = Database(pool)

    def write(self, signer: Signer, most: int = MOST_POSITIONS) -> Checkpoint | None:
        """Sign the heads of the games that went on since the last checkpoint, at most `most` events
        further; None if none did, or another was faster. Three statements.

        Broken if one of those events is not there.
        """
        number, position, jws, head, now = self.database.run(sql.NEWEST, {})[0]
        number, position = number or 0, position or 0
        until = min(head, position + most)
        if until <= position:
            return None
        heads = []
        rows = self.database.run(sql.CHANGED_HEADS, {"after": position, "until": until})
        for game_id, version, own in rows:
            if own is None:
                raise Broken(f"event {version} of game {game_id} is not there")
            heads.append(Head(game_id, version, own.hex()))
        packed = pack(heads)
        payload = _payload(number + 1, until, packed, None if jws is None else hash_of(jws))
        made = Checkpoint(number + 1, until, packed, signer.sign({**payload, "at": now}))
        return made if self.database.run(sql.ADD, made._asdict()) else None

    def all(self) -> Iterator[Checkpoint]:
        """Every checkpoint, in order."""
        return self._pages(sql.AFTER, 0)

    def _pages(self, statement: LiteralString, number: int) -> Iterator[Checkpoint]:
        while True:
            rows = self.database.run(statement, {"number": number, "limit": _PAGE})
            for row in rows:
                yield Checkpoint(*row)
            if len(rows) < _PAGE:
                return
            number = rows[-1][0]

    def count(self) -> int:
        """How many there are."""
        return int(self.database.run(sql.COUNT, {})[0][0])

    def newest(self) -> str | None:
        """The newest checkpoint as its keeper elsewhere writes it down, `number:hash`."""
        number, _, jws, _, _ = self.database.run(sql.NEWEST, {})[0]
        return None if jws is None else f"{number}:{hash_of(jws)}"

    def check(self, jwks: Mapping[str, Any]) -> Iterator[Check]:
        """Check one checkpoint after the other, each against the events that are there, and give
        the check of each.

        Where it can only be looked at once an archive is attached again, it could not be checked.
        It ends at the first that is not what was signed; games that are not what they were are told
        of checkpoint by checkpoint.
        """
        before: Checkpoint | None = None
        for checkpoint in self.all():
            fault = _fault(checkpoint, before, jwks)
            if fault is not None:
                yield Check(CHECKPOINTS, False, f"checkpoint {checkpoint.number}: {fault}")
                return
            faults, archived = self._changed(unpack(checkpoint.heads))
            if archived and not faults:
                yield Check(CHECKPOINTS, None, f"{archived} of its games are of detached months")
            else:
                yield Check(CHECKPOINTS, not faults, "; ".join(faults))
            before = checkpoint

    def check_kept(self, kept: Kept) -> Check:
        """Check that a checkpoint is still there of which somebody kept the number and the hash."""
        after = self.database.run(sql.AFTER, {"number": kept.number - 1, "limit": 1})
        found = [Checkpoint(*row) for row in after]
        there = [(each.number, each.hash) for each in found] == [kept]
        what = "is there" if there else "is not there"
        return Check(CHECKPOINTS, there, f"the checkpoint {kept.number}:{kept.hash} {what}")

    def check_game(self, game_id: str, jwks: Mapping[str, Any]) -> Check:
        """Check one game against the newest head that was signed of it; where there is none, or it
        is in the archive, it could not be checked.

        The checkpoints are looked at from the newest one back to the one with that head, as a head
        can be hidden by changing the checkpoint that holds it.
        """
        newest_first = self._pages(sql.BEFORE, _BEYOND)
        for checkpoint, before in pairwise(chain(newest_first, [None])):
            assert checkpoint is not None
            fault = _fault(checkpoint, before, jwks)
            if fault is not None:
                return Check(CHECKPOINTS, False, f"checkpoint {checkpoint.number}: {fault}")
            head = _head_of(game_id, checkpoint.heads)
            if head is None:
                continue
            ((own, begun, last, archived),) = self._stored([head])
            if own is None and archived:
                return Check(CHECKPOINTS, None, "its events are in a month that is detached")
            fault = head.missed(f"game {head.game_id}", own, last, begun=begun)
            if fault is not None:
                return Check(CHECKPOINTS, False, fault, head.first_missing(own, last))
            detail = f"event {head.version} is the one that checkpoint {checkpoint.number} signed"
            return Check(CHECKPOINTS, True, detail)
        return Check(CHECKPOINTS, None, NOT_SIGNED)

    def _changed(self, heads: list[Head]) -> tuple[list[str], int]:
        """The games that are not what was signed, and how many cannot be looked at."""
        faults, unseen = [], 0
        for head, (own, begun, last, archived) in zip(heads, self._stored(heads), strict=True):
            if own is None and archived:
                unseen += 1
                continue
            fault = head.missed(f"game {head.game_id}", own, last, begun=begun)
            if fault is not None:
                faults.append(fault)
        return faults, unseen

    def _stored(self, heads: list[Head]) -> list[tuple[str | None, bool, int, bool]]:
        """Of each head what is stored: the hash of that version's event, None if there is none,
        whether there is a summary, the last version where there is no such event, and whether
        the month is detached."""
        parameters = {
            "game_ids": [head.game_id for head in heads],
            "versions": [head.version for head in heads],
        }
        return [
            (None if own is None else own.hex(), begun, last or 0, archived)
            for own, begun, last, archived in self.database.run(sql.STORED_HEADS, parameters)
        ]


def hash_of(jws: str) -> str:
    """The SHA-256 of a signed text, in hex."""
    return hashlib.sha256(jws.encode()).hexdigest()


def pack(heads: list[Head]) -> bytes:
    """The heads as bytes, in the order of ids."""
    return b"".join(
        uuid.UUID(head.game_id).bytes + head.version.to_bytes(4, "big") + bytes.fromhex(head.hash)
        for head in heads
    )


def unpack(heads: bytes) -> list[Head]:
    """The heads that `pack` made the bytes of."""
    return [_head(part) for part in _parts(heads)]


def _parts(heads: bytes) -> Iterator[bytes]:
    return (heads[i : i + _HEAD_BYTES] for i in range(0, len(heads), _HEAD_BYTES))


def _head(part: bytes) -> Head:
    return Head(
        str(uuid.UUID(bytes=part[:16])), int.from_bytes(part[16:20], "big"), part[20:].hex()
    )


def _head_of(game_id: str, heads: bytes) -> Head | None:
    """The head of one game; None where it is not among them."""
    key = uuid.UUID(game_id).bytes
    at = heads.find(key)
    while at % _HEAD_BYTES and at >= 0:
        at = heads.find(key, at + 1)
    return None if at < 0 else _head(heads[at : at + _HEAD_BYTES])


def _payload(number: int, position: int, heads: bytes, before: str | None) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "type": "checkpoint",
        "number": number,
        "position": position,
        "games": len(heads) // _HEAD_BYTES,
        "heads": hashlib.sha256(heads).hexdigest(),
    }
    return payload if before is None else {**payload, "before": before}


def _fault(
    checkpoint: Checkpoint, before: Checkpoint | None, jwks: Mapping[str, Any]
) -> str | None:
    number = 1 if before is None else before.number + 1
    if checkpoint.number != number:
        return f"number {number} is missing"
    if before is not None and checkpoint.position <= before.position:
        return "it covers nothing new"
    try:
        signed = verify(checkpoint.jws, jwks)
    except BadSignature as error:
        return f"the signature: {error}"
    signed.pop("at", None)
    expected = _payload(
        number, checkpoint.position, checkpoint.heads, None if before is None else before.hash
    )
    if signed != expected or len(checkpoint.heads) % _HEAD_BYTES:
        return "what was signed is not what is stored"
    return None
