"""What the operating system allows a process."""

from __future__ import annotations

import contextlib
import resource


def allow_files(wanted: int) -> int:
    """Let this process and those that it starts have `wanted` files open, connections among them,
    or as many as its hard limit allows; how many that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    # Some systems allow less than they say.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
