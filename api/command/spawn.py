"""Runs a server in this process's place, as the right user and tied to its supervisor's life.

Called as ``python -I -S spawn.py PLAN COMMAND...`` in a fresh process, so that nothing has to
happen between fork and exec in the supervisor. PLAN is a JSON object:

* ``parent``, ``death_signal``: on Linux the kernel sends that signal when the parent is gone;
* ``user``: ``[uid, gid]`` to become first (root only);
* ``inside``: ``[uid, gid]`` that this process's own ids are shown as in a new user namespace,
  so that a server that refuses to be root runs while its files stay root's (Linux only);
* ``readable``, ``reachable``: paths that the new user must be able to read, or to pass through;
  exits with 77 and names the first that it cannot.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4
CLONE_NEWUSER = 0x10000000
NOT_PERMITTED = 77


def main() -> None:
    plan = json.loads(sys.argv[1])
    command = sys.argv[2:]
    try:
        if plan.get("user"):
            _become(*plan["user"])
        if plan.get("inside"):
            _enter_namespace(*plan["inside"])
    except OSError as error:
        _give_up(f"cannot change the user: {error.strerror}")
    for path in plan.get("readable", []):
        if not os.access(path, os.R_OK, effective_ids=os.access in os.supports_effective_ids):
            _give_up(f"user {os.geteuid()} cannot read {path}")
    for path in plan.get("reachable", []):
        if not os.access(path, os.X_OK, effective_ids=os.access in os.supports_effective_ids):
            _give_up(f"user {os.geteuid()} cannot enter {path}")
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if "parent" in plan and sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, plan["death_signal"], 0, 0, 0)
        if os.getppid() != plan["parent"]:
            _give_up("the supervisor is gone")
    try:
        os.execv(command[0], command)
    except OSError as error:
        _give_up(f"{command[0]} cannot be run: {error.strerror}")


def _become(uid: int, gid: int) -> None:
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if sys.platform == "linux":
        # A process that changed its user may not touch its own /proc files unless it says so.
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)


def _enter_namespace(uid: int, gid: int) -> None:
    own_uid, own_gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    for name, text in (
        ("setgroups", b"deny"),
        ("uid_map", b"%d %d 1" % (uid, own_uid)),
        ("gid_map", b"%d %d 1" % (gid, own_gid)),
    ):
        # Plain calls: this user may not be able to read Python's library any more.
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(descriptor, text)
        os.close(descriptor)


def _give_up(reason: str) -> None:
    print(f"spawn: {reason}", file=sys.stderr, flush=True)
    os._exit(NOT_PERMITTED)


if __name__ == "__main__":
    main()
