"""The units of a round of Vallelujah, and how events move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evolution import AnyEvent
from ..masks import mask_of
from ..state import Game
from .units import BIT, mask

Position = tuple[int, ...]


class VallelujahRound:
    """Armies and arena as masks; `seen` counts the positions at the starts of turns."""

    __slots__ = ("arena", "arena_seat", "armies", "discarded", "seen", "strength", "undealt")

    def __init__(self, armies: list[int], undealt: int) -> None:
        self.armies = armies
        self.undealt = undealt
        self.arena = 0
        self.arena_seat = 0
        self.strength = 0
        self.discarded = 0
        self.seen: dict[Position, int] = {}

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
        return twin

    def position(self, seat: int) -> Position:
        """The position with `seat` to move, as repetition compares it."""
        return (seat, self.arena, *self.armies)

    def discard(self, units: list[str]) -> None:
        """`units` are out of the round; no earlier position can come again."""
        if units:
            self.discarded |= mask_of(units, BIT)
            self.seen = {}


def dealt(game: Game, data: Mapping[str, Any]) -> VallelujahRound:
    """The round that a `round.dealt` event lays out."""
    armies = [0] * (max(game.started) + 1)
    for seat, units in data["hands"].items():
        armies[int(seat)] = mask(units)
    return VallelujahRound(armies, mask(data["undealt"]))


def _battalion_led(game: Game, event: AnyEvent) -> None:
    data = event.data
    _field(game.play, data["seat"], data)


def _field(play: VallelujahRound, seat: int, data: Mapping[str, Any]) -> None:
    play.arena = units = mask_of(data["units"], BIT)
    play.armies[seat] ^= units
    play.arena_seat = seat
    play.strength = data["strength"]


def _battalion_beaten(game: Game, event: AnyEvent) -> None:
    play: VallelujahRound = game.play
    data = event.data
    seat = data["seat"]
    _field(play, seat, data)
    captured = data.get("captured")
    if captured is not None:
        play.armies[seat] |= BIT[captured]
    play.discard(data["discarded"])


def _arena_taken(game: Game, event: AnyEvent) -> None:
    play: VallelujahRound = game.play
    data = event.data
    play.armies[data["seat"]] |= BIT[data["captured"]]
    play.arena = play.strength = 0
    play.discard(data["discarded"])


EVOLVERS = {
    "battalion.led": _battalion_led,
    "battalion.beaten": _battalion_beaten,
    "arena.taken": _arena_taken,
}
