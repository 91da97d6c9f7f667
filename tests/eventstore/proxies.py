"""A TCP proxy before the database that can lose the answer to what a client sends, or hang."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections.abc import Iterator

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class LosingProxy:
    """Forwards connections to the server. After `lose_next_answer` the next thing that a client
    sends still reaches the server, which answers it; then the connection breaks."""

    def __init__(self, url: str) -> None:
        given = conninfo_to_dict(url)
        self._host = str(given.get("host") or "127.0.0.1")
        self._port = int(str(given.get("port") or 5432))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._losing = threading.Event()
        self._going = threading.Event()
        self._going.set()
        self.lost = 0
        self.url = make_conninfo(
            url, host="127.0.0.1", port=self._listener.getsockname()[1], sslmode="disable"
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def lose_next_answer(self) -> None:
        """Break the connection that is used next, once the server has answered on it."""
        self._losing.set()

    def hang(self) -> None:
        """Pass nothing on any more, and keep all connections."""
        self._going.clear()

    def go_on(self) -> None:
        """Pass on what has come meanwhile, and what comes."""
        self._going.set()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()

    def _connect(self) -> socket.socket:
        if not self._host.startswith("/"):
            return socket.create_connection((self._host, self._port))
        server = socket.socket(socket.AF_UNIX)
        server.connect(f"{self._host}/.s.PGSQL.{self._port}")
        return server

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = self._connect()
                threading.Thread(target=self._forward, args=(client, server), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket) -> None:
        losing = False
        with client, server, contextlib.suppress(OSError):
            while True:
                for ready in select.select([client, server], [], [])[0]:
                    self._going.wait()
                    data = ready.recv(1 << 16)
                    if not data:
                        return
                    if ready is client:
                        if self._losing.is_set():
                            self._losing.clear()
                            losing = True
                        server.sendall(data)
                    elif losing:
                        self.lost += 1
                        return
                    else:
                        client.sendall(data)


@contextlib.contextmanager
def losing_proxy(url: str) -> Iterator[LosingProxy]:
    """A proxy before the server of `url`, closed after the block."""
    proxy = LosingProxy(url)
    try:
        yield proxy
    finally:
        proxy.close()
