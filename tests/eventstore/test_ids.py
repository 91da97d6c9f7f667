"""Ids are UUIDs of version 7 (RFC 9562)."""

from __future__ import annotations

import time
import uuid

from eventstore.ids import uuid7


def test_version_and_variant() -> None:
    for _ in range(1000):
        made = uuid.UUID(uuid7())
        assert made.version == 7
        assert made.variant == uuid.RFC_4122


def test_the_time_leads() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(uuid7())
    after = time.time_ns() // 1_000_000
    assert before <= made.int >> 80 <= after


def test_ids_sort_by_time_and_differ() -> None:
    first = uuid7()
    time.sleep(0.002)
    assert first < uuid7()
    assert len({uuid7() for _ in range(10_000)}) == 10_000


def test_all_74_random_bits_are_used() -> None:
    ones = zeros = 0
    for _ in range(500):
        number = uuid.UUID(uuid7()).int
        ones |= number
        zeros |= ~number
    random_bits = ((1 << 76) - 1) & ~(3 << 62)
    assert ones & random_bits == random_bits
    assert zeros & random_bits == random_bits
