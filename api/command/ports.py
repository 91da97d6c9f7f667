"""TCP ports of our own servers: chosen once, kept from run to run while they stay free."""

from __future__ import annotations

import errno
import json
import random
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"
RANGE = range(20000, 32000)
"""Below the ports that systems give to outgoing connections, which could take one of ours while
a server restarts."""


class Ports:
    """The ports noted in the file `path`, by server name."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def choose(self, name: str) -> int:
        """The port noted for `name` if it is free, else another free one, which is noted."""
        noted = self._read()
        port = noted.get(name)
        if port is not None and is_free(LOOPBACK, port):
            return port
        taken = set(noted.values())
        tries = random.SystemRandom().sample(RANGE, 200)
        port = next(one for one in tries if one not in taken and is_free(LOOPBACK, one))
        partial = self._path.with_suffix(".partial")
        partial.write_text(json.dumps(noted | {name: port}))
        partial.replace(self._path)
        return port

    def _read(self) -> dict[str, int]:
        try:
            noted = json.loads(self._path.read_text())
            return {str(name): int(port) for name, port in noted.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}


def is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now. Raises OSError where `host` is not ours."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
            probe.listen(1)
        except OSError as error:
            if error.errno in {errno.EADDRINUSE, errno.EACCES}:
                return False
            raise
    return True
