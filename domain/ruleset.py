"""What a game must provide so that the table can referee it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .rules import Option, Rule, Term
from .wording import ENGLISH, Catalogue, Sentence, sentence

if TYPE_CHECKING:
    from .evolution import AnyEvent
    from .state import Game
    from .unfolding import Unfolding

_NO_OTHER = Catalogue()

Move = dict[str, Any]
Evolver = Callable[["Game", Mapping[str, Any], Mapping[str, Any]], None]
"""Changes a game by an event's data, and whose doing it was; `game.version` is the event's."""
Performer = Callable[["Unfolding", int, Move], None]


class Round(Protocol):
    """The cards of the round in play: a game's own state."""

    def copy(self) -> Round:
        """A copy that can be evolved on its own."""

    def begin_turn(self, seat: int) -> None:
        """Called by evolve when a turn of `seat` has just begun."""


class Reason(NamedTuple):
    """Why a legal move is legal: the ids of the rules that say so, the deciding one first, a
    sentence for the player, and the facts that it rests on."""

    rules: list[str]
    detail: Sentence
    facts: dict[str, Any]


def because(rules: list[str], template: str, /, **facts: Any) -> Reason:
    """The reason that `rules` give, its sentence made of `template` and `facts`."""
    return Reason(rules, sentence(template, **facts), facts)


class Ruleset(ABC):
    """One version of one game's rules. Instances hold no state of any game."""

    id: str
    version: int
    title: str
    seats: tuple[int, int]
    """The least and the most seats."""
    cards: tuple[str, ...]
    """The whole set in its unshuffled order."""
    hand_size: int
    """Cards dealt to each seat."""
    has_dealer: bool
    """Whether the seat after the opener begins (the opener deals), or the opener itself."""
    turns_up: bool
    """Whether the next card after the hands is turned up."""
    turn_limit: int
    """The last turn number of a round."""
    options: tuple[Option, ...]
    rules: tuple[Rule, ...]
    terms: tuple[Term, ...] = ()
    """What the parts of the cards' names stand for."""
    translations: Mapping[str, Catalogue] = {}
    """By language (BCP 47) what is not said in English; what lacks is told in English."""
    evolvers: Mapping[str, Evolver]
    """How each type of event of this game changes a `Game`."""
    performers: Mapping[str, Performer]
    """How each type of move, made by a seat, is judged and recorded with all that follows from it,
    up to the next turn; `Refused`, and nothing recorded, if it is not legal."""
    free_moves: frozenset[str] = frozenset()
    """Types of moves that any active seat may make at any time in a round."""

    repeats: bool = False
    """Whether a position of a round can come again, so that `is_repetition` is to be asked."""

    def __init__(self) -> None:
        # Each move asks for these, and what is an object's own is found faster than its class's.
        self.evolvers = type(self).evolvers
        self.performers = type(self).performers
        self.turn_limit = type(self).turn_limit
        self.repeats = type(self).repeats

    @property
    def name(self) -> str:
        """As events pin it: `halleluja/1`."""
        return f"{self.id}/{self.version}"

    def wording(self, rule: str, language: str = ENGLISH) -> str | None:
        """What the rule of that id says; None if there is none."""
        for each in self.rules:
            if each.id == rule:
                return self._catalogue(language).rules.get(rule, each.wording)
        return None

    def meaning(self, option: Option, language: str = ENGLISH) -> str:
        """What an option does."""
        return self._catalogue(language).options.get(option.name, option.meaning)

    def term(self, term: Term, language: str = ENGLISH) -> str:
        """What people call a part of a card's name."""
        return self._catalogue(language).terms.get(term.id, term.name)

    def _catalogue(self, language: str) -> Catalogue:
        return self.translations.get(language, _NO_OTHER)

    @abstractmethod
    def dealt(self, game: Game, data: Mapping[str, Any]) -> Round:
        """The state of a round from a `round.dealt` event's data, `game` being evolved already."""

    def seat_resigned(self, game: Game, seat: int) -> None:  # noqa: B027
        """Called by evolve when `seat` has just resigned."""

    def after_resignation(self, unfolding: Unfolding, seat: int) -> None:  # noqa: B027
        """What else is recorded when `seat` has resigned and the match goes on."""

    def is_repetition(self, game: Game, seat: int) -> bool:
        """Whether the position, with `seat` to move, makes the round void by repetition."""
        return False

    def may_repeat(self, game: Game, move: Move) -> bool:
        """Whether such a move can be legal twice within one turn."""
        return move.get("type") in self.free_moves

    @abstractmethod
    def check_shape(self, move: Move) -> None:
        """Refuse (`validation`) what could not be a move of this game in any position."""

    @abstractmethod
    def legal_moves(self, game: Game, seat: int) -> Sequence[Move]:
        """The canonical list of the seat to move: fully specified, sorted by JCS bytes."""

    @abstractmethod
    def listed_moves(self, game: Game, seat: int) -> list[dict[str, Any]]:
        """The legal moves with their choices grouped: `{move, rules, wish_from?, …}`."""

    @abstractmethod
    def reason(self, game: Game, seat: int, move: Move) -> Reason:
        """Why the legal `move` of `seat` is legal."""

    @abstractmethod
    def move_of(self, event: AnyEvent) -> Move | None:
        """The move that `event` itself is, fully specified; None for what follows from one."""

    def with_due_call(self, game: Game, seat: int, move: Move) -> Move:
        """`move` with the call that is due, as an automatic pick makes it."""
        return move

    @abstractmethod
    def hand(self, game: Game, seat: int) -> list[str]:
        """The cards that `seat` holds, in the unshuffled order."""

    @abstractmethod
    def hand_count(self, game: Game, seat: int) -> int:
        """How many cards `seat` holds."""

    @abstractmethod
    def table_view(self, game: Game) -> dict[str, Any]:
        """The open cards and counts of the round, for everyone."""

    def own_view(self, game: Game, seat: int) -> dict[str, Any]:
        """What only `seat` may see besides its hand."""
        return {}

    def turn_view(self, game: Game) -> dict[str, Any]:
        """What the game adds to the public view of the turn."""
        return {}
