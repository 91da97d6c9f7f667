"""Making the environment: from a wheel and pins of our own, without a network."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from api import documentation
from api.command import environment
from api.command.__main__ import COMMANDS
from api.command.environment import EnvironmentFailed
from api.command.locks import Lock

CHECKOUT = Path(__file__).resolve().parents[3]
REAL_PIP = environment._pip


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one dependency, which pip finds in a folder."""
    root = tmp_path / "a checkout"
    root.mkdir()
    (root / "pyproject.toml").write_text(
        '[project]\nname = "x"\nversion = "1"\ndependencies = ["pebble"]\n'
        '[project.optional-dependencies]\ntest = ["sieve"]\n'
    )
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name, version in (("pebble", "1.0"), ("pebble", "2.0"), ("sieve", "1.0")):
        _wheel(wheels, name, version)
    _pin(root, "1.0")
    monkeypatch.setattr(environment, "ROOT", root)
    outer = [sys.executable, "-m", "pip"]
    if subprocess.run([*outer, "--version"], capture_output=True, check=False).returncode == 0:
        # Spares each test the making of a pip.
        monkeypatch.setattr(
            environment, "_pip", lambda venv, _log: [*outer, "--python", str(venv / "bin/python")]
        )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return root


def _wheel(folder: Path, name: str, version: str) -> None:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", f"VERSION = '{version}'\n")
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", tags)
        wheel.writestr(f"{info}/RECORD", "")


def _pin(root: Path, version: str) -> None:
    (root / "constraints.txt").write_text(f"pebble=={version}\nsieve==1.0\n")


def _version(python: Path) -> str:
    code = "import pebble; print(pebble.VERSION)"
    return subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_made_once_and_renewed_when_pins_change(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = checkout / ".abbot"
    python = environment.ensure(data)
    assert _version(python) == "1.0"
    assert not _has(python, "sieve")
    capsys.readouterr()

    assert environment.ensure(data) == python
    assert capsys.readouterr().err == ""

    environment.ensure(data, with_tests=True)
    assert _has(python, "sieve")
    assert "up to date" in capsys.readouterr().err

    _pin(checkout, "2.0")
    environment.ensure(data)
    assert _version(python) == "2.0"


def _has(python: Path, module: str) -> bool:
    done = subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False)
    return done.returncode == 0


def test_interrupted_or_outdated_environment_is_made_anew(checkout: Path) -> None:
    data = checkout / ".abbot"
    environment.ensure(data)
    stamp, leftover = data / "venv" / environment.STAMP, data / "venv" / "leftover"

    stamp.unlink()
    leftover.touch()
    assert _version(environment.ensure(data)) == "1.0"
    assert not leftover.exists()

    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"python": "3.2"}))
    leftover.touch()
    environment.ensure(data)
    assert not leftover.exists()


def test_environment_is_not_taken_from_a_running_abbot(checkout: Path) -> None:
    venv = checkout / ".abbot" / "venv"
    venv.mkdir(parents=True)
    with Lock(checkout / ".abbot" / "up.lock"), pytest.raises(EnvironmentFailed, match="running"):
        environment.ensure(checkout / ".abbot")
    assert venv.exists()


def test_two_commands_at_once_install_once(checkout: Path) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(CHECKOUT)!r})\n"
        "from pathlib import Path; from api.command import environment\n"
        f"environment.ROOT = Path({str(checkout)!r})\n"
        "environment.ensure(environment.ROOT / '.abbot')"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert sum("making the Python environment" in text for text in told) == 1
    assert sum("waiting for it" in text for text in told) == 1


def test_failed_step_shows_its_end(checkout: Path) -> None:
    _pin(checkout, "9.9")
    with pytest.raises(EnvironmentFailed, match=r"pebble==9\.9"):
        environment.ensure(checkout / ".abbot")


def test_python_without_pip_is_told_what_to_install(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_pip", REAL_PIP)
    monkeypatch.setattr(environment, "_works", lambda _command: False)
    monkeypatch.setattr(
        environment, "find_spec", lambda name: None if name == "ensurepip" else object()
    )
    with pytest.raises(EnvironmentFailed, match=r"apt-get install python3\.\d+-venv"):
        environment.ensure(checkout / ".abbot")


def test_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentFailed, match="ABBOT_DATA"):
        environment.ensure(tmp_path / "file" / "data")


def test_dotenv(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    assert environment.read_dotenv(path) == {}
    path.write_text(
        "# a comment\n\nABBOT_PORT=8001\nexport ABBOT_HOST = 0.0.0.0  # all of them\n"
        "ABBOT_DATA='/a b/#c'\nABBOT_DATABASE_URL=postgresql://a:b%40@h/d?x=y#z\n"
    )
    assert environment.read_dotenv(path) == {
        "ABBOT_PORT": "8001",
        "ABBOT_HOST": "0.0.0.0",
        "ABBOT_DATA": "/a b/#c",
        "ABBOT_DATABASE_URL": "postgresql://a:b%40@h/d?x=y#z",
    }
    path.write_text("ABBOT_PORT\n")
    with pytest.raises(EnvironmentFailed, match="line 1"):
        environment.read_dotenv(path)


def test_relative_data_folder_starts_at_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ABBOT_DATA", "some/../where")
    assert environment.data_dir() == environment.ROOT / "where"
    monkeypatch.delenv("ABBOT_DATA")
    assert environment.data_dir() == environment.ROOT / ".abbot"


def test_launcher_without_a_python_says_what_to_do(tmp_path: Path) -> None:
    for tool in ("dirname", "readlink"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    done = subprocess.run(
        ["/bin/sh", str(CHECKOUT / "abbot"), "up"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "no Python of version 3.11 or later" in done.stderr


@pytest.mark.parametrize(("arguments", "code"), [([], 0), (["help"], 0), (["nonsense"], 2)])
def test_launcher_lists_its_commands(tmp_path: Path, arguments: list[str], code: int) -> None:
    link = tmp_path / "link to abbot"
    link.symlink_to(CHECKOUT / "abbot")
    done = subprocess.run(
        [str(link), *arguments],
        cwd=tmp_path,
        env={**os.environ, "ABBOT_DATA": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "start everything" in done.stdout + done.stderr
    assert not (tmp_path / "data").exists()


def test_launcher_tells_its_version() -> None:
    done = subprocess.run(
        [str(CHECKOUT / "abbot"), "--version"], capture_output=True, text=True, check=False
    )
    assert done.stdout == f"abbot {documentation.VERSION}\n"


def test_lock_tells_its_holder_and_ends_with_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    code = (
        f"import sys, time; sys.path.insert(0, {str(CHECKOUT)!r})\n"
        "from pathlib import Path; from api.command.locks import Lock\n"
        f"Lock(Path({str(path)!r})).acquire(); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert Lock(path).holder() == holder.pid
        holder.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while Lock(path).holder() is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert Lock(path).holder() is None


def test_a_reader_that_has_seen_enough() -> None:
    """As `./abbot … | head` does: no traceback, whatever was still to be written."""
    program = [sys.executable, str(Path(environment.__file__).with_name("__main__.py")), "help"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 141


def test_help_needs_nothing_that_only_the_tests_need() -> None:
    assert COMMANDS["test"].tests_wanted(["tests/domain"])
    assert not COMMANDS["test"].tests_wanted(["--help"])
    assert not COMMANDS["test"].tests_wanted(["-x", "-h"])
    assert not COMMANDS["up"].tests_wanted([])
