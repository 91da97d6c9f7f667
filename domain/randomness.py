"""Every random choice of a game, computed from its secret and the seats' own seeds.

Anyone who knows the secret, which is published when the game is over, can compute each shuffle,
lot and pick again. Nothing here draws randomness of its own.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterator, Sequence
from typing import TypeVar

from .canonical import canonical

Item = TypeVar("Item")

DEAL, RESHUFFLE, LOT, AUTO_PICK = "deal", "reshuffle", "lot", "auto-pick"

_WORDS = 1 << 32
_EIGHT = struct.Struct(">8I").unpack
"""The words of a block."""


def commitment(secret: bytes, game_id: str) -> str:
    """Hex of SHA-256 over the secret's bytes and the game's id: published before any seed."""
    return hashlib.sha256(secret + game_id.encode()).hexdigest()


def salt(secret: bytes, version: int) -> str:
    """The salt of the event `version`: keeps the hash of hidden cards from being guessed."""
    return hmac.digest(secret, b"salt:%d" % version, "sha256").hex()[:32]


class Chance:
    """One stream of random words, for one use of one purpose in one round.

    Words are the big-endian 32-bit words of SHA-256(key || counter), the counter four big-endian
    bytes from 0, where the key is HMAC-SHA256(secret, JCS of what the stream is for). That names
    the game, or the `deal` of a sandbox game, so that it deals the same in any.
    """

    __slots__ = ("_words",)

    def __init__(
        self,
        secret: bytes,
        *,
        game_id: str,
        purpose: str,
        round_number: int,
        n: int,
        seeds: Sequence[str],
        deal: str | None = None,
    ) -> None:
        meant_for = {
            **({"game_id": game_id} if deal is None else {"deal": deal}),
            "purpose": purpose,
            "round": round_number,
            "n": n,
            "seeds": list(seeds),
        }
        self._words = _words(hmac.digest(secret, canonical(meant_for), "sha256"))

    def below(self, k: int) -> int:
        """A uniform number from 0 to k - 1, without bias: words past the last full k are used up.

        k is 1 to 2^32.
        """
        limit = _WORDS - _WORDS % k
        for word in self._words:
            if word < limit:
                return word % k
        raise AssertionError("the words do not end")

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """`items` in a uniform random order (Fisher-Yates, from the last place down)."""
        deck = list(items)
        below = self.below
        for i in range(len(deck) - 1, 0, -1):
            j = below(i + 1)
            deck[i], deck[j] = deck[j], deck[i]
        return deck


def _words(key: bytes) -> Iterator[int]:
    for counter in range(_WORDS):
        yield from _EIGHT(hashlib.sha256(key + counter.to_bytes(4, "big")).digest())
