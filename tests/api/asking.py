"""Single requests to a running server, each on a connection of its own, and many at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any, TypeVar

T = TypeVar("T")
SECONDS = 60.0


@dataclass(frozen=True)
class Reply:
    """What came back; `body` is None where there is none, and text where it is no JSON."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> str:
        """The problem's code; "" where it is none."""
        return str(self.body.get("code", "")) if isinstance(self.body, dict) else ""


def ask(
    port: int,
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """One request, on whichever process takes the connection; nothing is tried again."""
    connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        return ask_on(connection, method, path, body, token=token, headers=headers)
    finally:
        connection.close()


def ask_on(
    connection: HTTPConnection,
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """The same on a connection that is open already, and so on its process."""
    sent = dict(headers or {})
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    if body is not None:
        sent["Content-Type"] = "application/json"
    connection.request(method, path, None if body is None else json.dumps(body), sent)
    answer = connection.getresponse()
    raw = answer.read()
    named = {name.lower(): value for name, value in answer.getheaders()}
    kind = named.get("content-type", "").partition(";")[0]
    told = json.loads(raw) if raw and kind.endswith("json") and "ndjson" not in kind else raw
    return Reply(answer.status, named, told or None)


def at_once(actions: list[Callable[[], T]]) -> list[T]:
    """What the actions give, all begun at the same instant."""
    barrier = threading.Barrier(len(actions))

    def run(action: Callable[[], T]) -> T:
        barrier.wait(SECONDS)
        return action()

    with ThreadPoolExecutor(len(actions)) as threads:
        return list(threads.map(run, actions))


@contextmanager
def meanwhile(action: Callable[[], object]) -> Iterator[None]:
    """Do `action` over and over in a thread of its own while the block runs, at least once; what it
    raises is raised at the end."""
    enough, first = threading.Event(), threading.Event()
    faults: list[BaseException] = []

    def run() -> None:
        try:
            while not (enough.is_set() and first.is_set()):
                action()
                first.set()
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join(SECONDS)
    assert not thread.is_alive()
    if faults:
        raise faults[0]
