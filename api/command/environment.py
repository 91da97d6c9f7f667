"""The Python environment that every command runs in: made once, kept up to date.

Runs under the system's Python, so it imports the standard library only. The environment is
`venv` in the data folder. A stamp in it, written last, tells what was installed; without a stamp
an earlier installation was interrupted and is started afresh.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
import tomllib
from importlib.util import find_spec
from pathlib import Path

from api.command.locks import Busy, Lock

ROOT = Path(__file__).resolve().parents[2]
STAMP = "abbot-installed.json"


class EnvironmentFailed(Exception):
    """The environment could not be made; the text says why and what to do."""


def read_dotenv(path: Path) -> dict[str, str]:
    """The ``KEY=VALUE`` lines of a `.env` file; {} if there is none.

    Blank lines and lines that begin with ``#`` are skipped, ``export`` before a key and quotes
    around a value are allowed; nothing is expanded. Raises EnvironmentFailed for another line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentFailed(f"{path} cannot be read: {error}") from None
    values = {}
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("export ").strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        key, value = key.strip(), value.strip()
        if not equals or not key.isidentifier():
            raise EnvironmentFailed(f"{path}, line {number}: expected KEY=VALUE")
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        else:
            value = value.split(" #", 1)[0].rstrip()
        values[key] = value
    return values


def apply_dotenv() -> None:
    """Put the settings of the checkout's `.env` into the environment; what is set there wins."""
    for key, value in read_dotenv(ROOT / ".env").items():
        os.environ.setdefault(key, value)


def data_dir() -> Path:
    """The folder that ``ABBOT_DATA`` names (`.abbot` if none), relative to the checkout."""
    given = Path(os.environ.get("ABBOT_DATA", "").strip() or ".abbot").expanduser()
    return Path(os.path.normpath(ROOT / given))


def inside(data: Path) -> bool:
    """Whether this process runs in the environment of `data`."""
    venv = data / "venv"
    return sys.prefix != sys.base_prefix and venv.exists() and venv.samefile(sys.prefix)


def ensure(data: Path, *, with_tests: bool = False) -> Path:
    """Make the environment in `data` fit the checkout's pins and return its Python.

    `with_tests` adds what only the tests need. A second command waits for one that installs.
    """
    venv = data / "venv"
    wanted = _wanted(with_tests)
    if _fits(venv, wanted):
        return _python(venv)
    try:
        data.mkdir(parents=True, exist_ok=True)
        lock = Lock(data / "venv.lock")
        try:
            lock.acquire()
        except Busy:
            _say("another abbot command is making the environment; waiting for it")
            lock.acquire(wait=True)
    except OSError as error:
        raise EnvironmentFailed(
            f"the data folder {data} cannot be used: {error.strerror}. Make it writable or "
            "name another one with ABBOT_DATA."
        ) from None
    try:
        if not _fits(venv, wanted):
            _install(data, venv, wanted)
    finally:
        lock.release()
    return _python(venv)


def _python(venv: Path) -> Path:
    return venv / "bin" / "python"


def _wanted(with_tests: bool) -> dict[str, list[str]]:
    """The groups of requirements to install, each with the pins they are taken from."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {"run": list(project["dependencies"])}
    if with_tests:
        wanted["test"] = list(project["optional-dependencies"]["test"])
    return wanted


def _digest(requirements: list[str]) -> str:
    pins = (ROOT / "constraints.txt").read_bytes()
    return hashlib.sha256(json.dumps(sorted(requirements)).encode() + pins).hexdigest()


def _stamp(venv: Path) -> dict[str, str]:
    try:
        stamp = json.loads((venv / STAMP).read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def _fits(venv: Path, wanted: dict[str, list[str]]) -> bool:
    stamp = _stamp(venv)
    return all(stamp.get(name) == _digest(wanted[name]) for name in wanted) and _runs(venv, stamp)


def _runs(venv: Path, stamp: dict[str, str]) -> bool:
    """Whether the environment's Python still is the one that it was made with: an upgraded or
    removed system Python leaves an environment whose packages are no longer found."""
    if "python" not in stamp:
        return False
    try:
        found = subprocess.run(
            [_python(venv), "-I", "-S", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError:
        return False
    return found.returncode == 0 and found.stdout.strip() == stamp["python"]


def _install(data: Path, venv: Path, wanted: dict[str, list[str]]) -> None:
    started = time.monotonic()
    stamp = _stamp(venv)
    fresh = not _runs(venv, stamp)
    if fresh and Lock(data / "up.lock").holder() is not None:
        raise EnvironmentFailed(
            f"the environment in {venv} has to be made anew, but `abbot up` is running from it. "
            "Stop that first."
        )
    logs = data / "logs"
    logs.mkdir(mode=0o700, exist_ok=True)
    log = logs / "install.log"
    log.write_text("")
    if fresh:
        _say(f"making the Python environment in {venv} (once; it takes a minute or so)")
        stamp = {}
        _remove(venv)
        if find_spec("venv") is None:
            raise _incomplete("module venv")
        _run([sys.executable, "-m", "venv", "--without-pip", str(venv)], log)
    else:
        _say(f"bringing the Python environment in {venv} up to date")
    version = platform.python_version_tuple() if fresh else stamp["python"].split(".")
    (venv / STAMP).unlink(missing_ok=True)
    requirements = [name for group in wanted.values() for name in group]
    pip = _pip(venv, log)
    options = ["--disable-pip-version-check", "--no-input", "--prefer-binary"]
    pins = ["--constraint", str(ROOT / "constraints.txt")]
    _run([*pip, "install", *options, *pins, *requirements], log)
    done = {name: _digest(wanted[name]) for name in wanted} | {"python": ".".join(version[:2])}
    partial = venv / f"{STAMP}.partial"
    partial.write_text(json.dumps(done))
    partial.replace(venv / STAMP)
    _say(f"the environment is ready ({time.monotonic() - started:.0f} s)")


def _pip(venv: Path, log: Path) -> list[str]:
    """The command that installs into `venv`: its own pip, one made by ensurepip, or the
    system's."""
    python = str(_python(venv))
    own = [python, "-m", "pip"]
    if _works([*own, "--version"]):
        return own
    if find_spec("ensurepip") is not None:
        try:
            _run([python, "-I", "-m", "ensurepip", "--default-pip"], log)
            return own
        except EnvironmentFailed:
            pass
    outer = [sys.executable, "-m", "pip", "--python", python]
    if _works([*outer, "--version"]):
        return outer
    raise _incomplete("pip to install with")


def _incomplete(lacks: str) -> EnvironmentFailed:
    version = "{}.{}".format(*sys.version_info[:2])
    return EnvironmentFailed(
        f"the Python at {sys.executable} ({version}) has no {lacks}. Install it and call this "
        "again:\n"
        f"  Debian, Ubuntu   sudo apt-get install python{version}-venv (or python3-venv)\n"
        "  Fedora           sudo dnf install python3-pip\n"
        "  elsewhere        a Python that has the module ensurepip, named by "
        "ABBOT_PYTHON=/path/to/python3"
    )


def _works(command: list[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _run(command: list[str], log: Path) -> None:
    """Run a step with its output in `log`; raise EnvironmentFailed with the end of it."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"}
    }
    temporary = log.parent / "install.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(mode=0o700)
    environment["TMPDIR"] = str(temporary)
    with log.open("a") as output:
        output.write(f"$ {' '.join(command)}\n")
        output.flush()
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
            check=False,
        )
    shutil.rmtree(temporary, ignore_errors=True)
    if done.returncode != 0:
        tail = "\n".join(f"  {line}" for line in log.read_text(errors="replace").splitlines()[-12:])
        hint = ""
        if sys.platform == "linux" and platform.libc_ver()[0] != "glibc":
            hint = "\nThe embedded PostgreSQL needs a Linux with glibc; this one has another libc."
        raise EnvironmentFailed(
            f"a step of the installation failed. Its last lines (all of it is in {log}):\n"
            f"{tail}{hint}\nCall the command again once the cause is gone; it starts over."
        )


def _remove(venv: Path) -> None:
    if venv.is_symlink() or venv.is_file():
        venv.unlink()
    elif venv.exists():
        shutil.rmtree(venv)


def _say(text: str) -> None:
    print(f"abbot: {text}", file=sys.stderr, flush=True)
