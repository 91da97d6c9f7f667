"""The contract's shuffle, chain and commitment, written out a second time as plainly as possible.

Nothing here is shared with the product: what the tests recompute with this module is what an
auditor with a few lines of another language would compute.
"""

import hashlib
import hmac
import json

SYMBOLS = ("apple", "clover", "rose", "strawberry")
FIGURES = "ABCDEFGH"
BANNERS = ("crimson", "azure", "forest", "gold", "slate", "coral")

CARDS = [f"{figure}-{symbol}" for symbol in SYMBOLS for figure in FIGURES]
UNITS = [f"{banner}-{power}" for banner in BANNERS for power in range(1, 10)]


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def jcs(value):
    """RFC 8785 for what the record holds: ASCII keys, strings, whole numbers."""
    return _ENCODER.encode(value).encode()


def commitment(secret, game_id):
    return hashlib.sha256(secret + game_id.encode()).hexdigest()


def salt(secret, version):
    return hmac.new(secret, f"salt:{version}".encode(), "sha256").hexdigest()[:32]


def deal_secret(name):
    return hashlib.sha256(f"abbot sandbox deal {name}".encode()).digest()


def key(secret, game_id, *, purpose, round_number, n, seeds, sandbox_deal=None):
    named = {
        **({"game_id": game_id} if sandbox_deal is None else {"deal": sandbox_deal}),
        "purpose": purpose,
        "round": round_number,
        "n": n,
        "seeds": list(seeds),
    }
    return hmac.new(secret, jcs(named), "sha256").digest()


def words(key_bytes):
    counter = 0
    while True:
        block = hashlib.sha256(key_bytes + counter.to_bytes(4, "big")).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(block[start : start + 4], "big")
        counter += 1


def below(stream, k):
    while True:
        word = next(stream)
        if word < 2**32 - 2**32 % k:
            return word % k


def shuffled(stream, items):
    items = list(items)
    for i in range(len(items) - 1, 0, -1):
        j = below(stream, i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def deal(stream, whole_set, seats, first, each):
    """Hands (in the order dealt) and what is left, from element 0 of the shuffled set on."""
    order = shuffled(stream, whole_set)
    start = seats.index(first)
    clockwise = seats[start:] + seats[:start]
    hands = {seat: [] for seat in clockwise}
    for _ in range(each):
        for seat in clockwise:
            hands[seat].append(order.pop(0))
    return hands, order
