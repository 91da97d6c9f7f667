"""The supervisor, on small programs of our own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.command import processes, supervisor
from api.command.console import CommandFailed
from api.command.ports import LOOPBACK, Ports, is_free
from api.command.supervisor import Service, Stopping, Supervisor

CHECKOUT = Path(__file__).resolve().parents[3]
SERVE = "import time; print('serving', flush=True); time.sleep(100)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SERVE}"


@pytest.fixture
def watcher(tmp_path: Path) -> Iterator[Supervisor]:
    with Supervisor(tmp_path / "data") as made:
        yield made


def program(watcher: Supervisor, name: str, code: str = SERVE, *, patience: float = 5.0) -> Service:
    """A service that runs `code` and is ready once it says so."""
    service = Service(
        name=name,
        command=lambda: [sys.executable, "-c", code],
        ready=lambda _pid: "serving" in watcher.log_text(service),
        environment=lambda: dict(os.environ),
        stop=((signal.SIGTERM, patience),),
        death_signal=signal.SIGTERM,
    )
    return service


def pid(service: Service) -> int:
    assert service.process is not None
    return service.process.pid


def eventually(true: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    return true()


def test_dead_service_is_started_again(
    watcher: Supervisor, capsys: pytest.CaptureFixture[str]
) -> None:
    service = program(watcher, "server")
    watcher.start(service)
    first = pid(service)
    os.kill(first, signal.SIGKILL)
    watcher.watch(until=lambda: service.is_ready and pid(service) != first)
    told = capsys.readouterr().out
    assert "server died (SIGKILL); starting it again in 0.5 s" in told
    assert "server is back" in told


def test_pauses_between_starts_grow(
    watcher: Supervisor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supervisor, "LONGEST_PAUSE", 1.0)
    service = program(watcher, "server")
    watcher.start(service)
    for _ in range(4):
        last = pid(service)
        os.kill(last, signal.SIGKILL)
        watcher.watch(until=lambda last=last: service.is_ready and pid(service) != last)
    lines = capsys.readouterr().out.splitlines()
    pauses = [line.split(" in ")[1] for line in lines if "starting it again" in line]
    assert pauses == ["0.5 s", "1 s", "1 s", "1 s"]


def test_service_that_never_starts_ends_the_command(watcher: Supervisor) -> None:
    with pytest.raises(CommandFailed, match=r"broken does not start.*\n(.*\n)*.*out of tune"):
        watcher.start(program(watcher, "broken", "raise SystemExit('out of tune')"))
    watcher.launch(program(watcher, "later", "raise SystemExit('out of tune')"))
    with pytest.raises(CommandFailed, match="later does not start"):
        watcher.watch()


def test_command_that_fails_ends_the_command(watcher: Supervisor) -> None:
    watcher.run_once(program(watcher, "fine", "print('done')"))
    with pytest.raises(CommandFailed, match="exit code 3"):
        watcher.run_once(program(watcher, "bad", "raise SystemExit(3)"))
    assert watcher.services == []


def test_services_stop_in_reverse_order(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    code = (
        "import signal, sys, time\n"
        "def stop(*_):\n"
        f"    open({str(notes)!r}, 'a').write(sys.argv[1] + ' ')\n"
        "    sys.exit()\n"
        "signal.signal(signal.SIGTERM, stop); print('serving', flush=True); time.sleep(100)"
    )
    with Supervisor(tmp_path / "data") as watcher:
        for name in ("database", "broker", "worker", "api"):
            service = program(watcher, name)
            service.command = lambda name=name: [sys.executable, "-c", code, name]
            watcher.start(service)
    assert notes.read_text() == "api worker broker database "
    assert not list((tmp_path / "data" / "run").iterdir())


def test_stubborn_service_is_killed_after_a_bound(tmp_path: Path) -> None:
    with Supervisor(tmp_path / "data") as watcher:
        service = program(watcher, "stubborn", STUBBORN, patience=0.5)
        watcher.start(service)
        started = time.monotonic()
    assert 0.4 < time.monotonic() - started < 10
    assert service.process is None


def test_second_signal_hurries(tmp_path: Path) -> None:
    with Supervisor(tmp_path / "data") as watcher:
        watcher.start(program(watcher, "stubborn", STUBBORN, patience=60))
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(Stopping):
            watcher.wait(10)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()
        started = time.monotonic()
        watcher.stop_all()
    assert 0.4 < time.monotonic() - started < 20


def test_logs_are_kept_within_bounds(watcher: Supervisor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "LOG_BYTES", 1000)
    talk = "import time\nfor i in range(10**6): print('x' * 99, flush=True); time.sleep(.001)"
    service = program(watcher, "talker", talk)
    service.ready = lambda _pid: True
    watcher.start(service)
    for _ in range(6):
        assert eventually(lambda: watcher.log(service).stat().st_size > 1000)
        watcher._rotate()
        assert watcher.log(service).stat().st_size < 20000
    names = sorted(path.name for path in watcher.logs.iterdir())
    assert names == ["talker.log", "talker.log.1", "talker.log.2", "talker.log.3"]


def test_killed_supervisor_leaves_nothing_behind(tmp_path: Path) -> None:
    """On Linux the kernel ends its children; everywhere the next run does."""
    data = tmp_path / "data"
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n"
        "from pathlib import Path; from api.command.supervisor import Supervisor\n"
        "from tests.api.command.test_supervisor import STUBBORN, SERVE, program\n"
        f"with Supervisor(Path({str(data)!r})) as watcher:\n"
        "    watcher.start(program(watcher, 'obedient', SERVE))\n"
        "    watcher.start(program(watcher, 'stubborn', STUBBORN))\n"
        "    print('up', flush=True)\n"
        "    watcher.watch()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"up\n"
        left = {name: _noted(data, name) for name in ("obedient", "stubborn")}
        assert all(left.values())
        first.kill()
    if sys.platform == "linux":
        assert eventually(lambda: _noted(data, "obedient") is None)
    with Supervisor(data) as watcher:
        watcher.reap_earlier_run(dict.fromkeys(left, ((signal.SIGTERM, 0.3),)))
    assert all(processes.identity(one) is None for one in left.values() if one)


def _noted(data: Path, name: str) -> int | None:
    return processes.read_pid_file(data / "run" / f"{name}.pid")


def test_pid_file_is_not_fooled_by_another_process(tmp_path: Path) -> None:
    path = tmp_path / "a.pid"
    processes.write_pid_file(path, os.getpid())
    assert processes.read_pid_file(path) == os.getpid()
    with subprocess.Popen([sys.executable, "-c", SERVE]) as other:
        path.write_text(path.read_text().replace(str(os.getpid()), str(other.pid), 1))
        assert processes.read_pid_file(path) is None
        other.kill()


def test_port_is_kept_while_it_is_free(tmp_path: Path) -> None:
    ports = Ports(tmp_path / "ports.json")
    port = ports.choose("server")
    assert Ports(tmp_path / "ports.json").choose("server") == port
    assert ports.choose("other") != port
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((LOOPBACK, port))
        taken.listen()
        assert not is_free(LOOPBACK, port)
        assert ports.choose("server") != port
