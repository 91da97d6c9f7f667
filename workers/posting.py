"""One HTTP request to an address that was looked at before, bounded in time and size."""

from __future__ import annotations

import io
import socket
import ssl
import time
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any, NamedTuple

from eventstore.destinations import ClosedAddress, Destination, Destinations, Unfit

SECONDS = 10.0
"""From the name's look-up to the end of the answer's head."""

CONNECT_SECONDS = 3.0
"""For each address, while there is another."""

MOST_ADDRESSES = 3

MOST_BYTES = 32 * 1024
"""Of an answer's head. Nobody reads its body."""

LONGEST_RETRY_AFTER = 24 * 3600
USER_AGENT = "Abbot-Webhooks/1"


class Reply(NamedTuple):
    """What came of a request: a status, or an error instead."""

    status: int | None
    error: str | None
    seconds: float
    retry_after: float = 0.0

    @property
    def delivered(self) -> bool:
        """Whether the receiver took it."""
        return self.status is not None and 200 <= self.status < 300


class Poster:
    """Sends requests, from any thread. No redirect is followed and no proxy is asked."""

    def __init__(
        self,
        destinations: Destinations,
        *,
        context: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._destinations = destinations
        self._context = context or ssl.create_default_context()
        self._seconds = seconds

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """POST `body`. Never raises for what a receiver does."""
        began = time.monotonic()
        error, status, retry_after = None, None, 0.0
        try:
            status, retry_after = self._post(url, headers, body, began + self._seconds)
        except (Unfit, ClosedAddress):
            error = "closed-address"
        except socket.gaierror:
            error = "unresolved"
        except TimeoutError:
            error = "timeout"
        except ssl.SSLError:
            error = "tls"
        except (HTTPException, ValueError):
            error = "not-http"
        except OSError:
            error = "unreachable"
        return Reply(status, error, time.monotonic() - began, retry_after)

    def _post(
        self, url: str, headers: Mapping[str, str], body: bytes, until: float
    ) -> tuple[int, float]:
        destination = self._destinations.parse(url)
        addresses = self._destinations.addresses(destination)
        with self._connected(destination, addresses[:MOST_ADDRESSES], until) as connected:
            request = HTTPConnection(destination.host, destination.port)
            request.sock = connected
            request.response_class = lambda sock, **more: HTTPResponse(  # type: ignore[assignment]
                _Bounded(sock, until), **more
            )
            request.putrequest(
                "POST", destination.target, skip_host=True, skip_accept_encoding=True
            )
            sent = {
                "Host": destination.authority,
                "User-Agent": USER_AGENT,
                "Content-Type": "application/json",
                "Content-Length": str(len(body)),
                "Connection": "close",
                **headers,
            }
            for name, value in sent.items():
                request.putheader(name, value)
            connected.settimeout(_left(until))
            request.endheaders(body)
            answer = request.getresponse()
            return answer.status, _retry_after(answer)

    def _connected(
        self, destination: Destination, addresses: list[str], until: float
    ) -> socket.socket:
        for address in addresses[:-1]:
            try:
                plain = _connect(address, destination.port, min(CONNECT_SECONDS, _left(until)))
                break
            except OSError:
                continue
        else:
            plain = _connect(addresses[-1], destination.port, _left(until))
        if not destination.tls:
            return plain
        try:
            plain.settimeout(_left(until))
            return self._context.wrap_socket(plain, server_hostname=destination.host)
        except BaseException:
            plain.close()
            raise


def _connect(address: str, port: int, seconds: float) -> socket.socket:
    # An address, so nothing is looked up here.
    return socket.create_connection((address, port), timeout=seconds)


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _retry_after(answer: HTTPResponse) -> float:
    text = answer.headers.get("Retry-After", "").strip()
    if answer.status not in (429, 503) or not text.isascii() or not text.isdecimal():
        return 0.0
    return float(min(int(text[:9]), LONGEST_RETRY_AFTER))


class _Bounded(io.RawIOBase):
    """What a socket receives until a moment, and no more than so many bytes."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._until = until
        self._left = MOST_BYTES

    def makefile(self, *_: Any) -> io.BufferedReader:
        """As of a socket, for HTTPResponse."""
        return io.BufferedReader(self, 4096)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._left <= 0:
            raise HTTPException("the answer is too long")
        self._sock.settimeout(_left(self._until))
        count = self._sock.recv_into(buffer)
        self._left -= count
        return count
