"""The code itself: style, types, and which package may import which."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from api import languages
from tests import sentences

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["ruff", "check", "."], id="style"),
        pytest.param(["mypy"], id="types"),
        # The command line of import-linter has no module of its own to run.
        pytest.param(
            ["-c", "import sys; from importlinter.cli import lint_imports_command as run; run()"],
            id="imports",
        ),
    ],
)
def test_code_is_clean(arguments: list[str]) -> None:
    command = arguments if arguments[0] == "-c" else ["-m", *arguments]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_launcher_starts_with_the_standard_library_alone() -> None:
    """The first stage runs before anything is installed."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import api.command.__main__, api.command.environment\n"
        "outside = [name for name in sys.modules if name.split('.')[0] not in "
        "sys.stdlib_module_names and name.split('.')[0] not in ('api', '__main__')]\n"
        "sys.exit(', '.join(outside) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_sentence_is_translated() -> None:
    """The rest about wording is in `test_wording`; this is for whoever writes a new sentence."""
    for language in languages.LANGUAGES[1:]:
        known = languages.catalogue(language).sentences
        missing = [(at, each) for each, at in sentences.templates().items() if each not in known]
        assert missing == [], "add them to a wording module"
