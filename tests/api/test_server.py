"""The application as it is served: gunicorn with a gevent worker, over real sockets."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection

import psycopg
import pytest

from tests.api.server import serving
from tests.databases import Scratch

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def port(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with serving(scratch, tmp_path_factory.mktemp("server")) as server:
        yield server.port


def _status(port: int, method: str, path: str, body: object = None) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, JSON if text else {})
        return connection.getresponse().status
    finally:
        connection.close()


def _raw(port: int, request: bytes, *, ends: bool = False) -> bytes:
    """All that is answered to these bytes, to the end of the connection; a reset is an error.
    `ends`: nothing more will be sent, and the server is told so."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(request)
        if ends:
            client.shutdown(socket.SHUT_WR)
        answer = b""
        while part := client.recv(65536):
            answer += part
    return answer


def test_a_slow_database_stops_nobody_else(port: int, scratch: Scratch) -> None:
    statuses: list[int] = []

    def register() -> None:
        statuses.append(_status(port, "POST", "/v1/players", {"name": "A"}))

    with psycopg.connect(scratch.admin_url) as blocker:
        blocker.execute("LOCK TABLE players IN ACCESS EXCLUSIVE MODE")
        waiting = threading.Thread(target=register)
        waiting.start()
        time.sleep(0.3)
        # Answered while the other one waits: the lock is held until then.
        assert _status(port, "GET", "/v1/rulesets") == 200
        assert statuses == []
    waiting.join(60)
    assert statuses == [201]


@pytest.mark.parametrize(
    ("size", "status"), [(60_000, 422), (65_537, 413), (70_000, 413), (900_000, 413)]
)
def test_a_chunked_body(port: int, size: int, status: int) -> None:
    body = b'{"name": "' + b"x" * (size - 12) + b'"}'
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    head = (
        b"POST /v1/players HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    answer = _raw(port, head + chunks)
    assert answer.startswith(b"HTTP/1.1 %d " % status)


@pytest.mark.parametrize("size", [65_537, 70_000, 900_000])
def test_too_large_a_body(port: int, size: int) -> None:
    head = (
        b"POST /v1/nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n"
        b"Connection: close\r\n\r\n" % size
    )
    assert _raw(port, head + b"x" * size).startswith(b"HTTP/1.1 413 ")


def test_an_encoded_slash(port: int) -> None:
    assert _status(port, "GET", "/v1%2Frulesets") == 404
    assert _status(port, "GET", "/v1/rulesets%2Fhalleluja") == 404
    assert _status(port, "GET", "/v1/rulesets/halleluja") == 200


HEAD = b"Host: abbot\r\nContent-Type: application/json\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"POST /v1/players HTTP/1.1\r\n" + CHUNKED + b"ZZ\r\n", 400, "malformed-request"),
        (b"POST /v1/players HTTP/1.1\r\n" + CHUNKED + b"-5\r\n", 400, "malformed-request"),
        (b"POST /v1/players HTTP/1.1\r\n" + CHUNKED + b"\r\n", 400, "malformed-request"),
        (b"POST /v1/players HTTP/1.1\r\n" + CHUNKED + b"2\r\n{}}}\r\n", 400, "malformed-request"),
        (b"GET /v1/me HTTP/1.1\r\n" + CHUNKED + b"5\r\n{}", 400, "malformed-request"),
        (b"POST /v1/players HTTP/1.1\r\n" + HEAD + b"Content-Length: 99\r\n\r\n{}", 400,
         "malformed-request"),
        (b"nonsense\r\n\r\n", 400, "malformed-request"),
        (b"GET / HTTP/9.9\r\n\r\n", 400, "malformed-request"),
        (b"GET /healthz HTTP/1.1\r\nTransfer-Encoding: foo\r\n\r\n", 400, "malformed-request"),
        (b"GET /healthz HTTP/1.1\r\nExpect: x\r\n\r\n", 400, "malformed-request"),
        (b"GET /healthz HTTP/1.1\r\nA: b\r\nContent-Length: x\r\n\r\n", 400, "malformed-request"),
        (b"GET /?" + b"x" * 9000 + b" HTTP/1.1\r\n\r\n", 414, "too-large"),
        (b"GET / HTTP/1.1\r\nA: " + b"x" * 9000 + b"\r\n\r\n", 431, "too-large"),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 300 + b"\r\n", 431, "too-large"),
    ],
)  # fmt: skip
def test_what_is_no_request_is_answered_with_a_problem(
    port: int, sent: bytes, status: int, code: str
) -> None:
    answer = _raw(port, sent, ends=True)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), answer
    assert b"content-type: application/problem+json" in head.lower()
    problem = json.loads(body)
    assert (problem["status"], problem["code"]) == (status, code)
    assert b"xxxx" not in body


@pytest.mark.parametrize("unread", [20_000, 500_000])
@pytest.mark.parametrize(
    "start",
    [
        b"nonsense\r\n\r\n",
        b"GET /?" + b"x" * 9000,
        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 300 + b"\r\n",
        b"POST /v1/players HTTP/1.1\r\n" + CHUNKED + b"ZZ\r\n",
        b"POST /v1/players HTTP/1.1\r\n" + HEAD + b"Content-Length: 5000000\r\n\r\n",
    ],
)
def test_an_answer_is_never_lost_to_what_was_left_unread(
    port: int, start: bytes, unread: int
) -> None:
    assert _raw(port, start + b"x" * unread).startswith(b"HTTP/1.1 4")


def test_a_body_that_was_cut_off_changes_nothing(port: int, scratch: Scratch) -> None:
    before = scratch.execute("SELECT count(*) FROM players")
    body = b'{"name": "Cut"}'
    for announced in (len(body) + 1, 400):
        length = b"Content-Length: %d\r\n\r\n" % announced
        request = b"POST /v1/players HTTP/1.1\r\n" + HEAD + length + body
        assert _raw(port, request, ends=True).startswith(b"HTTP/1.1 400 ")
    assert scratch.execute("SELECT count(*) FROM players") == before
