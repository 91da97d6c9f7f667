"""What an archive of a month holds, told so that it can be compared with the month's table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_MODULUS = 1 << 256

COLUMNS = ("game_id", "version", "body", "hash")
"""Of the record, in the order in which its rows are compared."""


class Contents(NamedTuple):
    """How many events there are, and what tells them from any others, whatever their order."""

    events: int
    digest: str


def contents(rows: Iterable[bytes]) -> Contents:
    """Of rows in the text form of COPY, without line ends."""
    events = total = 0
    for row in rows:
        events += 1
        # A sum, as a dump has the order of the heap, which a restored table need not have.
        total += int.from_bytes(hashlib.sha256(row).digest())
    return Contents(events, f"{total % _MODULUS:064x}")


def rows_of(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream that comes in blocks."""
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
    if rest:
        yield rest
