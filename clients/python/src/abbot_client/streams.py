"""Server-sent events, as far as Abbot sends them (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """One message. `retry`: milliseconds to wait before coming again, if it says so."""

    event: str
    data: str
    retry: int | None


def messages(lines: Iterable[str]) -> Iterator[Message]:
    """The messages in the lines of a stream. One that was cut off before its end is none."""
    event, retry = "message", None
    data: list[str] = []
    for line in lines:
        if not line:
            if data or retry is not None:
                yield Message(event, "\n".join(data), retry)
            event, data, retry = "message", [], None
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            event = value
        elif field == "data":
            data.append(value)
        elif field == "retry" and value.isdecimal():
            retry = int(value)
