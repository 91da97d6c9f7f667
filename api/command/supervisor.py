"""Starts servers in order, keeps them running, and stops them in the opposite order.

One process, one thread: signals are counted by handlers and wake up the only wait. The servers
are children in sessions of their own, so that a Ctrl-C at the terminal reaches the supervisor
alone, which then stops them one after the other.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from api.command import processes
from api.command.console import CommandFailed, say
from api.command.run_as import spawn_command

MARK = "ABBOT_SUPERVISED"
"""Environment variable that every server gets; its value is the data folder."""
LOG_BYTES = 10_000_000
LOG_FILES = 3
FIRST_TRIES = 3
TELL_AFTER = 10.0
"""Seconds between two lines about something that takes long."""
SHORTEST_PAUSE, LONGEST_PAUSE, STEADY = 0.5, 30.0, 60.0


class Stopping(Exception):
    """A signal asked the command to stop."""


@dataclass(slots=True)
class Service:
    """One server. `command` is asked anew for each start, so that it may choose another port."""

    name: str
    command: Callable[[], list[str]]
    ready: Callable[[int], bool]
    """Called with the process's id: whether it answers."""
    environment: Callable[[], dict[str, str]]
    stop: processes.Escalation
    death_signal: int
    hurry: int = signal.SIGKILL
    """The signal for a second request to stop."""
    plan: dict[str, object] = field(default_factory=dict)
    """How to spawn it (see `spawn`)."""
    folder: Path | None = None
    """Its working directory; an empty one if not given (Celery and gunicorn add theirs to the
    places that modules are imported from)."""
    process: subprocess.Popen[bytes] | None = None
    log_start: int = 0
    """Where this start's lines begin in its log."""
    was_ready: bool = False
    is_ready: bool = False
    started: float = 0.0
    pause: float = SHORTEST_PAUSE
    due: float | None = None
    """When a dead one is started again (monotonic seconds)."""
    failures: int = 0
    """How often it died before it was ready for the first time."""


class Supervisor:
    """Runs services whose files are below `data`. Use it as a context manager: leaving it stops
    whatever runs."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.logs = data / "logs"
        self.run = data / "run"
        self.temporary = data / "tmp"
        self.services: list[Service] = []
        self.stop_requests = 0
        self.last_signal = 0
        self._wakeup = os.pipe()
        self._handlers: dict[int, object] = {}
        self._rotated = 0.0
        for folder in (self.logs, self.run, self.temporary):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __enter__(self) -> Supervisor:
        for end in self._wakeup:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wakeup[1], warn_on_full_buffer=False)
        stops = [signal.SIGINT, signal.SIGTERM]
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup has it ignored
            stops.append(signal.SIGHUP)
        for number in stops:
            self._handlers[number] = signal.signal(number, self._asked_to_stop)
        self._handlers[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_all()
        signal.set_wakeup_fd(-1)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
        for end in self._wakeup:
            os.close(end)
        shutil.rmtree(self.temporary, ignore_errors=True)

    def _asked_to_stop(self, number: int, _frame: object) -> None:
        self.stop_requests += 1
        self.last_signal = number

    # Starting

    def reap_earlier_run(self, stops: dict[str, processes.Escalation]) -> None:
        """End the servers that a killed supervisor left behind; `stops` says how, by name, in
        the order to stop them."""
        for name, escalation in stops.items():
            path = self._pid_file(name)
            pid = processes.read_pid_file(path)
            if pid is not None:
                say(f"ending the {name} of an earlier run (process {pid})")
                processes.end(pid, escalation)
            path.unlink(missing_ok=True)
        processes.kill(processes.marked(MARK, str(self.data)))

    def start(self, service: Service) -> None:
        """Start a service and wait until it answers. It is given as long as it takes, while it
        lives; one that dies is tried again a few times. Raises CommandFailed or Stopping."""
        self.services.append(service)
        self._spawn(service)
        while not self._wait_until_ready(service):
            self._failed_first(service)
            self.wait(service.failures * SHORTEST_PAUSE)
            self._spawn(service)

    def launch(self, service: Service) -> None:
        """Start a service without waiting for it."""
        self.services.append(service)
        self._spawn(service)

    def run_once(self, service: Service) -> None:
        """Run something that ends by itself; raises CommandFailed if it fails, or Stopping."""
        self.services.append(service)
        self._spawn(service)
        process = _running(service)
        told = time.monotonic()
        while process.poll() is None:
            self.wait(min(5.0, TELL_AFTER))
            if time.monotonic() - told > TELL_AFTER:
                told = time.monotonic()
                say(f"still waiting for {service.name}{self._last_line(service)}")
        self._buried(service)
        self.services.remove(service)
        if process.returncode != 0:
            raise CommandFailed(
                f"{service.name} failed ({describe_end(process.returncode)}). The end of "
                f"{self.log(service)}:\n{self.tail(service)}"
            )

    def _failed_first(self, service: Service) -> None:
        """Count a death before the service was ever ready; a few of them are final."""
        service.failures += 1
        if service.failures >= FIRST_TRIES:
            raise CommandFailed(
                f"{service.name} does not start. The end of {self.log(service)}:\n"
                + self.tail(service)
            )

    def _spawn(self, service: Service) -> None:
        command = service.command()
        environment = service.environment() | {MARK: str(self.data), "TMPDIR": str(self.temporary)}
        plan = service.plan | {"parent": os.getpid(), "death_signal": service.death_signal}
        with open(self.log(service), "ab", opener=_private) as log:
            service.log_start = log.tell()
            service.process = subprocess.Popen(
                spawn_command(plan, command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=service.folder or self.temporary,
                start_new_session=True,
            )
        service.started = time.monotonic()
        service.due = None
        service.is_ready = False
        processes.write_pid_file(self._pid_file(service.name), service.process.pid)

    def _wait_until_ready(self, service: Service) -> bool:
        process = _running(service)
        told = time.monotonic()
        while True:
            if process.poll() is not None:
                self._buried(service)
                return False
            if service.ready(process.pid):
                service.is_ready = service.was_ready = True
                return True
            self.wait(0.05)
            if time.monotonic() - told > TELL_AFTER:
                told = time.monotonic()
                say(f"still waiting for {service.name}{self._last_line(service)}")

    # Running

    def wait(self, seconds: float) -> None:
        """Sleep, at most until a child ends. Raises Stopping if a signal asked for the end."""
        if self.stop_requests:
            raise Stopping
        select.select([self._wakeup[0]], [], [], max(0.0, seconds))
        with suppress(BlockingIOError):
            while os.read(self._wakeup[0], 512):
                pass
        if self.stop_requests:
            raise Stopping

    def watch(self, *, until: Callable[[], bool] | None = None) -> None:
        """Keep everything running until `until` says so, or for good. Raises Stopping."""
        while True:
            now = time.monotonic()
            for service in self.services:
                self._attend(service, now)
            if until is not None and until():
                return
            if now - self._rotated > 5:
                self._rotated = now
                self._rotate()
            self.wait(self._pause(now))

    def _attend(self, service: Service, now: float) -> None:
        process = service.process
        if process is not None and process.poll() is not None:
            how = describe_end(process.returncode)
            self._buried(service)
            if not service.was_ready:
                self._failed_first(service)
            if now - service.started > STEADY:
                service.pause = SHORTEST_PAUSE
            say(f"{service.name} died ({how}); starting it again in {service.pause:g} s")
            if process.returncode > 0 and (tail := self.tail(service, 3)):
                say(f"the end of {self.log(service)}:\n{tail}")
            service.due = now + service.pause
            service.pause = min(service.pause * 2, LONGEST_PAUSE)
        elif process is None and service.due is not None and now >= service.due:
            self._spawn(service)
        elif process is not None and not service.is_ready and service.ready(process.pid):
            service.is_ready = True
            say(f"{service.name} is back" if service.was_ready else f"{service.name} is ready")
            service.was_ready = True

    def _pause(self, now: float) -> float:
        dues = [service.due - now for service in self.services if service.due is not None]
        waiting = any(service.process and not service.is_ready for service in self.services)
        return min([5.0, *dues, *([0.2] if waiting else [])])

    def _buried(self, service: Service) -> None:
        """What is left to do when a service's process has ended: its own children may not
        outlive it, or they would hold its port and its work."""
        processes.kill_group(_running(service).pid)
        service.process = None
        service.is_ready = False
        self._pid_file(service.name).unlink(missing_ok=True)

    # Stopping

    def stop_all(self) -> None:
        """Stop the services, the last started first. A further signal hurries them."""
        for service in reversed(self.services):
            self._stop(service)
        self.services.clear()

    def _stop(self, service: Service) -> None:
        service.due = None
        process = service.process
        if process is None:
            return
        for number, seconds in service.stop:
            if self._hurried or self._end_within(process, number, seconds):
                break
        if process.poll() is None and not self._end_within(process, service.hurry, 5):
            say(f"{service.name} does not stop; killing it")
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()
        self._buried(service)

    @property
    def _hurried(self) -> bool:
        return self.stop_requests > 1

    def _end_within(self, process: subprocess.Popen[bytes], number: int, seconds: float) -> bool:
        """Send a signal and wait; True once the process has ended, False when the time is over
        or a second request to stop comes in."""
        hurried = self._hurried
        with suppress(ProcessLookupError):
            process.send_signal(number)
        deadline = time.monotonic() + seconds
        while process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0 or self._hurried != hurried:
                return False
            select.select([self._wakeup[0]], [], [], min(left, 1.0))
            with suppress(BlockingIOError):
                os.read(self._wakeup[0], 512)
        return True

    # Logs

    def log(self, service: Service) -> Path:
        """The file with everything that the service prints."""
        return self.logs / f"{service.name}.log"

    def log_text(self, service: Service) -> str:
        """What the service has printed since its last start (at most the last 64 KiB)."""
        try:
            with self.log(service).open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(min(service.log_start, end), end - 65536))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def tail(self, service: Service, lines: int = 12) -> str:
        """Its last lines since its last start, indented."""
        return "\n".join(f"  {line}" for line in self.log_text(service).splitlines()[-lines:])

    def _last_line(self, service: Service) -> str:
        last = self.tail(service, 1).strip()
        return f": {last}" if last else ""

    def _rotate(self) -> None:
        """Keep each log and its forerunners within bounds. The servers append to an open file,
        so it is copied and emptied rather than renamed."""
        for service in self.services:
            path = self.log(service)
            with suppress(OSError):
                if path.stat().st_size <= LOG_BYTES:
                    continue
                for number in range(LOG_FILES - 1, 0, -1):
                    older = path.with_name(f"{path.name}.{number}")
                    if older.exists():
                        older.replace(path.with_name(f"{path.name}.{number + 1}"))
                shutil.copy(path, path.with_name(f"{path.name}.1"))
                os.truncate(path, 0)
                service.log_start = 0

    def _pid_file(self, name: str) -> Path:
        return self.run / f"{name}.pid"


def describe_end(code: int) -> str:
    """An exit status in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _running(service: Service) -> subprocess.Popen[bytes]:
    assert service.process is not None
    return service.process


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
