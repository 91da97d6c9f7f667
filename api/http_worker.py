"""The process that serves HTTP: gunicorn's gevent worker, which answers what is no request with a
problem, as everything else is answered (RFC 9457), and closes no connection on an answer that is
still under way."""

from __future__ import annotations

import contextlib
import errno
import json
import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import gevent
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

from api import addresses
from eventstore.settings import Settings

_MALFORMED = (400, "Bad Request", "malformed-request", "The request is malformed")
_TOO_MANY = (429, "Too Many Requests", "rate-limited", "Too many at a time")
_LONG_LINE = (414, "URI Too Long", "too-large", "The request is too large")
_LONG_HEADERS = (431, "Request Header Fields Too Large", "too-large", "The request is too large")

LINGER_SECONDS = 2.0
LINGER_BYTES = 1024 * 1024
"""How long, and for how much, a connection that is closed still takes what its client sends."""
HURRIED_LINGER_SECONDS = 0.3
"""The same when the process is stopping."""
BODY_SECONDS = 30.0
"""How long a client may take to send the body of a request. (What comes before the body has as long
as gunicorn's `keepalive`.)"""
SEND_SECONDS = 30.0
"""How long a client may read nothing of what it is sent."""
_SEND_BYTES = 256 * 1024


class Connection(gevent.socket.socket):  # type: ignore[misc]
    """A client's connection. Closing it leaves the client the answer.

    A socket that is closed while it holds something unread resets the connection, and a reset can
    reach the client before it has read the answer (RFC 9112, section 9.6). So the end of the
    answer is told first, and what the client still sends is read away for a while.
    """

    lingered = False
    linger_seconds = LINGER_SECONDS
    body_until: float | None = None
    """By when (monotonic) the body of the request under way must have come."""

    def recv(self, *args: Any) -> bytes:
        """What the client sends next; one that takes too long for a body is let go."""
        if self.body_until is None or self.lingered:
            return super().recv(*args)  # type: ignore[no-any-return]
        before = self.gettimeout()
        try:
            self.settimeout(max(0.001, self.body_until - time.monotonic()))
            return super().recv(*args)  # type: ignore[no-any-return]
        except TimeoutError:
            raise ConnectionResetError(errno.ECONNRESET, "the body takes too long") from None
        finally:
            with contextlib.suppress(OSError):
                self.settimeout(before)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send all of `data`; a client that takes nothing of it for a while is let go."""
        rest = memoryview(data).cast("B")
        before = self.gettimeout()
        self.settimeout(SEND_SECONDS)
        try:
            while rest:
                rest = rest[self.send(rest[:_SEND_BYTES], flags) :]
        except TimeoutError:
            # Nor is it worth keeping for it what has not been sent.
            self.lingered = True
            with contextlib.suppress(OSError):
                self.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raise ConnectionResetError(errno.ECONNRESET, "the client does not read") from None
        finally:
            with contextlib.suppress(OSError):
                self.settimeout(before)

    def end_reading(self) -> None:
        """Take nothing more from the client; what has come already is still read."""
        with contextlib.suppress(OSError):
            # Not by way of gevent, which would end the wait of whoever reads with an error.
            self._sock.shutdown(socket.SHUT_RD)

    def on_hangup(self, callback: Callable[[], Any]) -> Callable[[], None]:
        """Have `callback` called, from the event loop, once the client closes the connection or
        its side of it. What is returned ends that."""
        readable = gevent.get_hub().loop.io(self.fileno(), 1)

        def look() -> None:
            try:
                more = self._sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:
                more = b""
            # A client that sends on cannot be watched: what it sent is for the next request.
            readable.stop()
            if not more:
                callback()

        def end() -> None:
            readable.stop()
            readable.close()

        readable.start(look)
        return end

    def close(self) -> None:
        """Close, after lingering for as long as the client still sends, within bounds."""
        if self.lingered or self.fileno() < 0:
            super().close()
            return
        self.lingered = True
        util.close_graceful(self, self.linger_seconds, LINGER_BYTES)


class HttpWorker(GeventWorker):
    """Serves HTTP; one process with many greenlets."""

    wsgi: Any = None
    """The application, once it is loaded; a process may be told to stop before."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._idle: set[Connection] = set()
        """Connections on which no request is under way."""
        self._connections: Counter[str | None] = Counter()
        """How many there are by the address of their client."""
        self._most = 0
        self._trusted: tuple[Any, ...] = ()

    def init_process(self) -> None:
        """Serve, until told to stop."""
        settings = Settings.from_env()
        self._most = settings.connections_per_address
        self._trusted = addresses.networks(settings.trusted_proxies)
        super().init_process()

    def _let_go(self) -> None:
        # Imported as late as the heartbeat, and for the same reason.
        from api import services

        if self.wsgi is not None:
            services.stop(self.wsgi)
        for connection in list(self._idle):
            connection.linger_seconds = HURRIED_LINGER_SECONDS
            connection.end_reading()

    def handle(self, listener: Any, client: socket.socket, addr: Any) -> None:
        """Serve a connection to its end."""
        kind = (client.family, client.type, client.proto)
        connection = Connection(*kind, fileno=client.detach())
        address = self._counted(addr)
        if address is not None and self._connections[address] >= self._most:
            self._refuse(connection)
            return
        self._connections[address] += 1
        self._idle.add(connection)
        try:
            super().handle(listener, connection, addr)
        finally:
            self._idle.discard(connection)
            self._connections[address] -= 1
            if not self._connections[address]:
                del self._connections[address]

    def _counted(self, addr: Any) -> str | None:
        """By what a connection is counted; None for this machine and for proxies that are trusted,
        behind which there are many clients."""
        peer = str(addr[0]) if isinstance(addr, tuple) and addr else ""
        return None if addresses.within(peer, self._trusted) else addresses.client(peer, (), ())

    def _refuse(self, connection: Connection) -> None:
        connection.linger_seconds = HURRIED_LINGER_SECONDS
        with contextlib.suppress(OSError):
            connection.settimeout(1.0)
            connection.sendall(_problem(*_TOO_MANY, "Too many connections are open from here."))
        connection.close()

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Serve one request of a connection."""
        self._idle.discard(sock)
        sock.body_until = time.monotonic() + BODY_SECONDS
        try:
            super().handle_request(listener_name, req, sock, addr)
        finally:
            sock.body_until = None
            if self.alive:
                self._idle.add(sock)
            else:
                sock.linger_seconds = HURRIED_LINGER_SECONDS

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Finish what is under way and end; no new connection is accepted from now on, and whoever
        waits for something need wait no longer."""
        _stop_heartbeat()
        super().handle_exit(sig, frame)
        # Not here: a signal comes between any two steps of what runs.
        gevent.spawn(self._let_go)

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
    return _problem(status, reason, code, title, detail)


def _problem(status: int, reason: str, code: str, title: str, detail: str) -> bytes:
    problem = {
        "type": f"/problems/{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "code": code,
    }
    body = json.dumps(problem).encode()
    more = "Retry-After: 5\r\n" if status == 429 else ""
    head = (
        f"HTTP/1.1 {status} {reason}\r\n"
        "Connection: close\r\n"
        "Content-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: private, no-cache\r\n"
        "Vary: Authorization\r\n"
        f"{more}"
        "\r\n"
    )
    return head.encode() + body


def _stop_heartbeat() -> None:
    # Not to be imported sooner: this module is loaded before the standard library is patched.
    from api import heartbeat

    heartbeat.stop()
