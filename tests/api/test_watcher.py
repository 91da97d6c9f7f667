"""The thread that looks for all who wait."""

from __future__ import annotations

from collections.abc import Mapping

from api.watching import DENIED, Guard, Watcher
from domain.events import Recorded
from eventstore.ids import uuid7
from eventstore.pool import Pool
from eventstore.recorded import ZERO_HASH
from eventstore.watching import Known, Watching


class Failing(Watching):
    """Can tell no news."""

    asked = 0

    def news(self, known: Mapping[str, Known], *, late: bool = False) -> dict[str, list[Recorded]]:
        self.asked += 1
        raise RuntimeError("something that nobody has thought of")


def test_whatever_goes_wrong_with_games_who_may_no_longer_see_one_is_let_go(pool: Pool) -> None:
    watching = Failing(pool)
    watcher = Watcher(watching, check_seconds=0.1)
    try:
        with watcher.game(uuid7(), Known(1, ZERO_HASH)) as watch:
            watch.until(lambda: watching.asked > 0, 5)
            watcher.guard(Guard(watch, uuid7(), "audit", ()))
            watch.until(lambda: watch.ended is not None, 10)
            assert watch.ended == DENIED
    finally:
        watcher.stop()
