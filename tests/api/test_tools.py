"""Linters and generators for other languages have nothing to say about the document.

Nothing is fetched for this: each tool is asked that is on the machine, the rest is skipped. Node's
tools are looked for in the folder that ABBOT_NODE_MODULES names, too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from api.command import openapi

ROOT = openapi.PATH.parent
pytestmark = pytest.mark.long

TYPES = """
import type { components, operations } from "./api";
type Schemas = components["schemas"];
const move: Schemas["Move"] = { type: "play", card: "E-rose" };
export function played(event: Schemas["GameEvent"]): string | undefined {
  return event.type === "card.played" ? (event as Schemas["CardPlayedEvent"]).data.card : undefined;
}
export type Made = operations["makeMove"]["responses"][201]["content"]["application/json"];
export const turn = (made: Made): number | undefined => made.game.turn?.seat;
export { move };
"""


def tool(name: str) -> str:
    folder = Path(os.environ.get("ABBOT_NODE_MODULES", "node_modules")) / ".bin"
    found = shutil.which(name, path=os.pathsep.join((str(folder), os.environ.get("PATH", ""))))
    if found is None:
        pytest.skip(f"{name} is not on this machine")
    return found


def run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_redocly_is_content() -> None:
    told = run(tool("redocly"), "lint", "openapi.yaml", folder=ROOT)
    assert "Your API description is valid" in told
    assert "You have" not in told, told


def test_typescript_types_are_made_and_hold(tmp_path: Path) -> None:
    told = run(tool("openapi-typescript"), str(openapi.PATH), "-o", "api.d.ts", folder=tmp_path)
    assert "warn" not in told.lower(), told
    (tmp_path / "use.ts").write_text(TYPES, "utf-8")
    run(tool("tsc"), "--noEmit", "--strict", "--target", "es2022", "use.ts", folder=tmp_path)


@pytest.mark.parametrize("language", ["kotlin", "swift6"])
def test_other_languages_are_generated_without_a_warning(tmp_path: Path, language: str) -> None:
    tool("java")
    options = ["-i", str(openapi.PATH), "-g", language, "-o", str(tmp_path)]
    told = run(tool("openapi-generator-cli"), "generate", *options, folder=tmp_path)
    warned = [line for line in told.splitlines() if " WARN " in line or " ERROR " in line]
    assert not [line for line in warned if "3.1 support is still in beta" not in line], warned
