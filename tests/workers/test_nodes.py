"""Worker nodes in processes of their own: every due turn is settled once, whatever dies."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eventstore.executor import Executor
from tests.workers.conftest import Nodes
from tests.workers.servers import Valkey, valkey, wait_for
from tests.workers.tables import TURN_SECONDS, Match, lateness, start_match


@pytest.fixture
def broker() -> Iterator[Valkey]:
    with valkey() as server:
        yield server


def several(executor: Executor, count: int, **options: object) -> list[Match]:
    return [start_match(executor, **options) for _ in range(count)]  # type: ignore[arg-type]


def all_expired(matches: list[Match], times: int = 1) -> bool:
    return all(len(match.expiries()) >= times for match in matches)


def worst(matches: list[Match]) -> float:
    return max(each.late for match in matches for each in match.expiries())


def test_a_turn_whose_time_runs_out_is_played(
    executor: Executor, nodes: Nodes, broker: Valkey
) -> None:
    node = nodes("one", broker.url)
    node.wait_until_up()
    matches = several(executor, 10)
    wait_for(lambda: all_expired(matches), TURN_SECONDS + 5, "turns expire")
    print(lateness(matches))
    assert "abbot.settle" in node.output(), "the pool settles turns, not the node itself"
    assert worst(matches) < 1
    assert node.stop() == 0
    for match in matches:
        assert match.executor.store.load(match.game_id) is not None
