"""The ready packages, built of the document once for all tests, and a server to try them on."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.command import openapi
from tests.api.server import Server, serving
from tests.clients import tools
from tests.databases import Scratch
from tests.e2e.conftest import installation

__all__ = ["installation"]

CLIENTS = openapi.PATH.parent / "clients"
SKIPPED = shutil.ignore_patterns("node_modules", "dist", "generated", "__pycache__")
EXAMPLES = """{
  "extends": "./tsconfig.base.json",
  "compilerOptions": {
    "rootDir": ".", "outDir": "built", "declaration": false, "types": ["node"], "lib": ["es2022"]
  },
  "include": ["*.ts"]
}
"""


def readme_code(package: Path, language: str) -> list[str]:
    """The blocks of code that a package's README shows."""
    text = (package / "README.md").read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run that all its processes share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def python_client(shared_folder: Path) -> Path:
    """A folder to import `abbot_client` from: what is in its wheel, which is built of the source
    distribution, and that of the checkout."""
    return tools.once(shared_folder / "python-client", _build_python) / "installed"


@pytest.fixture(scope="session")
def importable(python_client: Path) -> Iterator[Path]:
    """The same folder, where `abbot_client` can be imported from it in this process."""
    sys.path.insert(0, str(python_client))
    yield python_client
    sys.path.remove(str(python_client))
    for name in [name for name in sys.modules if name.split(".")[0] == "abbot_client"]:
        del sys.modules[name]


def _build_python(folder: Path) -> None:
    hatchling = (sys.executable, "-m", "hatchling", "build")
    tools.run(*hatchling, "-t", "sdist", "-d", str(folder), folder=CLIENTS / "python")
    (archive,) = folder.glob("abbot_client-*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(folder, filter="data")
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    tools.run(*hatchling, "-t", "wheel", "-d", str(folder), folder=unpacked)
    (wheel,) = folder.glob("abbot_client-*.whl")
    with zipfile.ZipFile(wheel) as package:
        package.extractall(folder / "installed")


@pytest.fixture(scope="session")
def typescript_client(shared_folder: Path) -> Path:
    """A project that has the npm package, and the examples compiled against it."""
    tools.node_modules()
    return tools.once(shared_folder / "typescript-client", _build_typescript) / "project"


def _build_typescript(folder: Path) -> None:
    installed, source = tools.node_modules(), folder / "source"
    shutil.copytree(tools.TYPESCRIPT, source, ignore=SKIPPED)
    (source / "node_modules").symlink_to(installed)
    environment = {"ABBOT_OPENAPI": str(openapi.PATH)}
    tools.run("npm", "pack", "--pack-destination", str(folder), folder=source, **environment)
    (archive,) = folder.glob("abbot-client-*.tgz")
    project = folder / "project"
    modules = project / "node_modules"
    modules.mkdir(parents=True)
    with tarfile.open(archive) as package:
        package.extractall(modules, filter="data")
    (modules / "package").rename(modules / "abbot-client")
    for name in ("openapi-fetch", "openapi-typescript-helpers", "@types"):
        (modules / name).symlink_to(installed / name)
    (project / "package.json").write_text('{"type": "module"}\n')
    shutil.copy(source / "tsconfig.json", project / "tsconfig.base.json")
    (project / "tsconfig.json").write_text(EXAMPLES)
    for where in (source / "examples", CLIENTS / "examples", Path(__file__).parent):
        for each in where.glob("*.ts"):
            shutil.copy(each, project)
    readme, sandbox = readme_code(tools.TYPESCRIPT, "ts")
    (project / "readme.ts").write_text(readme, "utf-8")
    (project / "sandbox.ts").write_text(sandbox, "utf-8")
    tools.run(str(installed / ".bin" / "tsc"), folder=project)


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(scratch, tmp_path_factory.mktemp("server")) as running:
        yield running
