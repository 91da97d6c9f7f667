"""What the npm package promises: see `promises.ts`."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.api.server import Server
from tests.clients import tools
from tests.clients.trouble import trouble

PATIENCE = 120


def test_it_does_what_it_promises(typescript_client: Path, server: Server) -> None:
    with trouble(server.port) as proxy:
        proxy.next["other"] = "lost"
        command = [tools.node(), "built/promises.js", server.url, proxy.url]
        with subprocess.Popen(
            command,
            cwd=typescript_client,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            line = process.stdout.readline()
            assert proxy.did["lost"] == 1 or process.poll() is not None
            proxy.next["other"] = "lost"
            process.stdin.write("again\n")
            process.stdin.flush()
            told, said = process.communicate(timeout=PATIENCE)
        assert (line, told) == ("keyed\n", "done\n"), said
        assert proxy.did["lost"] == 2


def test_it_needs_nothing_of_node(typescript_client: Path) -> None:
    """It was compiled with what browsers have; and it imports one package."""
    package = typescript_client / "node_modules" / "abbot-client" / "dist"
    imported = {
        line.rsplit('"', 2)[1]
        for path in package.rglob("*.js")
        for line in path.read_text("utf-8").splitlines()
        if line.startswith(("import ", "export ")) and " from " in line
    }
    assert "openapi-fetch" in imported
    assert {name for name in imported if not name.startswith(".")} == {"openapi-fetch"}
