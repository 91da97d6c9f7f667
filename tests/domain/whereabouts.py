"""Where every card is, told by the events alone.

Each event must move cards that are where it says they are; nothing may appear, vanish or be in two
places. It knows no rule of either game beyond that.
"""

from __future__ import annotations

from domain.events import Recorded

from . import naive

WHOLE = {"halleluja": naive.CARDS, "vallelujah": naive.UNITS}


class Whereabouts:
    def __init__(self, ruleset: str) -> None:
        self.whole = set(WHOLE[ruleset])
        self.hands: dict[int, list[str]] = {}
        self.pile: list[str] = []  # the draw pile, or the units out of play; top first
        self.discards: list[str] = []  # in the order laid; with the top card
        self.arena: list[str] = []
        self.left: dict[int, list[str]] = {}  # armies of who resigned, out of play
        self.leaver: int | None = None

    def all(self) -> list[str]:
        held = [card for hand in self.hands.values() for card in hand]
        gone = [card for army in self.left.values() for card in army]
        return held + self.pile + self.discards + self.arena + gone

    def follow(self, event: Recorded) -> None:
        data, seat = event.data, event.data.get("seat")
        if event.type == "round.dealt":
            self.hands = {int(seat): list(hand) for seat, hand in data["hands"].items()}
            self.pile = list(data["undealt"])
            self.discards = [data["turned_up"]] if "turned_up" in data else []
            self.arena, self.left, self.leaver = [], {}, None
        elif event.type == "card.played":
            self.hands[seat].remove(data["card"])
            self.discards.append(data["card"])
        elif event.type == "cards.drawn":
            count = data["count"]
            assert count > 0
            assert data["cards"] == self.pile[:count]
            self.pile = self.pile[count:]
            self.hands[seat] += data["cards"]
        elif event.type == "pile.reshuffled":
            kept = len(self.pile)
            assert data["draw_pile"][:kept] == self.pile
            if self.leaver is not None:
                laid, self.hands[self.leaver] = self.hands[self.leaver], []
                self.leaver = None
            else:
                laid, self.discards = self.discards[:-1], self.discards[-1:]
            assert laid
            assert sorted(data["draw_pile"][kept:]) == sorted(laid)
            assert data["count"] == len(data["draw_pile"])
            self.pile = list(data["draw_pile"])
        elif event.type == "battalion.led":
            assert not self.arena
            self.field(seat, data["units"])
        elif event.type in ("battalion.beaten", "arena.taken"):
            captured = [data["captured"]] if "captured" in data else []
            assert sorted(captured + data["discarded"]) == sorted(self.arena)
            assert data["discarded"] == sorted(data["discarded"])
            self.discards += data["discarded"]
            self.arena = []
            self.field(seat, data.get("units", []))
            self.hands[seat] += captured
        elif event.type == "seat.resigned":
            if self.discards and len(self.whole) == len(naive.CARDS):
                self.leaver = seat
            else:
                self.left[seat] = self.hands.pop(seat)
        if self.hands:
            everywhere = self.all()
            assert len(everywhere) == len(self.whole)
            assert set(everywhere) == self.whole

    def field(self, seat: int, units: list[str]) -> None:
        assert units == sorted(units)
        for unit in units:
            self.hands[seat].remove(unit)
        self.arena = list(units)
