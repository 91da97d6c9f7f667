"""Ids are UUIDs of version 7 (RFC 9562)."""

from __future__ import annotations

import datetime
import os
import signal
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from eventstore import ids
from eventstore.ids import least_uuid7, uuid7


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


def test_ids_sort_in_the_order_in_which_they_were_made() -> None:
    made = [uuid7() for _ in range(10_000)]
    assert sorted(set(made)) == made


def test_ids_of_threads_differ_and_each_thread_has_its_own_in_order() -> None:
    with ThreadPoolExecutor(8) as threads:
        series = list(threads.map(lambda _: [uuid7() for _ in range(2_000)], range(8)))
    assert all(sorted(made) == made for made in series)
    assert len({each for made in series for each in made}) == 16_000


@pytest.mark.parametrize(("back", "ahead"), [(0, 0), (1, 1), (9, 9), (11, 0), (10**6, 0)])
def test_a_clock_that_is_set_back_by_seconds(
    monkeypatch: pytest.MonkeyPatch, back: int, ahead: int
) -> None:
    """A little: ids go on after the last one. By more than that, the new time counts."""
    clock, now = ids._Clock(), 1_800_000_000 * 10**9
    monkeypatch.setattr(ids, "_clock", clock)
    monkeypatch.setattr(time, "time_ns", lambda: now)
    first = uuid7()
    now -= back * 10**9
    second = uuid7()
    milliseconds = uuid.UUID(second).int >> 80
    assert milliseconds == 1_800_000_000_000 - 1000 * (back - ahead)
    assert (second > first) == (back == ahead)


def test_the_fraction_of_a_millisecond_follows_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for nanoseconds, fraction in ((0, 0), (244, 0), (245, 1), (500_000, 2048), (999_999, 4095)):
        monkeypatch.setattr(ids, "_clock", ids._Clock())
        monkeypatch.setattr(time, "time_ns", lambda n=nanoseconds: 10**18 + n)
        assert uuid.UUID(uuid7()).int >> 64 & 0xFFF == fraction


def test_all_62_random_bits_are_used() -> None:
    ones = zeros = 0
    for _ in range(500):
        number = uuid.UUID(uuid7()).int
        ones |= number
        zeros |= ~number
    random_bits = (1 << 62) - 1
    assert ones & random_bits == random_bits
    assert zeros & random_bits == random_bits


def test_no_id_of_a_moment_is_smaller_than_the_least() -> None:
    for _ in range(1000):
        least = least_uuid7(datetime.datetime.now(datetime.UTC))
        assert least <= uuid7()


def test_a_child_makes_ids_whatever_a_thread_was_doing_when_it_was_forked() -> None:
    with ids._clock._lock:  # as another thread holds it
        child = os.fork()
        if not child:
            os._exit(0 if uuid7() else 1)
    until = time.monotonic() + 10
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("the child hangs")
        time.sleep(0.01)
