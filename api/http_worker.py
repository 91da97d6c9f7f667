"""The process that serves HTTP: gunicorn's gevent worker, which answers what is no request with a
problem, as everything else is answered (RFC 9457), and closes no connection on an answer that is
still under way."""

from __future__ import annotations

import json
import socket
from typing import Any

import gevent.socket
from gunicorn import util
from gunicorn.http.errors import (
    InvalidResponseHeader,
    InvalidResponseHeaderName,
    LimitRequestHeaders,
    LimitRequestLine,
    ParseException,
)
from gunicorn.workers.ggevent import GeventWorker

_MALFORMED = (400, "Bad Request", "malformed-request", "The request is malformed")
_LONG_LINE = (414, "URI Too Long", "too-large", "The request is too large")
_LONG_HEADERS = (431, "Request Header Fields Too Large", "too-large", "The request is too large")

LINGER_SECONDS = 2.0
LINGER_BYTES = 1024 * 1024
"""How long, and for how much, a connection that is closed still takes what its client sends."""


class Connection(gevent.socket.socket):  # type: ignore[misc]
    """A client's connection. Closing it leaves the client the answer.

    A socket that is closed while it holds something unread resets the connection, and a reset can
    reach the client before it has read the answer (RFC 9112, section 9.6). So the end of the
    answer is told first, and what the client still sends is read away for a while.
    """

    lingered = False

    def close(self) -> None:
        """Close, after lingering for as long as the client still sends, within bounds."""
        if self.lingered or self.fileno() < 0:
            super().close()
            return
        self.lingered = True
        util.close_graceful(self, LINGER_SECONDS, LINGER_BYTES)


class HttpWorker(GeventWorker):
    """Serves HTTP; one process with many greenlets."""

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection to its end."""
        kind = (client.family, client.type, client.proto)
        super().handle(listener, Connection(*kind, fileno=client.detach()), addr)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Finish what is under way and end; no new connection is accepted from now on."""
        _stop_heartbeat()
        super().handle_exit(sig, frame)

    def handle_quit(self, sig: int, frame: Any) -> None:
        """End at once."""
        _stop_heartbeat()
        super().handle_quit(sig, frame)

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: BaseException) -> None:
        """Answer a request that could not be read, and let the connection go.

        What was sent is neither echoed nor logged: it can hold anything.
        """
        ours = (InvalidResponseHeader, InvalidResponseHeaderName)
        if not isinstance(exc, ParseException) or isinstance(exc, ours):
            super().handle_error(req, client, addr, exc)
            return
        self.log.info("A request could not be read: %s", type(exc).__name__)
        try:
            client.sendall(_answer(exc))
        except OSError:
            self.log.debug("Its client had gone.")


def _answer(error: ParseException) -> bytes:
    status, reason, code, title = _MALFORMED
    detail = "This is not an HTTP/1.1 request that can be read."
    if isinstance(error, LimitRequestLine):
        status, reason, code, title = _LONG_LINE
        detail = "The request line is too long."
    elif isinstance(error, LimitRequestHeaders):
        status, reason, code, title = _LONG_HEADERS
        detail = "There are too many header fields, or they are too long."
    problem = {
        "type": f"/problems/{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    body = json.dumps(problem).encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: private, no-cache\r\n"
        "Vary: Authorization\r\n"
        "\r\n"
    )
    return head.encode() + body


def _stop_heartbeat() -> None:
    # Not to be imported sooner: this module is loaded before the standard library is patched.
    from api import heartbeat

    heartbeat.stop()
