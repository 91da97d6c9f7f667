"""What becomes of a statement, told by the SQLSTATE."""

from __future__ import annotations

import psycopg
import pytest

from eventstore.database import Fate, fate_of


class Told(psycopg.OperationalError):
    """An error with that SQLSTATE, whatever it is."""

    def __init__(self, state: str) -> None:
        self.state = state
        super().__init__()

    @property
    def sqlstate(self) -> str:  # type: ignore[override]
        return self.state


@pytest.mark.parametrize(
    ("fate", "states"),
    [
        (Fate.CONFLICT, "23505"),
        (Fate.BUSY, "40001 40P01 55P03 57014 25006 53000 53100 53200 53300 53400 57P03"),
        # A session that ends, by the server or an operator, and a system that fails.
        (Fate.UNKNOWN, "08006 08P01 40003 25P03 25P04 57P01 57P02 57P04 57P05 58000 58030 58P01"),
        (Fate.UNKNOWN, "XX000 XX001"),
        (Fate.BUG, "22012 23502 23514 42601 42501 42P01 25001 25P02 0A000 P0001"),
    ],
    ids=["conflict", "busy", "gone", "server", "bug"],
)
def test_every_state_has_a_fate(fate: Fate, states: str) -> None:
    assert {state: fate_of(Told(state)) for state in states.split()} == dict.fromkeys(
        states.split(), fate
    )
