"""A batch of due turns: each is settled on its own, and no log says what a hand holds."""

from __future__ import annotations

import logging
import time
import uuid

import pytest

from eventstore.errors import Unavailable
from eventstore.executor import Executor, Outcome
from tests.workers.tables import TURN_SECONDS, Matches
from workers.settling import ATTEMPTS_WITHOUT_STORE, DueTurn, settle

CARD = "E-rose"


class Troubled(Executor):
    """The executor, but games named here end in the error that stands with them."""

    def __init__(self, executor: Executor, errors: dict[str, Exception]) -> None:
        super().__init__(executor.store)
        self.errors = errors
        self.asked: list[str] = []

    def expire(self, game_id: str, round_number: int, turn: int) -> Outcome | None:
        self.asked.append(game_id)
        if game_id in self.errors:
            raise self.errors[game_id]
        return super().expire(game_id, round_number, turn)


def due(game_id: str, kind: str = "turn", turn: int = 1) -> DueTurn:
    return DueTurn(game_id, kind, 1, turn)


def test_one_bad_game_keeps_no_other_from_being_settled(
    executor: Executor, matches: Matches, caplog: pytest.LogCaptureFixture
) -> None:
    late, early = matches.start(), matches.start(turn_seconds=60)
    missing, broken = str(uuid.uuid4()), str(uuid.uuid4())
    troubled = Troubled(executor, {broken: ValueError(f"{CARD} is held twice")})
    time.sleep(TURN_SECONDS + 0.1)
    with caplog.at_level(logging.INFO):
        tally = settle(
            troubled,
            [
                due(missing),
                due(broken),
                due(early.game_id, kind="unheard-of"),
                due(early.game_id),
                due(early.game_id, turn=7),
                due(late.game_id),
                due(late.game_id),
            ],
        )
    assert tally == {"failed": 2, "left": 1, "stale": 2, "settled": 1}
    assert len(late.expiries()) == 1
    assert early.expiries() == []
    assert missing in caplog.text
    assert broken in caplog.text
    assert CARD not in caplog.text


def test_without_a_store_the_rest_of_a_batch_is_left(executor: Executor) -> None:
    names = [str(uuid.uuid4()) for _ in range(6)]
    troubled = Troubled(executor, {name: Unavailable("away") for name in names})
    tally = settle(troubled, [due(name) for name in names])
    assert troubled.asked == names[:ATTEMPTS_WITHOUT_STORE]
    assert tally["failed"] == ATTEMPTS_WITHOUT_STORE
    assert tally["left"] == len(names) - ATTEMPTS_WITHOUT_STORE
