"""A real HTTP server that receives webhooks, and does with them what a test wants."""

from __future__ import annotations

import contextlib
import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        """What it said."""
        message: dict[str, Any] = json.loads(self.body)
        return message

    @property
    def id(self) -> str:
        """Which message it was."""
        return self.headers["webhook-id"]


Behaviour = Callable[["Receiver", BaseHTTPRequestHandler], None]


def takes(_: Receiver, handler: BaseHTTPRequestHandler) -> None:
    """Answer 204."""
    handler.send_response(204)
    handler.end_headers()


def answers(status: int, **headers: str) -> Behaviour:
    """Answer with a status."""

    def answer(_: Receiver, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def hangs(receiver: Receiver, _: BaseHTTPRequestHandler) -> None:
    """Answer nothing, until the test is over."""
    receiver.over.wait(120)


@dataclass
class Receiver:
    """The server: what came, and what it does."""

    behaviour: Behaviour = takes
    received: list[Received] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    port: int = 0
    tls: bool = False

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/hook?a=b"

    def messages(self, type_: str) -> list[dict[str, Any]]:
        """The messages of that type."""
        return [each.message for each in self.received if each.message["type"] == type_]


@contextlib.contextmanager
def receiver(
    behaviour: Behaviour = takes, context: ssl.SSLContext | None = None
) -> Iterator[Receiver]:
    """A running server."""
    state = Receiver(behaviour, tls=context is not None)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.received.append(Received(self.path, headers, body))
            with contextlib.suppress(OSError):
                state.behaviour(state, self)

        def log_message(self, *_: object) -> None:
            """Nobody need read of it."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Those who hang up."""

    server = Server(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.over.set()
        server.shutdown()
        server.server_close()
