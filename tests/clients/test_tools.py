"""Linters and generators for other languages have nothing to say about the document."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from api.command import openapi
from tests.clients import tools

TYPES = """
import type { components, operations } from "./api.js";
type Schemas = components["schemas"];
const move: Schemas["Move"] = { type: "play", card: "E-rose" };
export function played(event: Schemas["GameEvent"]): string | undefined {
  return event.type === "card.played" ? (event as Schemas["CardPlayedEvent"]).data.card : undefined;
}
export type Made = operations["makeMove"]["responses"][201]["content"]["application/json"];
export const turn = (made: Made): number | undefined => made.game.turn?.seat;
export { move };
"""


def test_redocly_is_content() -> None:
    told = tools.run(tools.node_tool("redocly"), "lint", "openapi.yaml", folder=openapi.PATH.parent)
    assert "Your API description is valid" in told
    assert "You have" not in told, told


def test_typescript_types_are_made_and_hold(tmp_path: Path) -> None:
    make = tools.node_tool("openapi-typescript")
    told = tools.run(make, str(openapi.PATH), "-o", "api.d.ts", folder=tmp_path)
    assert "warn" not in told.lower(), told
    (tmp_path / "use.ts").write_text(TYPES, "utf-8")
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext"]
    tools.run(tools.node_tool("tsc"), *options, "use.ts", folder=tmp_path)


@pytest.mark.parametrize("language", ["kotlin", "swift6"])
def test_other_languages_are_generated_without_a_warning(tmp_path: Path, language: str) -> None:
    tools.java()
    generate = str(Path(sys.executable).with_name("openapi-generator-cli"))
    options = ["-i", str(openapi.PATH), "-g", language, "-o", str(tmp_path)]
    told = tools.run(generate, "generate", *options, folder=tmp_path)
    assert "writing file" in told
    warned = re.findall(r"^.* (?:WARN|ERROR) .*$", told, re.M)
    assert not [line for line in warned if "3.1 support is still in beta" not in line], warned


def test_the_lock_file_names_versions_and_no_places() -> None:
    lock = json.loads((tools.TYPESCRIPT / "package-lock.json").read_text("utf-8"))
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert all("version" in each and "integrity" in each for each in packages.values())
    assert not [name for name, each in packages.items() if "resolved" in each]
    wanted = json.loads((tools.TYPESCRIPT / "package.json").read_text("utf-8"))
    for name, version in (wanted["dependencies"] | wanted["devDependencies"]).items():
        assert packages[f"node_modules/{name}"]["version"] == version
