"""Sets as bits, counted and read."""

from __future__ import annotations

import random

import pytest

from domain.masks import mask_of, nth, numbers


def test_a_mask_is_read_in_ascending_order() -> None:
    rng = random.Random("masks")
    for _ in range(200):
        width = rng.choice((1, 5, 32, 54, 400, 2000))
        chosen = sorted(rng.sample(range(width), rng.randint(1, width)))
        held = sum(1 << number for number in chosen)
        assert numbers(held) == chosen
        places = range(len(chosen)) if len(chosen) < 100 else rng.sample(range(len(chosen)), 50)
        assert [nth(held, place) for place in places] == [chosen[place] for place in places]
    assert numbers(0) == []


def test_a_mask_of_cards_is_their_bits() -> None:
    bits = {"a": 1, "b": 2, "c": 4}
    assert mask_of(["c", "a"], bits) == 5
    with pytest.raises(KeyError):
        mask_of(["d"], bits)
