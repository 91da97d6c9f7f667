"""The ready packages: a bot that plays is short with either, and plays whole matches."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from api.command.client import Client
from api.command.environment import ROOT
from tests.api.server import Server
from tests.clients import tools
from tests.clients.conftest import CLIENTS, SKIPPED, readme_code
from tests.e2e.conftest import Installation
from tests.pages import python_code

MOST_LINES = 30
BOTS = {
    "python": CLIENTS / "python" / "examples" / "bot.py",
    "typescript": CLIENTS / "typescript" / "examples" / "bot.ts",
}
RULESETS = ("halleluja", "vallelujah")
PATIENCE = 180
SHOWN_URL = "http://127.0.0.1:8000"

Bot = Callable[..., str]


def run_to_its_end(command: list[str], folder: Path, **environment: str) -> str:
    """What a program prints, which must end well."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(params=sorted(BOTS))
def bot(request: pytest.FixtureRequest) -> Bot:
    return _bot(request.param, request)


def _bot(language: str, request: pytest.FixtureRequest) -> Bot:
    """Runs a bot to its end; what it has printed."""
    folder: Path = request.getfixturevalue(f"{language}_client")
    if language == "python":
        command = [sys.executable, str(BOTS["python"])]
    else:
        command = [tools.node(), "built/bot.js"]

    def play(url: str, table: str) -> str:
        return run_to_its_end([*command, table], folder, ABBOT_URL=url, PYTHONPATH=str(folder))

    return play


@pytest.mark.parametrize("language", sorted(BOTS))
def test_a_bot_is_short(language: str) -> None:
    assert len(BOTS[language].read_text("utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_bot_plays_at_a_table(bot: Bot, server: Server, ruleset: str) -> None:
    host = Client(server.url)
    host = Client(server.url, host.post("/players", {"name": "Host"}).body["token"])
    settings = {"ruleset": ruleset, "turn_seconds": 3600, "options": {"rounds_to_win": 1}}
    game_id = host.post("/games", settings | {"max_seats": 2}).body["game_id"]
    with ThreadPoolExecutor(1) as threads:
        printed = threads.submit(bot, server.url, game_id)
        while len((game := host.get(f"/games/{game_id}").body)["seats"]) < 2:
            assert not printed.done(), printed.result()
            host.get(f"/games/{game_id}/events", after=game["version"], wait=1)
        host.post(f"/games/{game_id}/start")
        ended = python_code("integrate.md", "play")["play"](f"{server.url}/v1", host.token, game_id)
        assert printed.result() == ended["status"] == "finished"


def test_bots_and_the_code_in_the_readmes_play_computers(
    installation: Installation,
    python_client: Path,
    typescript_client: Path,
    request: pytest.FixtureRequest,
) -> None:
    url = installation.api.url
    code = readme_code(CLIENTS / "python", "python")[0].replace(SHOWN_URL, url)
    built = typescript_client / "built"
    script = (built / "readme.js").read_text("utf-8").replace(SHOWN_URL, url)
    (built / "readme.js").write_text(script, "utf-8")
    with ThreadPoolExecutor(4) as threads:
        bots = [threads.submit(_bot(each, request), url, "halleluja") for each in BOTS]
        python = [sys.executable, "-c", code]
        shown = [
            threads.submit(run_to_its_end, python, python_client),
            threads.submit(run_to_its_end, [tools.node(), "readme.js"], built),
        ]
        assert [each.result() for each in bots] == ["finished", "finished"]
        assert [each.result() for each in shown] == ["", ""]


def test_the_code_for_the_sandbox_in_the_readmes_runs(
    python_client: Path, typescript_client: Path, server: Server
) -> None:
    code = readme_code(CLIENTS / "python", "python")[1].replace(SHOWN_URL, server.url)
    assert run_to_its_end([sys.executable, "-c", code], python_client) == ""
    built = typescript_client / "built"
    script = (built / "sandbox.js").read_text("utf-8").replace(SHOWN_URL, server.url)
    # Where it finds the package, and not where the next run looks for it.
    here = built / f"sandbox-{server.port}.js"
    here.write_text(script, "utf-8")
    assert run_to_its_end([tools.node(), here.name], built) == ""


def test_a_newcomer_gets_from_the_npm_package_to_a_bot(
    installation: Installation, typescript_client: Path, tmp_path: Path
) -> None:
    """All that the README says, with what is packed already."""
    (block,) = readme_code(tools.TYPESCRIPT, "sh")
    install, use = block.replace(SHOWN_URL, installation.api.url).split("cp ", 1)
    checkout, project = tmp_path / "checkout", tmp_path / "bot"
    shutil.copytree(CLIENTS, checkout / "clients", ignore=SKIPPED)
    (archive,) = typescript_client.parent.glob("*.tgz")
    shutil.copy(archive, checkout / "clients" / "typescript")
    project.mkdir()
    tools.npm_install(install, project, ABBOT=str(checkout))
    command = ["sh", "-euc", f"cp {use}"]
    assert run_to_its_end(command, project, ABBOT=str(checkout)).endswith("finished")
    assert (project / "phone.js").exists()
    # It names the versions with which the package is made.
    pins = json.loads((tools.TYPESCRIPT / "package.json").read_text("utf-8"))["devDependencies"]
    assert all(f"{name}@{pins[name]}" in install for name in ("typescript", "@types/node"))


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")
def test_what_the_readmes_build_is_no_part_of_the_checkout(tmp_path: Path) -> None:
    made = [
        "abbot_client-1.0.0-py3-none-any.whl",
        "clients/typescript/abbot-client-1.0.0.tgz",
        "clients/typescript/dist/index.js",
        "clients/typescript/node_modules/typescript/package.json",
        "clients/typescript/src/generated/api.ts",
        "clients/python/src/abbot_client/generated/client.py",
    ]
    kept = ["clients/typescript/src/abbot.ts", "clients/python/src/abbot_client/abbot.py"]
    tools.run("git", "init", folder=tmp_path)
    shutil.copy(ROOT / ".gitignore", tmp_path)
    command = ["git", "check-ignore", "--no-index", *made, *kept]
    assert tools.run(*command, folder=tmp_path).split() == made


def test_the_python_package_is_typed(python_client: Path, tmp_path: Path) -> None:
    """What is written by hand; what is generated is used with its types."""
    assert (python_client / "abbot_client" / "py.typed").exists()
    modules = [str(each) for each in (python_client / "abbot_client").glob("*.py")]
    options = ["--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}"]
    code = [*modules, str(BOTS["python"])]
    tools.run(sys.executable, "-m", "mypy", *options, *code, folder=python_client)
    wrong = tmp_path / "wrong.py"
    wrong.write_text('from abbot_client import Abbot\nAbbot("x").move("y", "z")\n')
    with pytest.raises(AssertionError, match='has incompatible type "str"; expected "Move"'):
        tools.run(sys.executable, "-m", "mypy", *options, str(wrong), folder=python_client)


def test_the_npm_package_holds_what_it_needs(typescript_client: Path) -> None:
    package = typescript_client / "node_modules" / "abbot-client"
    names = {str(each.relative_to(package)) for each in package.rglob("*") if each.is_file()}
    assert {"dist/index.js", "dist/index.d.ts", "dist/generated/api.d.ts", "README.md"} <= names
    assert not [name for name in names if not name.startswith(("dist/", "package.json", "README"))]
