"""A throw-away environment with other people's libraries to measure against.

It is made in the data folder from bench/requirements.txt, each library by itself, so that one that
does not install here takes no other with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from eventstore.settings import ROOT, data_dir

REQUIREMENTS = ROOT / "bench" / "requirements.txt"


class Peers:
    """The environment. `python` is its interpreter; `missing` says why a library is not in it.

    `only` names the libraries that are needed, if not all are; `size` is how much they take.
    """

    def __init__(self, only: Iterable[str] | None = None, size: str | None = None) -> None:
        wanted = None if only is None else set(only)
        folder = data_dir() / "bench" / "peers"
        self.python = folder / "bin" / "python"
        self.missing: dict[str, str] = {}
        try:
            _make(folder, self.python, size)
            for requirement in _requirements():
                name = requirement.split("==")[0]
                if wanted is not None and name not in wanted:
                    continue
                fault = _install(self.python, requirement)
                if fault:
                    self.missing[name] = fault
        except (OSError, subprocess.SubprocessError) as error:
            self.missing |= dict.fromkeys(
                (each.split("==")[0] for each in _requirements()),
                f"no environment can be made: {error}",
            )


def _requirements() -> list[str]:
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _make(folder: Path, python: Path, size: str | None) -> None:
    if python.exists() and _run([str(python), "-m", "pip", "--version"]).returncode == 0:
        return
    much = "" if size is None else f", {size}"
    told = f"what is measured against is installed in {folder}{much}, and stays there"
    print(told, file=sys.stderr)
    base = getattr(sys, "_base_executable", sys.executable)
    made = _run([base, "-m", "venv", "--clear", str(folder)])
    if made.returncode:
        raise OSError(_last_line(made))


def _install(python: Path, requirement: str) -> str | None:
    """Install one library unless it is there; why it could not be, or None."""
    name, version = requirement.split("==")
    check = f"import importlib.metadata as m; print(m.version({name!r}))"
    if _run([str(python), "-c", check]).stdout.strip() == version:
        return None
    print(f"installing {requirement} to measure against …", file=sys.stderr)
    options = ["--disable-pip-version-check", "--no-input", "--only-binary", ":all:", "-q"]
    done = _run([str(python), "-m", "pip", "install", *options, requirement])
    if done.returncode and "no matching distribution" in done.stderr.lower():
        # Some are published as source only.
        done = _run([str(python), "-m", "pip", "install", *options[:2], "-q", requirement])
    return _last_line(done) if done.returncode else None


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=900, env=environment
    )


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"
