"""`abbot test`: run the whole test suite on servers of its own, also beside a running `abbot up`.

Every argument but --long goes to pytest. The servers' files are in `test` in the data folder; the
data is made anew for each run. --long sets ABBOT_LONG=1 and runs the tests marked "long" too.
ABBOT_TEST_DATABASE_URL (a role that may create databases and roles) and ABBOT_TEST_BROKER_URL name
other servers to test on.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from api.command import servers
from api.command.console import CommandFailed, complain, say
from api.command.locks import Busy, Lock
from api.command.supervisor import Stopping, Supervisor, describe_end
from eventstore.settings import ROOT, data_dir

SLOTS = 8
"""Runs that may go on at the same time."""
PATIENCE = 20.0
"""Seconds that pytest gets to end after it was asked to."""
NOT_INHERITED = {
    "ABBOT_DATABASE_URL",
    "ABBOT_OWNER_DATABASE_URL",
    "ABBOT_BROKER_URL",
    "ABBOT_WORKER_QUEUE",
    "ABBOT_HOST",
    "ABBOT_PORT",
    "ABBOT_API_WORKERS",
    "ABBOT_WORKER_CONCURRENCY",
    "ABBOT_DATABASE_POOL",
    "ABBOT_PREPARE_THRESHOLD",
    "ABBOT_LOG_LEVEL",
    "PYTHONPATH",
    "PYTHONHOME",
}
"""The settings of a real Abbot, which no test may touch or depend on."""
OWN_DISTRIBUTION = ("-n", "--numprocesses", "--dist", "--pdb", "--trace", "-s", "no:xdist")


def main(argv: list[str]) -> int:
    """Run the command; return pytest's exit code."""
    parser = argparse.ArgumentParser(
        prog="./abbot test",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--long", action="store_true", help="the full matrix, not its sample")
    options, arguments = parser.parse_known_args(argv)
    data = data_dir() / "test"
    try:
        lock, slot = _take_slot(data)
        try:
            with Supervisor(slot) as supervisor:
                return _run(supervisor, slot, options.long, arguments)
        except Stopping:
            return 130
        finally:
            lock.release()
    except CommandFailed as error:
        complain(str(error))
        return 1


def _take_slot(data: Path) -> tuple[Lock, Path]:
    """A folder that no other run uses."""
    for number in range(SLOTS):
        slot = data / str(number)
        try:
            slot.mkdir(parents=True, exist_ok=True)
            lock = Lock(slot / "up.lock")
            lock.acquire()
        except Busy:
            continue
        except OSError as error:
            raise CommandFailed(f"{slot} cannot be used: {error.strerror}") from None
        return lock, slot
    raise CommandFailed(f"{SLOTS} test runs already go on in {data}")


def _run(supervisor: Supervisor, slot: Path, long: bool, arguments: list[str]) -> int:
    supervisor.reap_earlier_run(servers.STOPS)
    embedded = servers.Servers(slot, supervisor)
    urls = {
        name: os.environ.get(name, "").strip()
        for name in ("ABBOT_TEST_DATABASE_URL", "ABBOT_TEST_BROKER_URL")
    }
    if not urls["ABBOT_TEST_DATABASE_URL"]:
        shutil.rmtree(slot / "postgres", ignore_errors=True)
        postgres = embedded.start_postgres(durable=False, connections=400)
        urls["ABBOT_TEST_DATABASE_URL"] = postgres.superuser_url
    if not urls["ABBOT_TEST_BROKER_URL"]:
        urls["ABBOT_TEST_BROKER_URL"] = embedded.start_valkey().url
    environment = _environment(slot) | urls
    if long:
        environment["ABBOT_LONG"] = "1"
    command = [sys.executable, "-P", "-m", "pytest", *_options(long, arguments), *arguments]
    with subprocess.Popen(command, cwd=ROOT, env=environment) as pytest:
        try:
            supervisor.watch(until=lambda: pytest.poll() is not None)
        except Stopping:
            _end(pytest, supervisor.last_signal)
            raise
    if pytest.returncode < 0:
        complain(f"pytest was ended by {describe_end(pytest.returncode)}")
        return 128 - pytest.returncode
    return pytest.returncode


def _options(long: bool, arguments: list[str]) -> list[str]:
    options = ["-p", "no:valkey", "-o", f"cache_dir={data_dir() / 'test' / 'cache' / 'pytest'}"]
    given = [argument for argument in arguments if not argument.startswith("--co")]
    own = any(one.startswith(OWN_DISTRIBUTION) for one in given)
    if not own and (os.cpu_count() or 1) > 1:
        options += ["-n", "2"]
    if not long and "-m" not in arguments:
        options += ["-m", "not long"]
    return options


def _environment(slot: Path) -> dict[str, str]:
    """The tests' environment: none of the settings of a real Abbot, and caches below the data
    folder."""
    cache = slot.parent / "cache"
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    return inherited | {
        "ABBOT_DATA": str(slot),
        "ABBOT_TEST_CACHE": str(cache),
        "PYTHONPATH": str(ROOT),
        "PYTHONUTF8": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(cache / "hypothesis"),
        "MYPY_CACHE_DIR": str(cache / "mypy"),
        "RUFF_CACHE_DIR": str(cache / "ruff"),
    }


def _end(pytest: subprocess.Popen[bytes], last_signal: int) -> None:
    """Let pytest end in its own way. At a terminal it got the Ctrl-C that we got."""
    if last_signal != signal.SIGINT:
        with suppress(ProcessLookupError):
            pytest.send_signal(signal.SIGINT)
    say("waiting for the tests to stop")
    deadline = time.monotonic() + PATIENCE
    while pytest.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    if pytest.poll() is None:
        pytest.kill()
