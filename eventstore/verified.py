"""The checks of records, made once for the same record: they follow from its events alone."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence

from domain.events import Recorded
from domain.verification import Check, verify

from .recorded import body_of

MOST = 256
"""Records whose checks a process keeps."""


class Verified:
    """`verify`, with what it said of the records that were looked at last.

    A record is known again by all of its events as they were just read, so what was changed in the
    database since is another record and is checked anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, list[Check]] = OrderedDict()

    def checks(self, events: Sequence[Recorded], secret: bytes | None) -> list[Check]:
        """The checks of a whole record, all of its hidden parts included; without the secret those
        that do not need it."""
        digest = hashlib.sha256(secret or b"")
        try:
            for event in events:
                digest.update(body_of(event) + bytes.fromhex(event.hash))
        except (TypeError, ValueError):  # what no event can hold, so somebody else wrote it
            return verify(events, secret=secret)
        key = digest.digest()
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return list(known)
        made = verify(events, secret=secret)
        with self._lock:
            self._known[key] = made
            while len(self._known) > MOST:
                self._known.popitem(last=False)
        return list(made)
