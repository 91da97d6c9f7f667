"""Makes `abbot_client.generated` of the API's document while the package is built.

The document is `openapi.yaml` beside this file, as in a source distribution, else that of the
checkout.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
PACKAGE = "abbot_client/generated"


class GeneratedCore(BuildHookInterface):  # type: ignore[type-arg]
    """Hatchling's hook: before a build starts, and after it has ended."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name == "sdist":
            build_data["force_include"][str(document())] = "openapi.yaml"
        elif version == "editable":
            generate(HERE / "src" / PACKAGE)
        else:
            self._folder = tempfile.TemporaryDirectory()
            core = Path(self._folder.name) / "generated"
            generate(core)
            build_data["force_include"][str(core)] = PACKAGE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def document() -> Path:
    """The API's document."""
    beside = HERE / "openapi.yaml"
    return beside if beside.exists() else HERE.parents[1] / "openapi.yaml"


def generate(folder: Path) -> None:
    """Fill `folder` with the package that the document leads to. A warning ends the build."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as config:
        config.write("post_hooks: []\n")
        config.flush()
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
        options = ["--meta", "none", "--overwrite", "--config", config.name]
        paths = ["--path", str(document()), "--output-path", str(folder)]
        subprocess.run([*command, *options, *paths], check=True)
