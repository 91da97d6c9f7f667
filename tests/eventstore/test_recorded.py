"""Canonical JSON: what is stored are the bytes of RFC 8785, and nothing else gets in."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.events import Event
from eventstore.recorded import ZERO_HASH, body, body_of, canonical, from_bodies, hash_after, rest

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
KEYS = st.text(st.characters(max_codepoint=127))
LEAVES = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner), max_leaves=30
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_canonical_is_rfc_8785(value: Any) -> None:
    assert canonical(value) == rfc8785.dumps(value)


def test_every_character_is_written_as_rfc_8785_says() -> None:
    text = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, 0x11000)))
    assert canonical(text) == rfc8785.dumps(text)


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        {"a": [1, {"b": 2.0}]},
        float("nan"),
        2**53,
        -(2**53),
        {"ä": 1},
        {1: 1},
        b"bytes",
        {"a": {1, 2}},
        "\ud800",
        {"a": ["\udfff"]},
    ],
)
def test_what_no_event_may_contain_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        canonical(value)


@given(st.dictionaries(KEYS, LEAVES), TEXT, st.integers(1, 2**31))
@settings(deadline=None)
def test_a_body_is_the_canonical_event(data: dict[str, Any], word: str, version: int) -> None:
    event = Event(version, "word.exclaimed", {"kind": "player", "seat": 0}, {**data, "w": word})
    at = "2026-11-30T09:32:10.123456Z"
    stored = body(at, rest("a-game", event))
    whole = {
        "game_id": "a-game",
        "version": version,
        "type": event.type,
        "at": at,
        "by": event.by,
        "data": event.data,
    }
    assert stored == rfc8785.dumps(whole)
    own = hashlib.sha256(bytes(32) + stored).hexdigest()
    assert own == hash_after(ZERO_HASH, stored)
    (recorded,) = from_bodies([orjson.loads(stored)], bytes.fromhex(own), ZERO_HASH)
    assert body_of(recorded) == stored
    assert (recorded.data, recorded.version, recorded.hash) == (event.data, version, own)
