"""The state of a game: one mutable position, folded from events (after python-chess's board).

Containers inside are replaced, never changed in place, so that `copy` can be shallow; only the
round in play is copied deeply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .times import plus_seconds

if TYPE_CHECKING:
    from .ruleset import Ruleset

LOBBY, ACTIVE, FINISHED, CANCELLED, ABANDONED = (
    "lobby",
    "active",
    "finished",
    "cancelled",
    "abandoned",
)

OVER = (FINISHED, CANCELLED, ABANDONED)
"""The statuses of a game that is over."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits there: a player or a bot, with the seed they gave and whether they are ready."""

    player_id: str | None = None
    bot: str | None = None
    client_seed: str | None = None
    ready: bool = True


# Not frozen, nor a named tuple, only because both take longer to make, and each move makes one.
@dataclass(slots=True)
class Turn:
    """A running turn. `at` is when it began ("" until the store has set it), `extended` seconds
    given back to it, `expired` whether its time has been found to have run out. Like all that
    positions share it is replaced, never changed."""

    seat: int
    number: int
    at: str
    extended: int = 0
    expired: bool = False


class Game:
    """Everything that the events of one game say, at its latest version."""

    __slots__ = (
        "active",
        "ahead_ms",
        "away",
        "commitment",
        "deal",
        "expired",
        "first",
        "following",
        "game_id",
        "host",
        "known_from",
        "max_seats",
        "opener",
        "options",
        "play",
        "ran_out",
        "removed",
        "result",
        "round",
        "rules",
        "ruleset",
        "ruleset_version",
        "sat",
        "scores",
        "seats",
        "secret",
        "spectator_delay_seconds",
        "spoke",
        "started",
        "status",
        "touched",
        "turn",
        "turn_seconds",
        "version",
        "visibility",
        "voids",
    )

    rules: Ruleset
    play: Any
    """The round in play, a `Round` of the game's own kind."""

    def __init__(self, game_id: str) -> None:
        self.game_id = game_id
        self.version = 0
        self.status = LOBBY
        self.ruleset = ""
        self.ruleset_version = ""
        self.options: dict[str, Any] = {}
        self.turn_seconds = 0
        self.max_seats = 0
        self.visibility = ""
        self.spectator_delay_seconds = 0
        self.commitment = ""
        # What a sandbox game is dealt by, and how far its clock is ahead; of real ones None and 0.
        self.deal: str | None = None
        self.ahead_ms = 0
        self.host: int | None = None
        self.seats: dict[int, Seat] = {}
        self.removed: frozenset[str] = frozenset()
        # Every player who holds a seat or has held one.
        self.sat: frozenset[str] = frozenset()
        self.started: tuple[int, ...] = ()
        self.active: tuple[int, ...] = ()
        # The next active seat clockwise after each that started.
        self.following: dict[int, int] = {}
        self.away: frozenset[int] = frozenset()
        self.expired: dict[int, int] = {}
        self.scores: dict[int, int] = {}
        self.voids = 0
        self.round = 0
        # Who begins the round, and the seat whose role moves on: the dealer or the first leader.
        self.first = 0
        self.opener = 0
        self.turn: Turn | None = None
        # The version of the last event that touched the running turn.
        self.touched = 0
        # The version of each seat's last free move in this round.
        self.spoke: dict[int, int] = {}
        # Each seat's expired turns as (round, turn number), those of rounds before `known_from`
        # left out: a position need not be folded from its first round on.
        self.ran_out: dict[int, frozenset[tuple[int, int]]] = {}
        self.known_from = 1
        self.result: dict[str, Any] | None = None
        self.secret: str | None = None

    def copy(self) -> Game:
        """A position of its own: evolving one leaves the other as it is."""
        twin = Game.__new__(Game)
        twin.game_id = self.game_id
        twin.version = self.version
        twin.status = self.status
        twin.ruleset = self.ruleset
        twin.ruleset_version = self.ruleset_version
        twin.options = self.options
        twin.turn_seconds = self.turn_seconds
        twin.max_seats = self.max_seats
        twin.visibility = self.visibility
        twin.spectator_delay_seconds = self.spectator_delay_seconds
        twin.commitment = self.commitment
        twin.deal = self.deal
        twin.ahead_ms = self.ahead_ms
        twin.host = self.host
        twin.seats = self.seats
        twin.removed = self.removed
        twin.sat = self.sat
        twin.started = self.started
        twin.active = self.active
        twin.following = self.following
        twin.away = self.away
        twin.expired = self.expired
        twin.scores = self.scores
        twin.voids = self.voids
        twin.round = self.round
        twin.first = self.first
        twin.opener = self.opener
        twin.turn = self.turn
        twin.touched = self.touched
        twin.spoke = self.spoke
        twin.ran_out = self.ran_out
        twin.known_from = self.known_from
        twin.result = self.result
        twin.secret = self.secret
        if self.ruleset:
            twin.rules = self.rules
        if self.round:
            twin.play = self.play.copy()
        return twin

    @property
    def over(self) -> bool:
        """Whether nothing more can happen."""
        return self.status in OVER

    @property
    def resigned(self) -> tuple[int, ...]:
        """The seats that started and have resigned."""
        return tuple(seat for seat in self.started if seat not in self.active)

    @property
    def seeds(self) -> list[str]:
        """The client seed, or "", of each seat that started, in seat order."""
        return [self.seats[seat].client_seed or "" for seat in self.started]

    @property
    def sandbox(self) -> bool:
        """Whether it is no real game, but one for tests."""
        return self.deal is not None

    def clock(self, now: str) -> str:
        """The time on the game's own clock when it is `now` (both RFC 3339)."""
        return plus_seconds(now, self.ahead_ms / 1000) if self.ahead_ms else now

    def real_time(self, shown: str) -> str:
        """What time it is when the game's own clock shows that."""
        return plus_seconds(shown, -self.ahead_ms / 1000) if self.ahead_ms else shown

    @property
    def due_seconds(self) -> int:
        """How many seconds the running turn has, pause and extensions included; 0 without one."""
        if self.turn is None:
            return 0
        pause = self.options["pause_seconds"] if self.turn.number == 1 else 0
        return int(self.turn_seconds + pause + self.turn.extended)

    @property
    def due_at(self) -> str | None:
        """When the running turn is due (RFC 3339), or None."""
        if self.turn is None or not self.turn.at:
            return None
        return plus_seconds(self.turn.at, self.due_seconds)

    def seat_of(self, player_id: str | None) -> int | None:
        """The seat that `player_id` holds, resigned or not, or None."""
        if player_id is None:
            return None
        for number, seat in self.seats.items():
            if seat.player_id == player_id:
                return number
        return None

    def next_active(self, seat: int) -> int:
        """The next active seat clockwise after `seat`, which need not be active itself."""
        return self.following[seat]

    def set_active(self, seats: tuple[int, ...]) -> None:
        """`seats`, ascending, are those that play on."""
        self.active = seats
        self.following = {
            seat: (*(other for other in seats if other > seat), *seats, seat)[0]
            for seat in self.started
        }

    def clockwise_from(self, seat: int) -> tuple[int, ...]:
        """The active seats in turn order, from `seat` on (itself first, if active)."""
        later = tuple(other for other in self.active if other >= seat)
        return later + self.active[: len(self.active) - len(later)]

    def stamp(self, at: str) -> None:
        """Set the time of the append that has just stored this position's last events."""
        if self.turn is not None and not self.turn.at:
            turn = self.turn
            self.turn = Turn(turn.seat, turn.number, at, turn.extended, turn.expired)
