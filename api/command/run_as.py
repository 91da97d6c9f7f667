"""As whom PostgreSQL runs: it refuses to be root, so a root's `./abbot` needs another way.

An ordinary user runs it as himself. Root runs it as the user who owns the data that is there; for
new data as the checkout's owner or, where that is root too, under an id that no user has, if that
can reach the files; else in a user namespace, in which root's own id is shown as an ordinary one.
As `nobody` only where neither works: other services run as that user, and could read the data. No
permission outside of the data folder is ever changed, and no user is made.
"""

from __future__ import annotations

import grp
import json
import os
import pwd
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from api.command.console import CommandFailed

SPAWN = Path(__file__).with_name("spawn.py")
OVERFLOW_ID = 65534
UNUSED_IDS = (54320, 59999)


@dataclass(frozen=True, slots=True)
class RunAs:
    """How to start a server: as `user`, and with the ids shown as `inside`; plainly if neither."""

    user: tuple[int, int] | None = None
    inside: tuple[int, int] | None = None

    @property
    def owner(self) -> tuple[int, int]:
        """User and group id that the server's files must belong to."""
        return self.user or (os.geteuid(), os.getegid())

    def plan(self) -> dict[str, object]:
        """This choice as part of a plan for `spawn`."""
        plan: dict[str, object] = {}
        if self.user:
            plan["user"] = self.user
        if self.inside:
            plan["inside"] = self.inside
        return plan

    def named(self) -> RunAs:
        """The same for programs that insist on a name in the system's list of users (initdb,
        the server in single-user mode): where the id has none, it is shown as one that has."""
        if self.inside or sys.platform != "linux" or _has_name(self.owner[0]):
            return self
        return RunAs(self.user, _ordinary_ids())

    def describe(self) -> str:
        who = _name(self.owner[0])
        return f"{who} in a user namespace" if self.inside else who


def spawn_command(plan: dict[str, object], command: list[str]) -> list[str]:
    """The command line that runs `command` by `plan` (see `spawn`)."""
    return [sys.executable, "-I", "-S", str(SPAWN), json.dumps(plan), *command]


def choose(cluster: Path, binaries: Path, checkout: Path) -> RunAs:
    """Decide how to run the binaries in `binaries` on the data in `cluster`, which need not
    exist yet. Raises CommandFailed, saying what to do, if there is no way."""
    owner = cluster.stat().st_uid if cluster.exists() else None
    me = os.geteuid()
    if me != 0:
        if owner not in {None, me}:
            raise CommandFailed(
                f"the data in {cluster} belongs to {_name(owner or 0)}, and you are {_name(me)}. "
                "Call this as that user, or name another folder with ABBOT_DATA."
            )
        return RunAs()
    if owner:
        candidates = [RunAs(user=(owner, cluster.stat().st_gid))]
    elif owner == 0:
        candidates = [RunAs(inside=_ordinary_ids())]
    else:
        status = checkout.stat()
        owners = [RunAs(user=(status.st_uid, status.st_gid))] if status.st_uid != 0 else []
        apart = [RunAs(user=_unused_ids()), RunAs(inside=_ordinary_ids())]
        candidates = [*owners, *apart, RunAs(user=_nobody())]
    reasons = []
    for candidate in candidates:
        # Only what makes the data needs a name.
        program = candidate if owner is not None else candidate.named()
        reason = _obstacle(program, cluster.parent, binaries)
        if reason is None:
            return candidate
        reasons.append(f"  as {candidate.describe()}: {reason}")
    raise CommandFailed(
        "PostgreSQL refuses to run as root, and no other way works here:\n"
        + "\n".join(reasons)
        + "\nCall ./abbot as an ordinary user, put the checkout (or ABBOT_DATA) where every user "
        "can reach it, for example below /opt or /srv, or set ABBOT_DATABASE_URL to a server of "
        "your own."
    )


def _unused_ids() -> tuple[int, int]:
    """A user and group id that nobody on this system has, from a range that systems leave alone."""
    taken = {user.pw_uid for user in pwd.getpwall()} | {group.gr_gid for group in grp.getgrall()}
    free = next(number for number in range(*UNUSED_IDS) if number not in taken)
    return free, free


def _nobody() -> tuple[int, int]:
    try:
        nobody = pwd.getpwnam("nobody")
        return nobody.pw_uid, nobody.pw_gid
    except KeyError:
        return OVERFLOW_ID, OVERFLOW_ID


def _ordinary_ids() -> tuple[int, int]:
    """The ids of some user with a name who isn't root; files that belong to nobody in the
    namespace show up as the overflow id, so rather not that one."""
    users = [user for user in pwd.getpwall() if user.pw_uid != 0]
    users.sort(key=lambda user: (user.pw_uid == OVERFLOW_ID, user.pw_uid))
    return (users[0].pw_uid, users[0].pw_gid) if users else (OVERFLOW_ID, OVERFLOW_ID)


def _obstacle(candidate: RunAs, folder: Path, binaries: Path) -> str | None:
    """Why the candidate cannot run PostgreSQL on data in `folder`; None if it can."""
    existing = folder
    while not existing.exists():
        existing = existing.parent
    plan = candidate.plan() | {
        "reachable": [str(existing)],
        "readable": [
            str(binaries / "bin" / "postgres"),
            str(binaries / "share" / "postgres.bki"),
            str(binaries / "lib" / "plpgsql.so"),
        ],
    }
    if sys.platform != "linux":
        plan["readable"] = [str(binaries / "bin" / "postgres")]
    tried = subprocess.run(
        spawn_command(plan, [str(binaries / "bin" / "postgres"), "--version"]),
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode == 0:
        return None
    lines = tried.stderr.strip().splitlines()
    return lines[-1].removeprefix("spawn: ") if lines else f"exit code {tried.returncode}"


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _name(uid: int) -> str:
    return pwd.getpwuid(uid).pw_name if _has_name(uid) else f"user {uid}"
