"""Following a record whose cards are hidden: the table, its turns and its clock are public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import evolution
from ..events import Recorded
from ..evolution import TABLE_EVOLVERS
from ..ruleset import Move, Reason, Ruleset
from ..state import ACTIVE, Game
from .checks import DEADLINES, LEGALITY, RESULT
from .replay import UNFOLLOWABLE, Replay, Wrong

_NO_TURN_NEEDED = ("seat.back", "seat.resigned", "word.exclaimed", "clock.advanced")
_FROM_THE_CLOCK = ("turn.expired", "turn.extended")


class _NoCards:
    """A round of which no card is known."""

    def copy(self) -> _NoCards:
        return self

    def begin_turn(self, seat: int) -> None:
        """No card is known."""


class _Blind(Ruleset):
    """The rules of a table whose cards nobody sees: it can be folded, and no more."""

    def __init__(self, rules: Ruleset) -> None:
        self.id, self.version = rules.id, rules.version
        self.rules, self.options = rules.rules, rules.options
        self.free_moves = rules.free_moves
        self.evolvers = dict.fromkeys(rules.evolvers, _nothing) | dict(TABLE_EVOLVERS)

    def dealt(self, game: Game, data: Mapping[str, Any]) -> Any:
        return _NoCards()

    def check_shape(self, move: Move) -> None:
        raise NotImplementedError

    def legal_moves(self, game: Game, seat: int) -> list[Move]:
        raise NotImplementedError

    def listed_moves(self, game: Game, seat: int) -> list[dict[str, Any]]:
        raise NotImplementedError

    def reason(self, game: Game, seat: int, move: Move) -> Reason:
        raise NotImplementedError

    def move_of(self, event: Any) -> Move | None:
        return None

    def hand(self, game: Game, seat: int) -> list[str]:
        raise NotImplementedError

    def hand_count(self, game: Game, seat: int) -> int:
        raise NotImplementedError

    def table_view(self, game: Game) -> dict[str, Any]:
        raise NotImplementedError


def _nothing(game: Game, data: Any, by: Any) -> None:
    """A card moved that is not known."""


class BlindReplay:
    """Leads a table along a record in which cards are hidden. Until the deal everything is public
    and decided again; from there on whose turn it was, its time, and the score are followed."""

    def __init__(self, events: Sequence[Recorded]) -> None:
        self.events = events
        self.checked = 0
        self.times = 0

    def run(self) -> None:
        """Go to the end of the record; raises Wrong."""
        start = next(
            (i for i, event in enumerate(self.events) if event.type == "game.started"),
            len(self.events),
        )
        # Whatever comes first, it has to open a table.
        lobby = Replay(self.events[: max(start, 1)], None)
        lobby.run()
        self.times = lobby.seen["times"]
        game = lobby.game
        game.rules = _Blind(game.rules)
        for index in range(max(start, 1), len(self.events)):
            event = self.events[index]
            try:
                self._follow(game, event, self.events[index - 1])
                evolution.evolve(game, event)
            except UNFOLLOWABLE as error:
                detail = f"{event.type} cannot be followed: {type(error).__name__} {error}"
                raise Wrong(LEGALITY, event.version, detail) from None
            self.checked += 1

    def _follow(self, game: Game, event: Recorded, before: Recorded) -> None:
        version = event.version
        if event.type == "game.started":
            if event.by.get("seat") != game.host or event.data["seats"] != list(game.seats):
                raise Wrong(LEGALITY, version, "the host starts the match with the seats taken")
            return
        if game.status != ACTIVE:
            raise Wrong(LEGALITY, version, f"{event.type} comes after the end")
        self._check_by(game, event)
        # Events of one append share their time, and the first of them is what the others follow.
        if event.at != before.at:
            self._check_first(game, event)
        turn = event.data.get("turn")
        if turn is not None and event.type != "round.dealt":
            running = 0 if game.turn is None else game.turn.number
            if turn["number"] != running + 1 or turn["seat"] not in game.active:
                raise Wrong(LEGALITY, version, f"turn {running + 1} of an active seat begins here")
        if event.type == "round.dealt":
            self._check_deal(game, event)
        elif event.type == "round.won":
            seat = event.data["seat"]
            scores = {str(each): score for each, score in game.scores.items()}
            scores[str(seat)] += 1
            if event.data["scores"] != scores or event.data["round"] != game.round:
                raise Wrong(RESULT, version, f"one round more for seat {seat} is {scores}")

    def _check_by(self, game: Game, event: Recorded) -> None:
        seat, player = event.by.get("seat"), event.by.get("player_id")
        if seat not in game.seats:
            raise Wrong(LEGALITY, event.version, f"{event.type} is by no seat of this table")
        if event.by.get("kind") == "player" and game.seats[seat].player_id != player:
            raise Wrong(LEGALITY, event.version, f"seat {seat} is not held by player {player}")
        if event.by.get("kind") == "bot" and game.seats[seat].bot is None:
            raise Wrong(LEGALITY, event.version, f"no computer player holds seat {seat}")

    def _check_first(self, game: Game, event: Recorded) -> None:
        turn, due = game.turn, game.due_at
        if turn is None or due is None:
            raise Wrong(LEGALITY, event.version, f"no turn runs for {event.type}")
        clock = event.by.get("kind") == "clock"
        if clock != (event.type in _FROM_THE_CLOCK):
            raise Wrong(LEGALITY, event.version, f"{event.type} is by {event.by.get('kind')}")
        if event.type not in _NO_TURN_NEEDED and event.by.get("seat") != turn.seat:
            raise Wrong(
                LEGALITY, event.version, f"{event.type}: it is the turn of seat {turn.seat}"
            )
        if event.type == "turn.extended":
            return
        self.times += 1
        expired = event.type == "turn.expired"
        if expired and event.data["due_at"] != due:
            raise Wrong(DEADLINES, event.version, f"the turn was due at {due}")
        if (event.at > due) != expired:
            raise Wrong(DEADLINES, event.version, f"{event.type} at {event.at}; due was {due}")

    def _check_deal(self, game: Game, event: Recorded) -> None:
        data = event.data
        told = {
            "round": game.round + 1,
            "active": list(game.active),
            "away": sorted(game.away),
            "voids": game.voids,
            "scores": {str(seat): score for seat, score in game.scores.items()},
            "expired": {str(seat): count for seat, count in game.expired.items()},
        }
        for name, value in told.items():
            if data[name] != value:
                raise Wrong(LEGALITY, event.version, f"{name} of the deal is {value}")
        if data["turn"] != {"seat": data["first"], "number": 1}:
            raise Wrong(LEGALITY, event.version, "the first turn is that of the seat that begins")
