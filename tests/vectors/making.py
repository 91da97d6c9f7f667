"""The files of docs/vectors, made anew: `python -m tests.vectors.making` writes them.

What they say is computed by the second implementation, tests/domain/naive.py, where it has it.
"""

from __future__ import annotations

import base64
import itertools
import json
from pathlib import Path
from typing import Any

from joserfc.jwk import OKPKey

from tests.domain import naive
from tests.domain.games import RandomGame
from tests.domain.positions import started
from tests.domain.verification.records import chained, play_out
from tests.eventstore.exports import Notary

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "vectors"
SECRET = bytes(range(32))
GAME_ID = "019ab3c0-5d00-7000-8000-00000000000a"


def _nested(levels: int) -> list[Any]:
    return [_nested(levels - 1)] if levels > 1 else []


_VALUES: list[Any] = [
    {},
    [],
    {"b": 1, "a": [True, False, {"c": "", "B": -0}]},
    {"10": 1, "9": 2, "": 3, "a-b": 4, "a_b": 5, "A": 6},
    [0, -1, 2**53 - 1, 1 - 2**53],
    'quote " backslash \\ slash / \b\t\n\f\r \x00\x1f\x7f',
    "é € 𝄞 \u2028 \uffff \ufeff",
    {"at": "2026-11-30T09:32:10.123456Z", "by": {"kind": "clock", "seat": 0}, "data": {}},
    _nested(16),
]
_REFUSED = [
    ('{"a": 1}', "white space"),
    ('{"b":1,"a":2}', "order"),
    ('{"a":1,"a":1}', "a name twice"),
    ('{"a":1.0}', "a fraction"),
    ('{"a":1e2}', "an exponent"),
    ('{"a":-0}', "minus nought"),
    ('{"a":01}', "a leading zero"),
    ('{"a":9007199254740993}', "beyond 2^53 - 1"),
    ('{"\\u0061":1}', "an escape that is not needed"),
    ('{"a":"\\/"}', "an escape that is not needed"),
    ('{"a":"\\u001F"}', "upper-case hex"),
    ('{"a":"\\ud800"}', "a lone surrogate"),
    ('{"é":1}', "a name that is not ASCII"),
    ('{"a":NaN}', "no number"),
    ("\ufeff{}", "a byte order mark"),
    ("{}\r", "a carriage return"),
    ("[" * 17 + "]" * 17, "deeper than 16 levels"),
    ('{"a":null}', "null"),
]
_REFUSED_BYTES = [
    ("7b2261223a22ff227d", "a byte that no UTF-8 has"),
    ("7b2261223a22c080227d", "an overlong form"),
    ("7b2261223a22eda080227d", "a surrogate"),
    ("7b2261223a22f4908080227d", "beyond U+10FFFF"),
    ("7b2261223a22e282227d", "a cut character"),
]


def notary() -> Notary:
    """Signs with a key that everybody knows."""
    made = Notary()
    seed = base64.urlsafe_b64encode(bytes(range(32))).rstrip(b"=").decode()
    public = _public(bytes(range(32)))
    made.use(OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "d": seed, "x": public}))
    return made


def _public(seed: bytes) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    raw = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def canonical_json() -> dict[str, Any]:
    return {
        "cases": [{"value": v, "canonical": naive.jcs(v).decode()} for v in _VALUES],
        "refused": [{"text": text, "reason": reason} for text, reason in _REFUSED],
        "refused_bytes": [{"hex": text, "reason": reason} for text, reason in _REFUSED_BYTES],
    }


def shuffle() -> dict[str, Any]:
    uses = [("lot", 0, 0, ["", ""]), ("deal", 1, 0, ["0a", ""]),
            ("reshuffle", 2, 3, ["", "", "ff"]),
            ("auto-pick", 1, 57, ["", ""])]  # fmt: skip
    streams = []
    for purpose, round_number, n, seeds in uses:
        key = naive.key(
            SECRET, GAME_ID, purpose=purpose, round_number=round_number, n=n, seeds=seeds
        )
        what = {"game_id": GAME_ID, "n": n, "purpose": purpose, "round": round_number,
                "seeds": seeds}  # fmt: skip
        words = list(itertools.islice(naive.words(key), 20))
        streams.append({"of": what, "key": key.hex(), "words": words})
    streams.append(_sandbox_stream())
    key = bytes.fromhex(streams[1]["key"])
    numbers = []
    for k in (1, 2, 3, 52, 54, 2**31 + 1, 2**32):
        stream = naive.words(key)
        numbers.append({"below": k, "numbers": [naive.below(stream, k) for _ in range(12)]})
    shuffles = [
        {"before": before, "after": naive.shuffled(naive.words(key), before)}
        for before in (["x"], ["a", "b", "c"], naive.CARDS, naive.UNITS)
    ]
    return {
        "secret": SECRET.hex(),
        "commitment": {"game_id": GAME_ID, "commitment": naive.commitment(SECRET, GAME_ID)},
        "salts": [{"version": v, "salt": naive.salt(SECRET, v)} for v in (1, 9, 312)],
        "streams": streams,
        "numbers": {"key": key.hex(), "cases": numbers},
        "shuffles": {"key": key.hex(), "cases": shuffles},
    }


DEAL = "first-steps"


def _sandbox_stream() -> dict[str, Any]:
    named = {"n": 0, "purpose": "deal", "seeds": ["", ""]}
    key = naive.key(
        SECRET, "", purpose="deal", round_number=1, n=0, seeds=["", ""], sandbox_deal=DEAL
    )
    words = list(itertools.islice(naive.words(key), 20))
    return {"of": {"deal": DEAL, **named, "round": 1}, "key": key.hex(), "words": words}


def sandbox_record() -> list[Any]:
    """A whole sandbox game: its clock is moved, and two rounds are dealt."""
    table = started("vallelujah", secret=naive.deal_secret(DEAL), deal=DEAL)
    table.advance(20_000)
    while table.game.round == 1:
        assert table.game.turn is not None
        move = dict(table.legal()[0])
        table.move(table.game.turn.seat, move.pop("type"), **move)
    table.advance(66_000)
    table.expire()
    table.resign(1)
    return chained(table.log)


def _record(ruleset: str) -> list[Any]:
    """A short whole game, with seeds, in which hidden things happen."""
    for seed in itertools.count():
        play = RandomGame(ruleset, 2, seed=("vector", seed))
        if play.options["rounds_to_win"] > 1 or not any(
            seat.client_seed for seat in play.table.game.seats.values()
        ):
            continue
        record = play_out(play)
        types = {event.type for event in record}
        wanted = {"pile.reshuffled", "turn.expired"} if ruleset == "halleluja" else {"arena.taken"}
        if wanted <= types and len(record) < 160:
            return record
    raise AssertionError


_EVENTFUL = {"seat.left", "seat.seeded", "turn.expired", "seat.resigned", "round.won"}


def _long_record() -> list[Any]:
    """A whole game of Halleluja in which all happens that a verifier has to follow."""
    for seed in itertools.count():
        play = RandomGame("halleluja", 3 + seed % 2, seed=("long vector", seed))
        seeded = [seat for seat in play.table.game.seats.values() if seat.client_seed]
        if play.options["rounds_to_win"] == 1 or len(seeded) < 2:
            continue
        if not any(event.type == "seat.left" for event in play.table.log):
            continue
        record = play_out(play)
        if len(record) < 600 and {e.type for e in record} >= _EVENTFUL and _shuffles(record):
            return record
    raise AssertionError


def _shuffles(record: list[Any]) -> bool:
    """Whether in one round a resigned hand and discards are shuffled, and another round follows."""
    of_round: list[set[bool]] = []
    for before, event in itertools.pairwise(record):
        if event.type == "round.dealt":
            of_round.append(set())
        elif event.type == "pile.reshuffled":
            of_round[-1].add(before.type == "seat.resigned")
    return any(len(kinds) == 2 for kinds in of_round[:-1])


def chain(record: list[Any]) -> dict[str, Any]:
    events = [_members(event) for event in record[:4]]
    bodies = [
        naive.jcs({k: v for k, v in e.items() if k not in ("hash", "prev_hash")}).decode()
        for e in events
    ]
    return {"events": events, "bodies": bodies}


def _members(event: Any) -> dict[str, Any]:
    return {
        name: getattr(event, name)
        for name in ("game_id", "version", "type", "at", "by", "data", "prev_hash", "hash")
    }


def signature(record: list[Any]) -> dict[str, Any]:
    signer = notary()
    last = record[-1]
    said = {"game_id": last.game_id, "version": last.version, "hash": last.hash, "at": last.at}
    move = next(e for e in record if e.by["kind"] == "player" and e.type.startswith("b"))
    head, receipt = signer.sign(said), signer.receipt(move)
    parts = head.split(".")
    last_letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    spare = last_letter[last_letter.index(head[-1]) ^ 1]
    other = receipt.split(".")
    return {
        "jwks": signer.jwks,
        "head": {"jws": head, "payload": said},
        "receipt": {
            "jws": receipt,
            "payload": {
                "at": move.at, "game_id": move.game_id, "hash": move.hash,
                "player_id": move.by["player_id"], "version": move.version,
            },
        },
        "refused": [
            {"jws": f"{parts[0]}.{other[1]}.{parts[2]}", "reason": "another payload"},
            {"jws": head[:-1] + spare, "reason": "spare bits of the last digit"},
            {"jws": head + "=", "reason": "padding"},
            {"jws": f"{parts[0]}.{parts[1]}", "reason": "two parts"},
            {"jws": f"e30.{parts[1]}.{parts[2]}", "reason": "an empty header"},
        ],
    }  # fmt: skip


def sandbox_signature(record: list[Any]) -> dict[str, Any]:
    signer = notary()
    move = next(e for e in record if e.by["kind"] == "player" and e.type.startswith("b"))
    payload = {
        "at": move.at, "game_id": move.game_id, "hash": move.hash,
        "player_id": move.by["player_id"], "sandbox": True, "version": move.version,
    }  # fmt: skip
    return {
        "receipt": {"jws": signer.sign(payload), "payload": payload},
        "refused": [
            {"jws": signer.receipt(move), "reason": "does not say that it is a sandbox game's"},
            {"jws": signer.sign({**payload, "sandbox": False}), "reason": "says that it is not"},
        ],
    }


def files() -> dict[str, bytes]:
    """The name and content of every file."""
    halleluja, vallelujah = _record("halleluja"), _record("vallelujah")
    sandbox = sandbox_record()
    signer = notary()
    pages = {
        "canonical.json": canonical_json(),
        "shuffle.json": shuffle(),
        "chain.json": chain(vallelujah),
        "signature.json": signature(vallelujah),
        "sandbox-signature.json": sandbox_signature(sandbox),
    }
    return {
        **{name: _page(page) for name, page in pages.items()},
        "halleluja.ndjson": signer.export(halleluja),
        "vallelujah.ndjson": signer.export(vallelujah),
        "halleluja-long.ndjson": signer.export(_long_record()),
        "sandbox.ndjson": signer.export(sandbox),
    }


def _page(page: dict[str, Any]) -> bytes:
    return json.dumps(page, indent=1, ensure_ascii=True).encode() + b"\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in files().items():
        (FOLDER / name).write_bytes(content)
