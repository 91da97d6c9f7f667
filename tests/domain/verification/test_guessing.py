"""The hash of an event that hides cards gives none of them away, and would without its salt.

The attacker knows the rules, every card there is, and the event as it is shown; only the cards and
the salt are missing. Each possible hand is tried against the hash.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from domain.events import Recorded
from domain.registry import RULESETS
from domain.verification.chain import hash_of
from tests.domain.verification.records import as_seen, finished

MOST = 2
"""Cards that are guessed at once: about a thousand possible hands."""


@pytest.fixture(scope="module")
def drawn() -> list[tuple[list[Recorded], int]]:
    """Draws of one or two cards, each with the record that it is in."""
    found = []
    for record in finished(8):
        draws = [
            (record, index)
            for index, event in enumerate(record)
            if event.type == "cards.drawn" and event.data["count"] <= MOST
        ]
        found += draws[:4]
    assert any(record[index].data["count"] == 2 for record, index in found)
    return found


def _hands(event: Recorded) -> Iterator[list[str]]:
    cards = RULESETS["halleluja"].cards
    return (list(hand) for hand in itertools.permutations(cards, event.data["count"]))


def _guesses(shown: Recorded, salts: list[dict[str, Any]]) -> list[list[str]]:
    """The hands with which the event would have the hash that it shows."""
    return [
        hand
        for hand in _hands(shown)
        for salt in salts
        if hash_of(replace(shown, data={**shown.data, "cards": hand, **salt})) == shown.hash
    ]


def test_no_hand_fits_the_hash_without_the_salt(drawn: list[tuple[list[Recorded], int]]) -> None:
    for record, index in drawn:
        seen = as_seen(record[: index + 1], None)
        event = seen[index]
        assert "cards" not in event.data
        # What an attacker can think of: no salt, an empty one, the hash before.
        salts = [{}, {"salt": ""}, {"salt": event.prev_hash[:32]}]
        assert _guesses(event, salts) == []


def test_with_the_salt_or_without_any_the_hand_is_found(
    drawn: list[tuple[list[Recorded], int]],
) -> None:
    """The control: the same attack, against a record that has no salts and against one whose salt
    is known."""
    for record, index in drawn:
        event = record[index]
        salt = {"salt": event.data["salt"]}
        shown = as_seen(record[: index + 1], None)[index]
        assert _guesses(shown, [salt]) == [event.data["cards"]]
        bare = {name: value for name, value in event.data.items() if name != "salt"}
        unsalted = replace(event, data=bare)
        told = replace(shown, hash=hash_of(unsalted))
        assert _guesses(told, [{}]) == [event.data["cards"]]
