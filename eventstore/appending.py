"""What one append writes: the events, and what they change outside the record.

The difference between the game before and after decides, not the kind of event: whether the
running turn is another one, whose it is, which settings and seats are not what they were.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import orjson

from domain.events import Event, Recorded
from domain.game import Game
from domain.times import plus_seconds
from domain.views import seat_status

from .recorded import ZERO_HASH, rest

Guard = Literal["none", "in-time", "late"]
Change = Literal["keep", "set", "clear"]

APPENDED = "appended"


class Appended(NamedTuple):
    """What became of an append: `status` is `appended`, or why nothing was stored:

    `conflict` (the version is not the newest), `overdue` (the turn ran out before), `early` (it has
    not yet), `replayed` (the request was answered before, with `first` to `last`), `reused` (its
    key was used for another one).
    """

    status: str
    at: str | None
    hashes: tuple[str, ...]
    first: int | None
    last: int | None


@dataclass(slots=True)
class Append:
    """All parameters of one append. `rests` are the events' bodies without their time."""

    game_id: str
    version: int
    rests: tuple[bytes, ...]
    prev_hash: str | None = None
    """The hash of the event `version`; None for whichever it is."""
    guard: Guard = "none"
    due: str | None = None
    token_id: str | None = None
    key: str | None = None
    path: str | None = None
    body_hash: bytes | None = None
    keep: datetime.timedelta | None = None
    status: str = ""
    turn_seat: int | None = None
    turn_player: str | None = None
    started_version: int | None = None
    round_version: int | None = None
    clock: Change = "keep"
    round: int | None = None
    turn: int | None = None
    clock_from: str | None = None
    clock_seconds: int | None = None
    bot: Change = "keep"
    bot_seconds: float | None = None
    table: dict[str, Any] | None = None
    secret: bytes | None = field(default=None, repr=False)
    seats: list[dict[str, Any]] | None = None
    ahead_ms: int = 0
    """By how much the game's clock is ahead before this append, which has its time by that."""

    def parameters(self) -> dict[str, Any]:
        """For the statement."""
        named: dict[str, Any] = {name: getattr(self, name) for name in _NAMES}
        # JSON has no raw line feed, and one text is quicker to send than an array of texts.
        named["rests"] = b"\n".join(self.rests).decode()
        named["prev_hash"] = None if self.prev_hash is None else bytes.fromhex(self.prev_hash)
        named["table"] = None if self.table is None else orjson.dumps(self.table).decode()
        named["seats"] = None if self.seats is None else orjson.dumps(self.seats).decode()
        return named

    def stored(self, appended: Appended) -> list[Recorded]:
        """The events as they stand in the record after this append."""
        assert appended.at is not None
        prev_hash = self.prev_hash or ZERO_HASH
        events = []
        for text, own in zip(self.rests, appended.hashes, strict=True):
            # Read back, so that members stand in the same order as when they are told again.
            members = orjson.loads(b"{" + text)
            events.append(
                Recorded(
                    self.game_id,
                    members["version"],
                    members["type"],
                    appended.at,
                    members["by"],
                    members["data"],
                    prev_hash,
                    own,
                )
            )
            prev_hash = own
        return events


_NAMES = tuple(Append.__dataclass_fields__)


def plan(
    before: Game,
    after: Game,
    events: Sequence[Event],
    *,
    prev_hash: str | None,
    guard: Guard,
    bot_delay: Callable[[], float],
    secret: bytes | None = None,
    rematch_of: str | None = None,
    invited: Sequence[str] = (),
) -> Append:
    """The append that leads from `before` to `after`, without an idempotency key.

    `prev_hash` is the hash of the newest event of `before`, None before the first. `bot_delay`:
    seconds that a computer player takes to move. The last three are for the append that opens a
    game.
    """
    game_id, due = before.game_id, before.due_at
    rests = tuple([rest(game_id, event) for event in events])
    append = Append(game_id, before.version, rests, prev_hash)
    if due is not None:
        append.guard = guard
        append.due = due
    append.status = after.status
    append.ahead_ms = before.ahead_ms
    if after.turn is not None:
        append.turn_seat = after.turn.seat
        append.turn_player = after.seats[after.turn.seat].player_id
    for event in events:
        if event.type == "game.started":
            append.started_version = event.version
        elif event.type == "round.dealt":
            append.round_version = event.version
    _plan_deadlines(append, before, after, bot_delay)
    if before.version == 0:
        append.secret = secret
        append.table = _table(after) | {
            "ruleset": after.ruleset,
            "ruleset_version": after.ruleset_version,
            "visibility": after.visibility,
            "sandbox": after.sandbox,
            "rematch_of": rematch_of,
            "invited": list(invited),
        }
    elif not _same_table(before, after):
        append.table = _table(after)
    if not _same_seats(before, after):
        append.seats = _seats(after)
    return append


def _plan_deadlines(
    append: Append, before: Game, after: Game, bot_delay: Callable[[], float]
) -> None:
    turn, was = after.turn, before.turn
    if turn is None:
        if was is not None:
            append.clock = append.bot = "clear"
        return
    append.round = after.round
    append.turn = turn.number
    begins = was is None or before.round != after.round or was.number != turn.number
    if begins:
        append.clock = "set"
        append.clock_seconds = after.due_seconds
    elif (before.due_seconds, before.ahead_ms) != (after.due_seconds, after.ahead_ms):
        assert was is not None
        moved = after.ahead_ms - before.ahead_ms
        append.clock = "set"
        append.clock_seconds = after.due_seconds
        append.clock_from = plus_seconds(was.at, -moved / 1000) if moved else was.at
    if after.seats[turn.seat].bot is None or turn.seat in after.away:
        # Only another turn can have taken the move from a computer player.
        if begins and was is not None and before.seats[was.seat].bot is not None:
            append.bot = "clear"
    elif begins or after.touched != before.touched:
        append.bot = "set"
        append.bot_seconds = bot_delay()


def _same_table(before: Game, after: Game) -> bool:
    """Whether the settings of the table stay as they are; see `_same_seats`."""
    return (
        before.options is after.options
        and before.turn_seconds == after.turn_seconds
        and before.max_seats == after.max_seats
        and before.spectator_delay_seconds == after.spectator_delay_seconds
        and before.host == after.host
        and before.ahead_ms == after.ahead_ms
    ) or _table(before) == _table(after)


def _table(game: Game) -> dict[str, Any]:
    return {
        "options": game.options,
        "turn_seconds": game.turn_seconds,
        "max_seats": game.max_seats,
        "spectator_delay_seconds": game.spectator_delay_seconds,
        "host_seat": game.host,
        "ahead_ms": game.ahead_ms,
    }


def _same_seats(before: Game, after: Game) -> bool:
    """Whether the rows of the seats stay as they are. Evolving replaces what changes, so what is
    the same object is not looked at."""
    same = (
        before.seats is after.seats
        and before.active is after.active
        and before.away is after.away
        and before.started is after.started
        and before.over == after.over
    )
    return same or _seats(before) == _seats(after)


def _seats(game: Game) -> list[dict[str, Any]]:
    return [
        {
            "seat": number,
            "player_id": seat.player_id,
            "bot": seat.bot,
            "status": seat_status(game, number),
            "live": not game.over,
        }
        for number, seat in game.seats.items()
    ]
