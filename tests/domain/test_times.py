"""Times as the record writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.commands import Context
from domain.times import from_micros, is_time, plus_seconds, to_micros

MICROS = st.integers(-(10**16), 10**17)


@given(MICROS, st.integers(-(10**7), 10**7))
def test_whole_seconds_are_added_to_the_microsecond(micros: int, seconds: int) -> None:
    later = plus_seconds(from_micros(micros), seconds)
    assert is_time(later)
    assert to_micros(later) == micros + seconds * 1_000_000


@given(MICROS, st.integers(-(10**9), 10**9))
def test_parts_of_seconds_are_added_to_the_microsecond(micros: int, thousandths: int) -> None:
    later = plus_seconds(from_micros(micros), thousandths / 1000)
    assert later == from_micros(micros + thousandths * 1000)


@pytest.mark.parametrize(
    "text", ["2026-01-01T00:00:00+02:00Z", "2026-01-01T00:00:00.000000+00:00", "", "soon"]
)
def test_nothing_is_added_to_what_the_record_does_not_write(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        plus_seconds(text, 1)


def test_what_a_decision_is_made_with_does_not_show_the_secret() -> None:
    secret = bytes(range(32))
    shown = repr(Context(secret, "now"))
    assert repr(secret) not in shown
    assert secret.hex() not in shown
