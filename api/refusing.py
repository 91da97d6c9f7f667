"""Refusals on request: what a healthy server seldom says, for tests of clients in the sandbox."""

from __future__ import annotations

from collections.abc import Callable

from flask import request

from domain.wording import Sentence

from . import auth, rates
from .problems import Problem, forbidden, unavailable

HEADER = "Abbot-Sandbox-Refuse"

CODES: dict[str, Callable[[], Problem]] = {
    "unauthenticated": auth.no_longer_valid,
    "rate-limited": rates.used_up,
    "unavailable": unavailable,
}
"""What can be asked for, each as it is said elsewhere."""


def refuse_as_asked(identity: auth.Identity) -> None:
    """Refuse the request, before anything is done, if its header asks for that. Only callers in the
    sandbox are obeyed; of anyone else it is a 403."""
    asked = request.headers.get(HEADER)
    if asked is None:
        return
    known = identity.player or identity.app
    if known is None or not known.sandbox:
        raise forbidden("Only players registered with sandbox true have requests refused.")
    if asked not in CODES:
        raise Problem(
            "malformed-request",
            Sentence("{header} names one of {codes}.", header=HEADER, codes=", ".join(CODES)),
        )
    raise CODES[asked]()
