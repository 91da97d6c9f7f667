"""Which moves are legal, found by trying everything: written from the rule sheets alone.

A position is what the seat to move sees of it. Vallelujah's battalions are found by trying the
subsets of the army, Halleluja's plays by trying every card there is with every wish. Nothing of
the product is used here, and nothing is clever. A second part makes the moves, to count the ways
a deal can go.
"""

from __future__ import annotations

import itertools
from typing import Any

from .naive import CARDS, SYMBOLS, jcs

Move = dict[str, Any]
View = dict[str, Any]

SMALL_ARMY = 8
"""Of armies up to this size every subset is tried; of larger ones those that could have the right
count."""


def legal(view: View) -> list[Move]:
    """The legal moves of the seat whose view it is, which must be the one to move, sorted."""
    assert view["turn"]["seat"] == view["you"]["seat"]
    found = {"halleluja": _halleluja, "vallelujah": _vallelujah}[view["ruleset"]](view)
    return sorted(found, key=jcs)


# ---- Halleluja


def figure(card: str) -> str:
    return card.partition("-")[0]


def symbol(card: str) -> str:
    return card.partition("-")[2]


def matches(card: str, top: str, in_force: str) -> bool:
    return figure(card) == figure(top) or symbol(card) == in_force


def _halleluja(view: View) -> list[Move]:
    """Each card of the whole set, with and without each wish: may it be played?"""
    table, you = view["table"], view["you"]
    pending = view["turn"].get("pending_draw", 0)

    def playable(card: str) -> bool:
        if card not in you["hand"]:
            return False
        if "drawn" in you and card != you["drawn"]:
            return False
        if pending:
            return figure(card) == "E"
        if figure(card) == "G" and view["options"]["mitre_wild"]:
            return True
        return matches(card, table["top"], table["symbol_in_force"])

    plays: list[Move] = []
    for card in CARDS:
        for wish in (None, *SYMBOLS):
            if playable(card) and (wish is None or figure(card) == "G"):
                plays.append({"type": "play", "card": card, **({"wish": wish} if wish else {})})
    if "drawn" in you:
        return [*plays, {"type": "keep"}]
    if pending or not plays:
        return [*plays, {"type": "draw"}]
    return plays


# ---- Vallelujah


def banner(unit: str) -> str:
    return unit.partition("-")[0]


def power(unit: str) -> str:
    return unit.partition("-")[2]


def valid_set(units: tuple[str, ...]) -> bool:
    return len({banner(unit) for unit in units}) == 1 or len({power(unit) for unit in units}) == 1


def number(units: Any) -> int:
    """The powers, high to low, read as one number."""
    return int("".join(sorted((power(unit) for unit in units), reverse=True)))


def subsets(army: list[str], count: int) -> list[tuple[str, ...]]:
    """The subsets of `army` to try against `count` units."""
    sizes = range(1, len(army) + 1) if len(army) <= SMALL_ARMY else (count, count + 1)
    return [each for size in sizes for each in itertools.combinations(army, size)]


def _vallelujah(view: View) -> list[Move]:
    army = sorted(view["you"]["hand"])
    arena = sorted(view["table"].get("arena", {"units": []})["units"])
    if not arena:
        leads = [(unit,) for unit in army]
        if view["options"]["lead_all"] and len(army) > 1 and valid_set(tuple(army)):
            leads.append(tuple(army))
        return [{"type": "lead", "units": list(units)} for units in leads]
    to_beat = number(arena)
    beats: list[Move] = []
    for units in subsets(army, len(arena)):
        counts = len(units) in (len(arena), len(arena) + 1)
        if not (counts and valid_set(units) and number(units) > to_beat):
            continue
        beat: Move = {"type": "beat", "units": list(units)}
        if len(units) == len(army) or len(arena) == 1:
            beats.append(beat)
        else:
            beats += [{**beat, "take": unit} for unit in arena]
    return beats or [{"type": "take", "take": unit} for unit in arena]


# ---- counting the ways a deal can go


class Deal:
    """A position of a round with all cards open; `view` is what its seat to move sees."""

    def __init__(self, hands: dict[int, list[str]], mover: int, options: dict[str, Any]) -> None:
        self.hands = {seat: list(hand) for seat, hand in hands.items()}
        self.mover = mover
        self.options = options
        self.over = False

    def next(self, seat: int) -> int:
        seats = sorted(self.hands)
        return seats[(seats.index(seat) + 1) % len(seats)]

    def view(self) -> View:
        raise NotImplementedError

    def after(self, move: Move) -> Deal:
        raise NotImplementedError


class VallelujahDeal(Deal):
    arena: list[str] = []

    def view(self) -> View:
        return {
            "ruleset": "vallelujah",
            "options": self.options,
            "turn": {"seat": self.mover},
            "you": {"seat": self.mover, "hand": self.hands[self.mover]},
            "table": {"arena": {"units": self.arena}} if self.arena else {},
        }

    def after(self, move: Move) -> Deal:
        deal = VallelujahDeal(self.hands, self.next(self.mover), self.options)
        mine = deal.hands[self.mover]
        for unit in move.get("units", []):
            mine.remove(unit)
        deal.arena = move.get("units", [])
        deal.over = not mine
        if move["type"] != "lead" and not deal.over:
            mine.append(move.get("take", self.arena[0]))
        return deal


class HallelujaDeal(Deal):
    """Every due call is made, and the draw pile is long enough."""

    def __init__(self, hands: dict[int, list[str]], mover: int, options: dict[str, Any],
                 pile: list[str], top: str) -> None:  # fmt: skip
        super().__init__(hands, mover, options)
        self.pile, self.top, self.in_force = list(pile), top, symbol(top)
        self.pending = 0
        self.drawn: str | None = None

    def view(self) -> View:
        turn = {"seat": self.mover, **({"pending_draw": self.pending} if self.pending else {})}
        you = {"seat": self.mover, "hand": self.hands[self.mover]}
        return {
            "ruleset": "halleluja",
            "options": self.options,
            "turn": turn,
            "you": you | ({"drawn": self.drawn} if self.drawn else {}),
            "table": {"top": self.top, "symbol_in_force": self.in_force},
        }

    def after(self, move: Move) -> Deal:
        seat = self.mover
        deal = HallelujaDeal(self.hands, self.next(seat), self.options, self.pile, self.top)
        deal.in_force, deal.pending = self.in_force, self.pending
        if move["type"] == "play":
            deal.lay(seat, move)
        elif move["type"] == "draw" and self.pending:
            deal.draw(seat, self.pending)
            deal.pending = 0
            if not self.options["annoyed_ends_turn"]:
                deal.mover = seat
        elif move["type"] == "draw":
            (card,) = deal.draw(seat, 1)
            wild = figure(card) == "G" and self.options["mitre_wild"]
            if wild or matches(card, self.top, self.in_force):
                deal.mover, deal.drawn = seat, card
        return deal

    def draw(self, seat: int, count: int) -> list[str]:
        assert len(self.pile) >= count
        cards, self.pile = self.pile[:count], self.pile[count:]
        self.hands[seat] += cards
        return cards

    def lay(self, seat: int, move: Move) -> None:
        card = move["card"]
        self.hands[seat].remove(card)
        self.top, self.in_force = card, move.get("wish", symbol(card))
        self.over = not self.hands[seat]
        if self.over:
            return
        if figure(card) == "H":
            self.mover = self.next(self.mover)
        elif figure(card) == "E" and self.options["annoyed_stacks"]:
            self.pending += 2
        elif figure(card) == "E":
            self.draw(self.mover, 2)
            if self.options["annoyed_ends_turn"]:
                self.mover = self.next(self.mover)


def perft(deal: Deal, depth: int) -> int:
    """How many sequences of `depth` moves lead on from here; none goes beyond the round's end."""
    if depth == 0:
        return 1
    if deal.over:
        return 0
    return sum(perft(deal.after(move), depth - 1) for move in legal(deal.view()))
