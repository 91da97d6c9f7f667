"""The chain of hashes: whatever is changed in a record, the first wrong event is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import orjson
import pytest

from domain.events import Recorded
from eventstore.chain import Fault, verify
from eventstore.executor import Executor
from eventstore.recorded import body_of, hash_after
from tests.eventstore.tables import open_table


@pytest.fixture(scope="module")
def record(executor: Executor) -> list[Recorded]:
    """A record of a few turns."""
    table = open_table(executor, "vallelujah")
    for _ in range(6):
        table.make_move()
    return table.events()


def _verify(events: list[Recorded], record: list[Recorded]) -> Fault | None:
    return verify(events, game_id=record[0].game_id)


def test_an_untouched_record_verifies(record: list[Recorded]) -> None:
    assert _verify(record, record) is None


def test_its_end_verifies_alone(record: list[Recorded]) -> None:
    start = record[3]
    fault = verify(record[4:], game_id=start.game_id, after=start.version, prev_hash=start.hash)
    assert fault is None


EDITS: dict[str, Callable[[Recorded], Any]] = {
    "game_id": lambda event: event.game_id.replace("7", "8"),
    "version": lambda event: event.version + 1,
    "type": lambda event: event.type + "x",
    "at": lambda event: event.at[:-2] + str((int(event.at[-2]) + 1) % 10) + "Z",
    "by": lambda event: {**event.by, "kind": "ghost"},
    "data": lambda event: {**event.data, "extra": 1},
    "prev_hash": lambda event: event.prev_hash[::-1],
    "hash": lambda event: event.hash[::-1],
}


def test_every_field_can_be_edited() -> None:
    assert set(EDITS) == {field.name for field in fields(Recorded)}


@pytest.mark.parametrize("field", EDITS)
def test_an_edited_field_is_found(record: list[Recorded], field: str) -> None:
    for index, event in enumerate(record):
        edited = replace(event, **{field: EDITS[field](event)})
        if edited == event:
            continue
        fault = _verify([*record[:index], edited, *record[index + 1 :]], record)
        assert fault is not None
        assert fault.version == event.version


def test_every_changed_character_of_the_data_is_found(record: list[Recorded]) -> None:
    event = record[-1]
    text = orjson.dumps(event.data).decode()
    for place, letter in enumerate(text):
        if not letter.isalnum():
            continue
        other = "1" if letter != "1" else "2"
        try:
            data = orjson.loads(text[:place] + other + text[place + 1 :])
        except orjson.JSONDecodeError:
            continue
        fault = _verify([*record[:-1], replace(event, data=data)], record)
        assert fault is not None
        assert fault.version == event.version


def test_removed_swapped_repeated_and_inserted_events_are_found(record: list[Recorded]) -> None:
    dice = random.Random(5)
    for index in range(len(record) - 1):
        removed = record[:index] + record[index + 1 :]
        swapped = [*record[:index], record[index + 1], record[index], *record[index + 2 :]]
        repeated = [*record[: index + 1], *record[index:]]
        other = dice.choice([event for event in record if event != record[index + 1]])
        inserted = [*record[: index + 1], other, *record[index + 1 :]]
        for events, at in ((removed, 1), (swapped, 1), (repeated, 2), (inserted, 2)):
            fault = _verify(events, record)
            assert fault is not None
            assert fault.version == index + at


def test_a_time_that_goes_back_is_found(record: list[Recorded]) -> None:
    last = replace(record[-1], at="2001-01-01T00:00:00.000000Z")
    last = replace(last, hash=hash_after(last.prev_hash, body_of(last)))
    fault = _verify([*record[:-1], last], record)
    assert fault is not None
    assert "earlier" in fault.reason
