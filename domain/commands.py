"""What players, hosts and the clock can ask of a game. Imperative; nothing has happened yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


# Not frozen only because that takes longer to make, and each move makes one.
@dataclass(slots=True)
class Context:
    """What a decision needs from outside the game: the game's secret, and the time at loading."""

    secret: bytes = field(repr=False)
    now: str = ""


@dataclass(frozen=True, slots=True)
class CreateGame:
    """Open a table in the lobby, with the caller as host in seat `seat`.

    `ruleset` is a game's id, for its newest version, or a version (`halleluja/1`); `options` are
    those that differ from the ruleset's defaults; `turn_seconds` in seconds; `max_seats` None for
    as many as the ruleset seats; `spectator_delay_seconds`: how much later spectators see it;
    `deal` names that of a sandbox game, None for a real one.
    """

    player_id: str
    ruleset: str
    options: dict[str, Any] = field(default_factory=dict)
    turn_seconds: int = 60
    max_seats: int | None = None
    visibility: str = "public"
    seat: int = 0
    spectator_delay_seconds: int = 0
    deal: str | None = None


@dataclass(frozen=True, slots=True)
class TakeSeat:
    """Join. `kept` are the seats that a rematch keeps for its players."""

    player_id: str
    client_seed: str | None = None
    kept: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeatBot:
    """The host seats a computer player of the kind `bot`."""

    player_id: str
    bot: str
    kept: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeSeat:
    """Give one's own seed for the shuffles, say that one is ready, or both."""

    player_id: str
    client_seed: str | None = None
    ready: bool | None = None


@dataclass(frozen=True, slots=True)
class LeaveSeat:
    """Give one's seat up before the start."""

    player_id: str


@dataclass(frozen=True, slots=True)
class RemoveSeat:
    """The host removes who sits in `seat`; a player so removed cannot come back."""

    player_id: str
    seat: int


@dataclass(frozen=True, slots=True)
class ChangeTable:
    """The host changes the table's settings; None leaves a setting as it is."""

    player_id: str
    options: dict[str, Any] | None = None
    turn_seconds: int | None = None
    max_seats: int | None = None
    spectator_delay_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class StartGame:
    """The host starts the match."""

    player_id: str


@dataclass(frozen=True, slots=True)
class MakeMove:
    """A player's move.

    `round` and `turn` name the turn it is meant for. `touched` is what `Game.touched` was when the
    move was first looked at: a move that is judged again after another event came between is
    refused if that event touched the turn.
    """

    player_id: str
    move: dict[str, Any]
    round: int | None = None
    turn: int | None = None
    touched: int | None = None


@dataclass(frozen=True, slots=True)
class BotMove:
    """A computer player's move, for the turn it was chosen for."""

    seat: int
    move: dict[str, Any]
    round: int
    turn: int


@dataclass(frozen=True, slots=True)
class Resign:
    """Leave the running match for good."""

    player_id: str


@dataclass(frozen=True, slots=True)
class ComeBack:
    """Be no longer away."""

    player_id: str


@dataclass(frozen=True, slots=True)
class ExpireTurn:
    """The time of the turn has run out (the append proves that it has)."""

    round: int
    turn: int


@dataclass(frozen=True, slots=True)
class ExtendTurn:
    """The service was unable to take moves: the turn gets `seconds` back."""

    round: int
    turn: int
    seconds: int


@dataclass(frozen=True, slots=True)
class AdvanceClock:
    """The host moves the clock of a sandbox game: it is `ahead_ms` ahead then, on its way to
    `until_ms`."""

    player_id: str
    ahead_ms: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class CloseTable:
    """Nobody has started the table for too long, and `version` was its last event then."""

    version: int


Command = (
    CreateGame
    | TakeSeat
    | SeatBot
    | ChangeSeat
    | LeaveSeat
    | RemoveSeat
    | ChangeTable
    | StartGame
    | MakeMove
    | BotMove
    | Resign
    | ComeBack
    | ExpireTurn
    | ExtendTurn
    | AdvanceClock
    | CloseTable
)
