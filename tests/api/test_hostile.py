"""Clients that mean no good, against the real server: they stop nobody else."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection

import pytest

from tests.api.server import Server, serving
from tests.databases import Scratch

SLOW = 150
"""Connections of one attack."""


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(
        scratch,
        tmp_path_factory.mktemp("hostile"),
        ABBOT_TRUSTED_PROXIES="127.0.0.1",
        ABBOT_REQUESTS_PER_ADDRESS="50",
    ) as server:
        yield server


def ask(server: Server, path: str = "/v1/rulesets", address: str = "") -> int:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        headers = {"X-Forwarded-For": address} if address else {}
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def connect(server: Server, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    client.sendall(sent)
    return client


def rest(client: socket.socket) -> bytes:
    """All that still comes."""
    received = b""
    try:
        while part := client.recv(65536):
            received += part
    except ConnectionResetError:
        pass
    return received


def test_slow_heads_stop_nobody_and_are_let_go(server: Server) -> None:
    with ExitStack() as closing:
        slow = [connect(server, b"GET /v1/rulesets HTTP/1.1\r\nHost: a\r\nX-") for _ in range(SLOW)]
        for client in slow:
            closing.enter_context(client)
        assert ask(server) == 200
        until = time.monotonic() + 60
        for client in slow:
            # One more byte now and then keeps nothing open.
            try:
                client.sendall(b"a")
            except OSError:
                continue
        assert all(rest(client) == b"" for client in slow)
        assert time.monotonic() < until, "the connections were kept open"
        assert ask(server) == 200


def test_slow_bodies_stop_nobody(server: Server) -> None:
    head = (
        b"POST /v1/players HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        b"Content-Length: 1000\r\n\r\n{"
    )
    with ExitStack() as closing:
        for _ in range(SLOW):
            closing.enter_context(connect(server, head))
        assert [ask(server) for _ in range(5)] == [200] * 5


def test_idle_connections_stop_nobody(server: Server) -> None:
    with ExitStack() as closing:
        for _ in range(SLOW):
            closing.enter_context(connect(server))
        assert ask(server) == 200


@pytest.mark.parametrize(
    "junk",
    [
        b"\x00" * 50_000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 100 + b"\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00" * 100,
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"GET /" + b"z" * 100_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
def test_junk_is_refused_and_the_connection_closed(server: Server, junk: bytes) -> None:
    good = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    with connect(server) as client:
        try:
            client.sendall(good + junk)
            client.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        answer = rest(client)
    # What came before the junk was answered; what came after it is not.
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 4" in answer
    assert ask(server) == 200


def test_pipelined_requests_are_answered_in_order_and_counted(server: Server) -> None:
    one = b"GET /v1/rulesets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.77\r\n%b\r\n"
    with connect(server, one % b"" * 59 + one % b"Connection: close\r\n") as client:
        answer = rest(client)
    statuses = [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [200] * 50 + [429] * 10
    assert ask(server, address="192.0.2.77") == 429
    assert ask(server, address="192.0.2.78") == 200


def test_so_many_connections_from_one_address(
    scratch: Scratch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = own_address()
    folder = tmp_path_factory.mktemp("connections")
    with serving(
        scratch, folder, ABBOT_HOST="0.0.0.0", ABBOT_CONNECTIONS_PER_ADDRESS="5"
    ) as server:
        with ExitStack() as closing:
            held = []
            for _ in range(5):
                client = closing.enter_context(
                    socket.create_connection((own, server.port), timeout=60)
                )
                # A wait keeps a connection longer than an idle one is kept.
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
                held.append(client)
            with socket.create_connection((own, server.port), timeout=60) as client:
                head, _, body = rest(client).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 429 ")
            assert b"Retry-After: 5" in head
            assert json.loads(body)["code"] == "rate-limited"
            # This machine itself is not counted.
            assert ask(server) == 200
        deadline = time.monotonic() + 60
        while True:
            with socket.create_connection((own, server.port), timeout=60) as client:
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                if rest(client).startswith(b"HTTP/1.1 200 "):
                    break
            assert time.monotonic() < deadline


def own_address() -> str:
    """An address of this machine that is not its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Sends nothing: it only asks for the route.
            probe.connect(("192.0.2.1", 9))
            own = str(probe.getsockname()[0])
        except OSError:
            own = "127.0.0.1"
    if own.startswith("127."):
        pytest.skip("this machine has no address but its loopback")
    return own
