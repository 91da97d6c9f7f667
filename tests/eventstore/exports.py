"""Exports to falsify: signed by a key of the test's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from joserfc.jwk import OKPKey

from domain.events import Recorded
from domain.redaction import EVERYTHING, Viewer, redact
from eventstore import exports, jws


class Notary:
    """A key, and what is signed with it."""

    def __init__(self) -> None:
        self.use(OKPKey.generate_key("Ed25519"))

    def use(self, key: OKPKey) -> None:
        """Sign with `key` from now on."""
        self.key = key
        self._header = jws.header(key)

    @property
    def jwks(self) -> dict[str, Any]:
        return {"keys": [jws.entry(str(self.key.thumbprint()), jws.public_jwk(self.key))]}

    def sign(self, payload: Mapping[str, Any]) -> str:
        return jws.sign(self.key, self._header, payload)

    def export(
        self, events: Sequence[Recorded], seat: int | None = None, over: bool = True
    ) -> bytes:
        """The export of a record, or of a running game as the seat sees it."""
        viewer = EVERYTHING if over else Viewer(seat)
        shown = [redact(e, viewer, over) for e in events]
        sandbox = "sandbox" in events[0].data
        return exports.write(shown, events[-1], self.sign, sandbox=sandbox)

    def receipt(self, event: Recorded, **more: Any) -> str:
        said = exports.signed_of(event, sandbox=False)
        return self.sign({**said, "player_id": event.by.get("player_id", ""), **more})
