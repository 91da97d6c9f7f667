"""The units of a round of Vallelujah, and how events move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evolution import By, Data
from ..state import Game
from .units import BIT, BY_NAMES, mask

Position = tuple[int, ...]


class VallelujahRound:
    """Armies and arena as masks. `seen` are the positions that stood at the starts of turns and
    could come again, `seen_twice` those that did."""

    __slots__ = (
        "arena",
        "arena_seat",
        "armies",
        "discarded",
        "seen",
        "seen_twice",
        "strength",
        "undealt",
    )

    def __init__(self, armies: list[int], undealt: int) -> None:
        self.armies = armies
        self.undealt = undealt
        self.arena = 0
        self.arena_seat = 0
        self.strength = 0
        self.discarded = 0
        self.seen: set[Position] = set()
        self.seen_twice: frozenset[Position] = frozenset()

    def copy(self) -> VallelujahRound:
        """A copy that can be evolved on its own."""
        twin = VallelujahRound.__new__(VallelujahRound)
        twin.armies = self.armies[:]
        twin.undealt = self.undealt
        twin.arena = self.arena
        twin.arena_seat = self.arena_seat
        twin.strength = self.strength
        twin.discarded = self.discarded
        twin.seen = self.seen.copy()
        twin.seen_twice = self.seen_twice
        return twin

    def position(self, seat: int) -> Position:
        """The position with `seat` to move, as repetition compares it."""
        return (seat, self.arena, *self.armies)

    def see(self, seat: int) -> None:
        """The position stands at the start of a turn of `seat`."""
        position = self.position(seat)
        if position in self.seen:
            self.seen_twice |= {position}
        else:
            self.seen.add(position)

    def forget(self) -> None:
        """No earlier position can come again."""
        self.seen = set()
        self.seen_twice = frozenset()

    def discard(self, units: list[str]) -> None:
        """`units` are out of the round, so no earlier position can come again."""
        self.discarded |= mask(units)
        self.forget()


def dealt(game: Game, data: Mapping[str, Any]) -> VallelujahRound:
    """The round that a `round.dealt` event lays out."""
    armies = [0] * (max(game.started) + 1)
    for seat, units in data["hands"].items():
        armies[int(seat)] = mask(units)
    return VallelujahRound(armies, mask(data["undealt"]))


def _battalion_led(game: Game, data: Data, by: By) -> None:
    _field(game.play, data["seat"], data)


def _field(play: VallelujahRound, seat: int, data: Data) -> None:
    play.arena = units = BY_NAMES[*data["units"]].units
    play.armies[seat] ^= units
    play.arena_seat = seat
    play.strength = data["strength"]


def _battalion_beaten(game: Game, data: Data, by: By) -> None:
    play: VallelujahRound = game.play
    seat = data["seat"]
    _field(play, seat, data)
    if "captured" in data:
        play.armies[seat] |= BIT[data["captured"]]
    if data["discarded"]:
        play.discard(data["discarded"])


def _arena_taken(game: Game, data: Data, by: By) -> None:
    play: VallelujahRound = game.play
    play.armies[data["seat"]] |= BIT[data["captured"]]
    play.arena = play.strength = 0
    if data["discarded"]:
        play.discard(data["discarded"])


EVOLVERS = {
    "battalion.led": _battalion_led,
    "battalion.beaten": _battalion_beaten,
    "arena.taken": _arena_taken,
}
