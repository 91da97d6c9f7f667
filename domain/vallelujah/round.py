"""The units of a round of Vallelujah, and how events move them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evolution import By, Data
from ..state import Game
from .contests import beats
from .units import BIT, BY_NAMES, Battalion, mask

Position = tuple[int, ...]


class VallelujahRound:
    """Armies and arena as masks. `seen` are the positions that stood at the starts of turns and
    could come again, in their order. `_beats` is only remembered: see `beats`."""

    __slots__ = (
        "_beats",
        "arena",
        "arena_seat",
        "armies",
        "discarded",
        "seen",
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
        self.seen: list[Position] = []
        self._beats: int | None = None

    def copy(self) -> VallelujahRound:
        """A copy that can be evolved on its own."""
        twin = VallelujahRound.__new__(VallelujahRound)
        twin.armies = self.armies[:]
        twin.undealt = self.undealt
        twin.arena = self.arena
        twin.arena_seat = self.arena_seat
        twin.strength = self.strength
        twin.discarded = self.discarded
        twin.seen = self.seen[:]
        twin._beats = self._beats
        return twin

    def beats(self, seat: int, arena: Battalion) -> int:
        """How `seat`, whose turn it is, can beat `arena`, which is in the arena: see `contests`.

        A move is judged by what has just been listed, so it is remembered until the next turn.
        """
        found = self._beats
        if found is None:
            found = self._beats = beats(self.armies[seat], arena)
        return found

    def begin_turn(self, seat: int) -> None:
        """A turn of `seat` begins."""
        self._beats = None
        # Of several units in the arena the next move discards some: this cannot come again.
        if not self.arena & self.arena - 1:
            self.seen.append((seat, self.arena, *self.armies))

    def position(self, seat: int) -> Position:
        """The position with `seat` to move, as repetition compares it."""
        return (seat, self.arena, *self.armies)

    def forget(self) -> None:
        """No earlier position can come again."""
        self.seen = []


def dealt(game: Game, data: Mapping[str, Any]) -> VallelujahRound:
    """The round that a `round.dealt` event lays out."""
    armies = [0] * (max(game.started) + 1)
    for seat, units in data["hands"].items():
        armies[int(seat)] = mask(units)
    return VallelujahRound(armies, mask(data["undealt"]))


def _battalion_led(game: Game, data: Data, by: By) -> None:
    play: VallelujahRound = game.play
    play.arena_seat = seat = data["seat"]
    play.arena = units = BY_NAMES[tuple(data["units"])].units
    play.armies[seat] ^= units
    play.strength = data["strength"]


def _battalion_beaten(game: Game, data: Data, by: By) -> None:
    play: VallelujahRound = game.play
    _battalion_led(game, data, by)
    if "captured" in data:
        play.armies[data["seat"]] |= BIT[data["captured"]]
    discarded = data["discarded"]
    if discarded:
        play.discarded |= mask(discarded)
        play.seen = []


def _arena_taken(game: Game, data: Data, by: By) -> None:
    play: VallelujahRound = game.play
    discarded = data["discarded"]
    play.armies[data["seat"]] |= BIT[data["captured"]]
    play.arena = play.strength = 0
    if discarded:
        play.discarded |= mask(discarded)
        play.seen = []


EVOLVERS = {
    "battalion.led": _battalion_led,
    "battalion.beaten": _battalion_beaten,
    "arena.taken": _arena_taken,
}
