"""Many streams read by one thread, which notes when each event arrives."""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field

from domain.times import to_micros

_AT = re.compile(rb'"at":"([^"]+)"')


@dataclass(slots=True)
class _Reader:
    connection: socket.socket
    last_at: bytes = b""
    open: bool = False


@dataclass(slots=True)
class Readers:
    """Open streams. `delays` are the seconds from the recording of each append, by the database's
    clock on this machine, to its arrival at each stream."""

    port: int
    delays: list[float] = field(default_factory=list)
    count: int = 0
    """Streams that are open."""
    broken: int = 0
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _readers: list[_Reader] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    @property
    def asked(self) -> int:
        """Streams that were asked for."""
        return len(self._readers)

    def start(self) -> None:
        """Begin to read."""
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def open(self, path: str, token: str) -> None:
        """Ask for one more stream."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        head = f"GET {path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n"
        connection.sendall(head.encode())
        connection.setblocking(False)
        reader = _Reader(connection)
        self._readers.append(reader)
        self._selector.register(connection, selectors.EVENT_READ, reader)

    def close(self) -> None:
        """Close all."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
        for reader in self._readers:
            reader.connection.close()
        self._selector.close()

    def _run(self) -> None:
        while not self._stopping.is_set():
            for key, _ in self._selector.select(0.1):
                self._read(key.data)

    def _read(self, reader: _Reader) -> None:
        try:
            data = reader.connection.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        now = time.time()
        if not data:
            self.broken += 1
            self.count -= reader.open
            reader.open = False
            self._selector.unregister(reader.connection)
            return
        if not reader.open:
            reader.open = data.startswith(b"HTTP/1.1 200 ")
            self.count += reader.open
            self.broken += not reader.open
        # The events of one append share their time.
        for at in dict.fromkeys(_AT.findall(data)):
            if at > reader.last_at:
                reader.last_at = at
                self.delays.append(now - to_micros(at.decode()) / 1e6)
