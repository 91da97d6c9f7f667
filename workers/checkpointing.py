"""The chore that signs checkpoints."""

from __future__ import annotations

import logging

from eventstore.checkpoints import Checkpoints
from eventstore.signing import Signer
from workers.resources import Resources

log = logging.getLogger(__name__)

EVERY_SECONDS = 60.0
"""What is removed sooner than this after it was recorded, no checkpoint tells of."""

MOST_AT_ONCE = 20


def write_checkpoints(resources: Resources) -> None:
    """Sign what has happened since the last checkpoint, some checkpoints long.

    Each is logged: whoever keeps the logs elsewhere can tell if checkpoints themselves are removed.
    """
    pool = resources.store().pool
    checkpoints = Checkpoints(pool)
    signer = Signer(pool, resources.settings.signing_keys)
    for _ in range(MOST_AT_ONCE):
        made = checkpoints.write(signer)
        if made is None:
            return
        log.info(
            "Checkpoint %d:%s covers the feed up to %d.", made.number, made.hash, made.position
        )
