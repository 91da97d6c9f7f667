"""A reader of a game's stream, as a client developer would write one."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any

from tests.workers.servers import wait_for

PATIENCE = 60.0


class Listener:
    """Reads a stream in a thread of its own, until it ends or is closed.

    events: what came as `data`, with `ids`; end: what came with `event: end`; closed: whether the
    server ended it.
    """

    def __init__(
        self,
        port: int,
        path: str,
        token: str | None = None,
        *,
        last_event_id: int | None = None,
        most: int | None = None,
        player: str | None = None,
    ) -> None:
        self.events: list[dict[str, Any]] = []
        self.ids: list[int] = []
        self.comments: list[str] = []
        self.retries: list[int] = []
        self.end: dict[str, Any] | None = None
        self.closed = threading.Event()
        self.raw = b""
        self._most = most
        self._connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        headers = {"Accept": "text/event-stream"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        if player is not None:
            headers["Abbot-Player"] = player
        if last_event_id is not None:
            headers["Last-Event-ID"] = str(last_event_id)
        self._connection.request("GET", path, headers=headers)
        # The response may take the socket from the connection.
        self._socket = self._connection.sock
        self.answer: HTTPResponse = self._connection.getresponse()
        self.status = self.answer.status
        self._thread = threading.Thread(target=self._read, daemon=True)
        if self.status == 200:
            self._thread.start()
        else:
            self.raw = self.answer.read()
            self.closed.set()

    @property
    def problem(self) -> Any:
        return json.loads(self.raw)

    def _read(self) -> None:
        fields: dict[str, str] = {}
        try:
            while line := self.answer.readline():
                self.raw += line
                text = line.decode().rstrip("\n")
                if not text:
                    self._dispatch(fields)
                    fields = {}
                    if self._most is not None and len(self.events) >= self._most:
                        self._hang_up()
                        return
                elif text.startswith(":"):
                    self.comments.append(text)
                else:
                    name, _, value = text.partition(":")
                    fields[name] = value.removeprefix(" ")
        except (OSError, HTTPException, ValueError):
            return
        self.closed.set()

    def _dispatch(self, fields: dict[str, str]) -> None:
        if "retry" in fields:
            self.retries.append(int(fields["retry"]))
        if "data" not in fields:
            return
        if fields.get("event") == "end":
            self.end = json.loads(fields["data"])
            return
        assert "event" not in fields
        self.events.append(json.loads(fields["data"]))
        self.ids.append(int(fields["id"]))

    def _hang_up(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Go away without a word."""
        self._hang_up()
        if self._thread.is_alive():
            self._thread.join(PATIENCE)
        self.answer.close()
        self._connection.close()

    def wait(self, until: Callable[[], object], said: str = "the stream brings it") -> None:
        """Wait for a condition."""
        wait_for(until, PATIENCE, said)

    def wait_for_version(self, version: int) -> None:
        """Wait until the stream has brought that version."""
        self.wait(lambda: self.ids and self.ids[-1] >= version, f"version {version} comes")

    def join(self) -> None:
        """Wait until nothing more is read."""
        if self._thread.is_alive():
            self._thread.join(PATIENCE)
        assert not self._thread.is_alive()
