"""Tables to try the rules on: a game with its record, its clock and its secret.

`lobby()` seats players, `started()` deals as the game would, and `halleluja()` and `vallelujah()`
set up any position: a real-looking lobby, and a deal with the hands that the test wants. An event
says what happened card by card, so a fold takes such a deal as it takes any other.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest

from domain.commands import (
    AdvanceClock,
    ComeBack,
    Context,
    CreateGame,
    ExpireTurn,
    MakeMove,
    Resign,
    SeatBot,
    StartGame,
    TakeSeat,
)
from domain.events import Event, Recorded
from domain.game import decide, evolve, fold, legal_moves, listed_moves, new_game, view
from domain.redaction import EVERYTHING, SPECTATOR, Viewer, redact
from domain.refusals import Refused
from domain.registry import RULESETS
from domain.times import from_micros, to_micros

from . import naive

GAME_ID = "019ab3c0-5d00-7000-8000-00000000000a"
SECRET = bytes(range(100, 132))
START = to_micros("2026-11-30T09:32:10.123456Z")
SECOND = 1_000_000

PLAYERS = [f"019ab3c0-5d00-7000-8000-0000000001{seat:02d}" for seat in range(10)]

# Every option in force when a table asks for nothing.
SHARED_OPTIONS = {"away_after": 2, "pause_seconds": 5}
DEFAULTS: dict[str, dict[str, Any]] = {
    "halleluja": {
        **SHARED_OPTIONS,
        "rounds_to_win": 1,
        "mitre_wild": False,
        "annoyed_ends_turn": False,
        "annoyed_stacks": False,
    },
    "vallelujah": {**SHARED_OPTIONS, "rounds_to_win": 3, "lead_all": False},
}
SEATS = {"halleluja": (2, 4), "vallelujah": (2, 6)}

READABLE = (
    "game_id", "version", "status", "ruleset", "ruleset_version", "options", "turn_seconds",
    "max_seats", "visibility", "commitment", "host", "removed", "started", "active", "away",
    "resigned", "scores", "round", "touched", "result", "secret", "over", "due_at",
)  # fmt: skip


def plain(value: Any) -> Any:
    """`value` as something that compares and prints well."""
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in sorted(value.items(), key=str)}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(entry) for entry in value)
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if value is None or isinstance(value, (str, int, bytes)):
        return value
    if hasattr(value, "__dataclass_fields__"):
        return plain(asdict(value))
    names = getattr(type(value), "__slots__", None) or vars(value)
    # What begins with an underscore is only remembered, and says nothing new.
    said = [name for name in names if name[0] != "_" and hasattr(value, name)]
    return plain({name: getattr(value, name) for name in said})


def dump(game: Any) -> dict[str, Any]:
    """All that anyone can read of a game, by everyone who can read it."""
    seen = {name: plain(getattr(game, name)) for name in READABLE}
    seen["due_seconds"] = game.due_seconds if game.turn else None
    seen["seats"] = plain(game.seats)
    seen["turn"] = game.turn and (game.turn.seat, game.turn.number, game.turn.at)
    seen["everything"] = view(game, EVERYTHING)
    seen["spectator"] = view(game, SPECTATOR)
    for seat in sorted(game.seats):
        seen[f"view {seat}"] = view(game, Viewer(seat))
        seen[f"moves {seat}"] = legal_moves(game, seat)
        seen[f"listed {seat}"] = listed_moves(game, seat)
    return seen


class Table:
    """A game together with what a store keeps for it: record, secret and time."""

    def __init__(self, secret: bytes = SECRET, game_id: str = GAME_ID) -> None:
        self.secret = secret
        self.game = new_game(game_id)
        self.log: list[Recorded] = []
        self.clock = START
        self._now = (0, "")

    @property
    def now(self) -> str:
        if self._now[0] != self.clock:
            self._now = self.clock, from_micros(self.clock)
        return self._now[1]

    def record(self, event: Event) -> Recorded:
        """Store one event at the present time. The domain never looks at the hashes."""
        recorded = Recorded(
            self.game.game_id, event.version, event.type, self.now, event.by, event.data,
            prev_hash=f"{event.version - 1:064x}", hash=f"{event.version:064x}",
        )  # fmt: skip
        self.log.append(recorded)
        return recorded

    def happened(self, type: str, by: dict[str, Any] | None = None, /, **data: Any) -> Recorded:
        """Fold an event in as it is, without asking whether it may happen."""
        event = Event(self.game.version + 1, type, by or {"kind": "clock", "seat": 0}, data)
        recorded = self.record(event)
        self.game = evolve(self.game, recorded)
        return recorded

    def do(self, command: Any, *, after: float = 1.0) -> list[Recorded]:
        """Decide `command`, `after` seconds from the last event, and record what it makes."""
        self.clock += round(after * SECOND)
        decision = decide(self.game, command, Context(self.secret, self.now))
        recorded = [self.record(event) for event in decision.events]
        if recorded:
            decision.game.stamp(recorded[-1].at)
            self.game = decision.game
        return recorded

    def move(self, seat: int, type: str, **more: Any) -> list[Recorded]:
        """The player in `seat` makes a move; `round` and `turn` may be named."""
        return self.do(self.command(seat, type, **more))

    def command(self, seat: int, type: str, **more: Any) -> MakeMove:
        named = {name: more.pop(name) for name in ("round", "turn") if name in more}
        return MakeMove(self.player(seat), {"type": type, **more}, **named)

    def player(self, seat: int) -> str:
        player = self.game.seats[seat].player_id
        assert player is not None, f"a computer sits in seat {seat}"
        return player

    def resign(self, seat: int) -> list[Recorded]:
        return self.do(Resign(self.player(seat)))

    def back(self, seat: int) -> list[Recorded]:
        return self.do(ComeBack(self.player(seat)))

    def expire(self) -> list[Recorded]:
        """Let the running turn's time run out."""
        turn = self.game.turn
        assert turn is not None
        self.clock = to_micros(self.game.due_at) + 1
        return self.do(ExpireTurn(self.game.round, turn.number), after=0)

    def advance(self, ms: int) -> list[Recorded]:
        """The host moves the clock of a sandbox game, which then shows that."""
        ahead = self.game.ahead_ms + ms
        host = self.player(self.game.host or 0)
        recorded = self.do(AdvanceClock(host, ahead, ahead), after=0)
        self.clock += ms * 1000
        return recorded

    def refused(self, command: Any) -> Refused:
        """Try `command`: it must be refused, and nothing may have changed."""
        before = dump(self.game)
        context = Context(self.secret, self.now)
        with pytest.raises(Refused) as caught:
            decide(self.game, command, context)
        assert dump(self.game) == before
        refusal = caught.value
        assert refusal.detail
        return refusal

    def illegal(self, seat: int, type: str, **more: Any) -> Refused:
        """A move of `seat` that the rules forbid: the refusal cites one of the game's rules."""
        refusal = self.refused(self.command(seat, type, **more))
        assert refusal.code == "illegal-move", (refusal.code, refusal.detail)
        assert refusal.rule in rule_ids(self.game.ruleset), refusal.rule
        return refusal

    def legal(self, seat: int | None = None) -> list[dict[str, Any]]:
        assert self.game.turn is not None
        return list(legal_moves(self.game, self.game.turn.seat if seat is None else seat))

    def seen(self, seat: int | None = None, everything: bool = False) -> dict[str, Any]:
        return view(self.game, Viewer(seat, everything))

    def hand(self, seat: int) -> list[str]:
        return sorted(self.seen(seat)["you"]["hand"])

    def redacted(self, seat: int | None = None) -> list[dict[str, Any]]:
        return [redact(event, Viewer(seat), self.game.over) for event in self.log]

    def refolded(self) -> Any:
        return fold(self.game.game_id, self.log)

    def copy(self) -> Table:
        other = Table(self.secret, self.game.game_id)
        other.game, other.log, other.clock = self.game.copy(), list(self.log), self.clock
        return other


def rule_ids(ruleset: str) -> set[str]:
    return {rule.id for rule in RULESETS[ruleset].rules}


def types(events: list[Recorded]) -> list[str]:
    return [event.type for event in events]


def only(events: list[Recorded], type: str) -> Recorded:
    found = [event for event in events if event.type == type]
    assert len(found) == 1, types(events)
    return found[0]


def turn_of(events: list[Recorded]) -> dict[str, int] | None:
    """The turn that the events began: carried by one event, or by none."""
    found = [event.data["turn"] for event in events if "turn" in event.data]
    assert len(found) <= 1, types(events)
    return found[0] if found else None


# ---- lobbies and real starts


def lobby(
    ruleset: str = "halleluja",
    players: int = 2,
    *,
    options: dict[str, Any] | None = None,
    bots: int = 0,
    seeds: dict[int, str] | None = None,
    secret: bytes = SECRET,
    game_id: str = GAME_ID,
    **settings: Any,
) -> Table:
    """Players 0, 1, … in their seats, then the bots; nothing started."""
    table = Table(secret, game_id)
    table.do(CreateGame(PLAYERS[0], ruleset, options or {}, **settings), after=0)
    for seat in range(1, players):
        table.do(TakeSeat(PLAYERS[seat], (seeds or {}).get(seat)))
    for _ in range(bots):
        table.do(SeatBot(PLAYERS[0], "random"))
    return table


def started(ruleset: str = "halleluja", players: int = 2, **more: Any) -> Table:
    table = lobby(ruleset, players, **more)
    table.do(StartGame(PLAYERS[0]))
    return table


# ---- positions


def _seated(
    ruleset: str, seats: list[int], *, options: dict[str, Any], bots: tuple[int, ...],
    seeds: dict[int, str], turn_seconds: int, secret: bytes,
) -> tuple[Table, dict[str, Any]]:  # fmt: skip
    table = Table(secret)
    by: dict[str, Any] = {"kind": "player", "player_id": PLAYERS[seats[0]]}
    table.happened(
        "game.created", by, ruleset=ruleset, ruleset_version=f"{ruleset}/1",
        options={**DEFAULTS[ruleset], **options}, turn_seconds=turn_seconds,
        max_seats=SEATS[ruleset][1], visibility="public",
        commitment=naive.commitment(secret, GAME_ID),
    )  # fmt: skip
    host = {**by, "seat": seats[0]}
    for seat in seats:
        seed = {"client_seed": seeds[seat]} if seat in seeds else {}
        if seat in bots:
            table.happened("seat.taken", host, seat=seat, bot="random")
        else:
            own = {"kind": "player", "seat": seat, "player_id": PLAYERS[seat]}
            table.happened("seat.taken", own, seat=seat, player_id=PLAYERS[seat], **seed)
    table.happened("game.started", host, seats=seats)
    return table, host


def _deal(
    table: Table, by: dict[str, Any], *, hands: dict[int, list[str]], undealt: list[str],
    turn: dict[str, int], first: int, scores: dict[int, int] | None, away: tuple[int, ...],
    expired: dict[int, int] | None, voids: int, round: int, **more: Any,
) -> None:  # fmt: skip
    seats = sorted(hands)
    table.happened(
        "round.dealt", by, round=round, first=first,
        scores={str(seat): (scores or {}).get(seat, 0) for seat in seats},
        active=seats, away=list(away),
        expired={str(seat): (expired or {}).get(seat, 0) for seat in seats},
        voids=voids, hands={str(seat): hands[seat] for seat in seats}, undealt=undealt,
        salt=naive.salt(table.secret, table.game.version + 1), turn=turn, **more,
    )  # fmt: skip


def _by_seat(hands: Any) -> dict[int, list[str]]:
    named = hands if isinstance(hands, dict) else dict(enumerate(hands))
    return {seat: list(hand) for seat, hand in named.items()}


def halleluja(
    hands: Any,
    top: str,
    pile: list[str] | None = None,
    *,
    under: tuple[str, ...] = (),
    wish: str | None = None,
    to_move: int | None = None,
    turn: int = 1,
    options: dict[str, Any] | None = None,
    bots: tuple[int, ...] = (),
    seeds: dict[int, str] | None = None,
    dealer: int | None = None,
    scores: dict[int, int] | None = None,
    away: tuple[int, ...] = (),
    expired: dict[int, int] | None = None,
    voids: int = 0,
    round: int = 1,
    turn_seconds: int = 60,
    secret: bytes = SECRET,
) -> Table:
    """A Halleluja position.

    `hands` is a list, or an object by seat where seats have gaps. `pile` is the draw pile, top
    first (all other cards, where it is not given); `under` are the discards under `top`, oldest
    first; `to_move` (the lowest seat) is in its turn number `turn`.
    """
    dealt = _by_seat(hands)
    seats = sorted(dealt)
    mover = seats[0] if to_move is None else to_move
    laid = [*under, top]
    used = {card for hand in dealt.values() for card in hand} | set(laid)
    assert len(used) == sum(map(len, dealt.values())) + len(laid), "a card is there twice"
    if pile is None:
        pile = [card for card in naive.CARDS if card not in used]
    assert not used & set(pile), "a card is there twice"
    assert used | set(pile) <= set(naive.CARDS), "no such card"
    if dealer is None:
        dealer = seats[seats.index(mover) - 1]
    table, host = _seated(
        "halleluja", seats, options=options or {}, bots=bots, seeds=seeds or {},
        turn_seconds=turn_seconds, secret=secret,
    )
    dealt[mover] = dealt[mover] + laid[1:]
    _deal(
        table, host, hands=dealt, undealt=pile, first=mover, scores=scores, away=away,
        turn={"seat": mover, "number": 1 if under else turn}, expired=expired, voids=voids,
        round=round, dealer=dealer, turned_up=laid[0],
    )  # fmt: skip
    own = {"kind": "clock", "seat": mover}
    for card in laid[1:-1]:
        table.happened("card.played", own, seat=mover, card=card)
    if under:
        wished = {"wish": wish} if wish else {}
        table.happened(
            "card.played", own, seat=mover, card=top, **wished,
            turn={"seat": mover, "number": turn},
        )  # fmt: skip
    else:
        assert wish is None, "the turned-up card carries no wish: give it cards to lie on"
    return table


def vallelujah(
    hands: Any,
    arena: list[str] | None = None,
    *,
    undealt: list[str] | None = None,
    to_move: int | None = None,
    turn: int = 1,
    first: int | None = None,
    options: dict[str, Any] | None = None,
    bots: tuple[int, ...] = (),
    seeds: dict[int, str] | None = None,
    scores: dict[int, int] | None = None,
    away: tuple[int, ...] = (),
    expired: dict[int, int] | None = None,
    voids: int = 0,
    round: int = 1,
    turn_seconds: int = 60,
    secret: bytes = SECRET,
) -> Table:
    """A Vallelujah position.

    `to_move` (the lowest seat) faces `arena`, led by the seat before it, or leads.
    """
    dealt = _by_seat(hands)
    seats = sorted(dealt)
    mover = seats[0] if to_move is None else to_move
    used = {unit for hand in dealt.values() for unit in hand} | set(arena or [])
    assert len(used) == sum(map(len, dealt.values())) + len(arena or []), "a unit is there twice"
    if undealt is None:
        undealt = [unit for unit in naive.UNITS if unit not in used]
    table, host = _seated(
        "vallelujah", seats, options=options or {}, bots=bots, seeds=seeds or {},
        turn_seconds=turn_seconds, secret=secret,
    )
    before = seats[seats.index(mover) - 1]
    leader = before if arena else mover
    if arena:
        dealt[before] = dealt[before] + arena
    _deal(
        table, host, hands=dealt, undealt=undealt, scores=scores, away=away,
        turn={"seat": leader, "number": 1 if arena else turn},
        first=leader if first is None else first, expired=expired, voids=voids, round=round,
    )  # fmt: skip
    if arena:
        strength = int("".join(sorted((unit[-1] for unit in arena), reverse=True)))
        table.happened(
            "battalion.led", {"kind": "clock", "seat": before}, seat=before,
            units=sorted(arena), strength=strength,
            turn={"seat": mover, "number": max(turn, 2)},
        )  # fmt: skip
    return table
