"""Tools of other languages: what is on the machine, and what npm installs once for all tests.

On a machine without them the tests that ask are skipped, and say why. In continuous integration
(CI=true), where they are meant to be there, what was found must also install.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from api.command.environment import ROOT
from api.command.locks import Lock
from eventstore.settings import data_dir

TYPESCRIPT = ROOT / "clients" / "typescript"
OLDEST_NODE = 20
OLDEST_JAVA = 11
DONE = ".done"
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}


def run(*command: str, folder: Path, **environment: str) -> str:
    """What a command says, in all; it must succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | QUIET | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """`folder`, filled by `make` unless it was before: by one process while the others wait."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = Lock(folder.with_name(f"{folder.name}.lock"))
    lock.acquire(wait=True)
    try:
        if not (folder / DONE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / DONE).touch()
    finally:
        lock.release()
    return folder


def node() -> str:
    """Node, or the test is skipped."""
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        pytest.skip("Node and npm are not on this machine")
    version = _major("node", "--version")
    if version < OLDEST_NODE:
        pytest.skip(f"Node {OLDEST_NODE} or later is not on this machine, but {version}")
    return found


def java() -> None:
    """The test is skipped where there is no Java for openapi-generator."""
    if shutil.which("java") is None:
        pytest.skip("Java is not on this machine")
    version = _major("java", "-version")
    if version < OLDEST_JAVA:
        pytest.skip(f"Java {OLDEST_JAVA} or later is not on this machine, but {version}")


def _major(*command: str) -> int:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"\d+", done.stdout + done.stderr)
    return int(found[0]) if found and done.returncode == 0 else 0


def node_modules() -> Path:
    """The packages that the TypeScript client's lock file names, installed once into the cache of
    the tests; the test is skipped where that cannot be."""
    node()
    cache = Path(os.environ.get("ABBOT_TEST_CACHE") or data_dir() / "test" / "cache")
    pins = b"".join((TYPESCRIPT / name).read_bytes() for name in NAMES)
    return once(cache / f"node-{hashlib.sha256(pins).hexdigest()[:16]}", _install) / "node_modules"


NAMES = ("package.json", "package-lock.json")


def _install(folder: Path) -> None:
    for name in NAMES:
        shutil.copy(TYPESCRIPT / name, folder)
    options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"]
    done = subprocess.run(
        ["npm", "ci", *options], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        _lacking(f"npm cannot install the packages here: {done.stderr.strip()[-300:]}")


def npm_install(script: str, folder: Path, **environment: str) -> None:
    """Run a script of npm's commands, which are quick with what was installed before; the test is
    skipped where they cannot get at packages."""
    options = ("ignore_scripts", "prefer_offline", "no_audit", "no_fund")
    settings = {f"npm_config_{each}": "true" for each in options}
    done = subprocess.run(
        ["sh", "-euc", script],
        cwd=folder,
        env=os.environ | settings | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        _lacking(f"npm cannot install the packages here: {done.stderr.strip()[-300:]}")


def _lacking(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def node_tool(name: str) -> str:
    """A command of an npm package."""
    return str(node_modules() / ".bin" / name)
