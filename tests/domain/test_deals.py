"""The deals that docs/integrate.md names lead to what it says of them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from domain.halleluja.cards import FIGURES
from domain.sandbox import secret_of
from eventstore.settings import ROOT

from .positions import Table, started

PAGE = (ROOT / "docs" / "integrate.md").read_text("utf-8")
NAMES = {
    line.split("`")[1]: line.rsplit("|", 2)[1].strip()
    for line in PAGE.splitlines()
    if line.startswith("| `") and ("| Halleluja |" in line or "| Vallelujah |" in line)
}


def dealt(name: str) -> Table:
    ruleset = "vallelujah" if name.startswith(("banner-", "nines-")) else "halleluja"
    table = started(ruleset, secret=secret_of(name), deal=name)
    assert table.game.turn is not None
    assert table.game.turn.seat == 0, "the host begins"
    return table


def playable(table: Table) -> set[str]:
    return {move["card"][0] for move in table.legal() if move["type"] == "play"}


def test_all_are_looked_at() -> None:
    figures = {name.split("-")[1].upper() for name in NAMES if name.startswith("play-")}
    assert figures == set(FIGURES)
    others = {name.rpartition("-")[0] for name in NAMES if not name.startswith("play-")}
    assert others == {"draw-fits", "draw-in-vain", "four-sitters", "banner", "nines"}


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("play-")])
def test_a_figure_can_be_played(name: str) -> None:
    assert name.split("-")[1].upper() in playable(dealt(name))


def of(kind: str) -> Table:
    return dealt(next(name for name in NAMES if name.rpartition("-")[0] == kind))


def test_a_card_is_drawn_that_fits() -> None:
    table = of("draw-fits")
    assert table.legal() == [{"type": "draw"}]
    table.move(0, "draw")
    assert {move["type"] for move in table.legal(0)} >= {"play", "keep"}


def test_a_card_is_drawn_that_does_not_fit() -> None:
    table = of("draw-in-vain")
    assert table.legal() == [{"type": "draw"}]
    table.move(0, "draw")
    assert table.game.turn.seat == 1


def sat_out() -> tuple[Table, str]:
    """The table after three cards H, and the last of these."""
    table = of("four-sitters")
    (last,) = [card for card in table.hand(0) if card[0] != "H"]
    final = f"H-{last[2:]}"
    others = [card for card in table.hand(0) if card[0] == "H" and card != final]
    others.sort(key=lambda card: card[2:] != table.seen()["table"]["top"][2:])
    for card in others:
        table.move(0, "play", card=card)
        assert table.game.turn.seat == 0
    return table, final


def test_a_round_is_won_in_five_plays() -> None:
    table, final = sat_out()
    table.move(0, "play", card=final, call="amen")
    table.move(0, "play", card=table.hand(0)[0], call="halleluja")
    assert table.game.result == {"outcome": "won", "winner": 0, "reason": "rounds",
                                 "scores": {"0": 1, "1": 0}}  # fmt: skip


@pytest.mark.parametrize(
    ("call", "reason", "cards"),
    [(None, "forgotten-call", 1), ("halleluja", "forgotten-call", 1), ("mau", "worldly-call", 3)],
)
def test_a_call_is_forgotten(call: str | None, reason: str, cards: int) -> None:
    table, final = sat_out()
    named: dict[str, Any] = {} if call is None else {"call": call}
    events = table.move(0, "play", card=final, **named)
    drawn = next(event for event in events if event.type == "cards.drawn")
    assert (drawn.data["reason"], drawn.data["count"]) == (reason, cards)


def test_a_banner_is_strong() -> None:
    banners = Counter(unit.split("-")[0] for unit in of("banner").hand(0))
    assert max(banners.values()) >= 6


def test_many_nines() -> None:
    assert sum(unit.endswith("-9") for unit in of("nines").hand(0)) >= 4
