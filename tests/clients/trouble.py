"""A bad connection: a proxy that loses, cuts, doubles and holds what goes through it."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATIENCE = 60.0
CHUNK = 512
NOT_PASSED_ON = {"connection", "content-length", "host", "keep-alive", "transfer-encoding"}

MOVES = ("lost", "twice", "turned-away", "unsent")
"""What becomes of the first moves: the answer is lost; it comes twice at once; something in between
answers; it gets nowhere. Later ones are left alone, so that a test takes no longer than it must."""
READS = ("fine", "cut", "fine", "unsent", "turned-away", "fine", "cut", "unsent")
STREAMS = (900, "rewound", 4000)
"""What becomes of the first streams: cut after so many bytes, or begun from the first event."""
PAGE = b"<html>Bad gateway</html>"


class Trouble(ThreadingHTTPServer):
    """In front of the server at `port`, at `url`.

    next: what becomes of the next request of a kind (`move`, `read`, `stream`, `other`), where that
    is said. did: how often each fault has happened. answers: for each Idempotency-Key the versions
    of the events in every answer that the server has given to it.
    """

    daemon_threads = True

    def __init__(self, port: int) -> None:
        self.upstream = port
        self.did: Counter[str] = Counter()
        self.answers: dict[str, list[tuple[int, ...]]] = defaultdict(list)
        self.refusals: list[str] = []
        self.errors: list[BaseException | None] = []
        self.offline = False
        self.next: dict[str, str] = {}
        self.holding = threading.Event()
        self._guard = threading.Lock()
        self._plans = {
            kind: itertools.chain(map(str, plan), itertools.repeat("fine"))
            for kind, plan in (("move", MOVES), ("read", READS), ("stream", STREAMS), ("other", ()))
        }
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"

    def fault(self, kind: str) -> str:
        """What becomes of the next request of a kind."""
        with self._guard:
            if self.offline:
                self.did["offline"] += 1
                return "unsent"
            return self.next.pop(kind, None) or next(self._plans[kind])

    def note(self, fault: str) -> None:
        with self._guard:
            self.did[fault] += 1

    def note_answer(self, key: str, status: int, body: bytes) -> None:
        """What the server has said to a move."""
        said = json.loads(body)
        with self._guard:
            if status == 201:
                self.answers[key].append(tuple(event["version"] for event in said["events"]))
            else:
                self.refusals.append(said["code"])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client or a server that has gone is no error."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError | HTTPException):
            self.errors.append(error)


class Handler(BaseHTTPRequestHandler):
    """One request of a client; each has a connection of its own."""

    server: Trouble

    def do_GET(self) -> None:
        self._serve("stream" if self.path.partition("?")[0].endswith("/stream") else "read")

    def do_POST(self) -> None:
        self._serve("move" if self.path.endswith("/moves") else "other")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def _serve(self, kind: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        fault = self.server.fault(kind)
        if fault == "turned-away":
            self._answer(502, {"Content-Type": "text/html"}, PAGE)
        elif fault == "twice":
            with contextlib.ExitStack() as stack:
                other = threading.Thread(target=self._ask, args=(body,))
                other.start()
                stack.callback(other.join)
                self._answer(*self._ask(body))
        elif kind == "stream" and fault != "unsent":
            self._stream(int(fault) if fault.isdecimal() else None, rewound=fault == "rewound")
            fault = "stream cut" if fault.isdecimal() else fault
        elif fault != "unsent":
            status, headers, answer = self._ask(body)
            if fault == "held":
                self.server.holding.set()
                # Until the client has gone.
                self.connection.settimeout(PATIENCE)
                with contextlib.suppress(OSError):
                    self.connection.recv(1)
            elif fault != "lost":
                self._answer(status, headers, answer, cut=fault == "cut")
        self.server.note(fault)

    def _upstream(self, body: bytes | None) -> HTTPConnection:
        connection = HTTPConnection("127.0.0.1", self.server.upstream, timeout=PATIENCE)
        passed = {
            name: value for name, value in self.headers.items() if name.lower() not in NOT_PASSED_ON
        }
        connection.request(self.command, self.path, body or None, passed)
        return connection

    def _ask(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = self._upstream(body)
        with contextlib.closing(connection):
            response = connection.getresponse()
            answer = response.read()
        key = self.headers.get("Idempotency-Key")
        if self.path.endswith("/moves"):
            assert key is not None, "a move has a key"
            self.server.note_answer(key, response.status, answer)
        return response.status, dict(response.getheaders()), answer

    def _answer(
        self, status: int, headers: dict[str, str], body: bytes, *, cut: bool = False
    ) -> None:
        self._head(status, headers)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in NOT_PASSED_ON:
                self.send_header(name, value)

    def _stream(self, most: int | None, *, rewound: bool) -> None:
        if rewound:
            self.path = self.path.partition("?")[0]
            del self.headers["Last-Event-ID"]
        connection = self._upstream(None)
        with contextlib.closing(connection), contextlib.suppress(OSError, HTTPException):
            response = connection.getresponse()
            self._head(response.status, dict(response.getheaders()))
            self.end_headers()
            sent = 0
            while not self.server.offline and (piece := response.read1(CHUNK)):
                self.wfile.write(piece[: most - sent] if most is not None else piece)
                sent += len(piece)
                if most is not None and sent >= most:
                    break


@contextlib.contextmanager
def trouble(port: int) -> Iterator[Trouble]:
    """The proxy, while it runs."""
    server = Trouble(port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    assert server.errors == []
