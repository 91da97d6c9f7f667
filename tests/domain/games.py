"""Random whole games, each step of them checked against the second referee."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from domain.commands import (
    BotMove,
    ChangeSeat,
    Context,
    CreateGame,
    LeaveSeat,
    MakeMove,
    SeatBot,
    StartGame,
    TakeSeat,
)
from domain.events import Recorded
from domain.game import decide, legal_moves
from domain.refusals import Refused

from . import naive
from .positions import DEFAULTS, PLAYERS, SEATS, Table
from .referee import PIOUS, REFEREES, WORLDLY, Referee, same

# The options that change a rule, and their values; the match length is drawn for each game.
CHOICES = {
    "halleluja": ("mitre_wild", "annoyed_ends_turn", "annoyed_stacks"),
    "vallelujah": ("lead_all",),
}
CELLS = [
    (ruleset, seats, dict(zip(names, values, strict=True)))
    for ruleset, names in CHOICES.items()
    for seats in range(SEATS[ruleset][0], SEATS[ruleset][1] + 1)
    for values in itertools.product((False, True), repeat=len(names))
]


def cell_name(cell: tuple[str, int, dict[str, bool]]) -> str:
    ruleset, seats, options = cell
    chosen = "+".join(name for name, on in options.items() if on) or "plain"
    return f"{ruleset}-{seats}-{chosen}"


class RandomGame:
    """One game of random players, some of them computers, who forget calls, run out of time, go
    away, come back, swear and leave. Everything follows from `seed`."""

    def __init__(
        self,
        ruleset: str,
        seats: int,
        options: dict[str, Any] | None = None,
        seed: object = 0,
        troubled: bool = True,
    ) -> None:
        self.rng = rng = random.Random(f"{ruleset}/{seats}/{options}/{seed}")
        self.table = Table(rng.randbytes(32))
        # How often a due call is made. Who never makes it never wins, and the round gets long.
        self.pious = rng.choice((0.0, *[0.5] * 3, *[0.9] * 6, *[1.0] * 6))
        # How often somebody leaves, swears or runs out of time: in one game seldom or never.
        self.trouble = rng.choice((0.0, 0.1, 0.3, 1.0)) if troubled else 0.0
        self.options = {
            **DEFAULTS[ruleset],
            **(options or {}),
            "rounds_to_win": rng.choice((1, 1, 1, 2, 3)),
            "away_after": rng.choice((1, 2, 3)),
            "pause_seconds": rng.choice((0, 5, 60)),
        }
        self._gather(ruleset, seats, troubled)
        self.referee = self._appoint(ruleset)
        self.version_started = self.table.game.version

    def _gather(self, ruleset: str, seats: int, troubled: bool) -> None:
        """Seat them as people do: in any order, some with seeds, some gone again."""
        rng, table = self.rng, self.table
        table.do(CreateGame(PLAYERS[0], ruleset, self.options, rng.choice((3, 60, 1_209_600))))
        gaps = rng.randint(0, SEATS[ruleset][1] - seats) if rng.random() < 0.5 else 0
        bots = rng.randint(0, seats - 1) if troubled and rng.random() < 0.3 else 0
        arrivals = ["human"] * (seats - 1 - bots + gaps) + ["bot"] * bots
        rng.shuffle(arrivals)
        for number, kind in enumerate(arrivals, 1):
            if kind == "bot":
                table.do(SeatBot(PLAYERS[0], "random"))
            else:
                seed = rng.randbytes(rng.randint(1, 32)).hex() if rng.random() < 0.4 else None
                table.do(TakeSeat(PLAYERS[number], seed))
        if gaps:
            # Whoever leaves may have come before others: seats are not renumbered.
            humans = [s for s, at in table.game.seats.items() if at.player_id and s != 0]
            for seat in rng.sample(humans, gaps):
                table.do(LeaveSeat(table.player(seat)))
        if rng.random() < 0.4:
            table.do(ChangeSeat(PLAYERS[0], rng.randbytes(8).hex()))

    def _appoint(self, ruleset: str) -> Referee:
        game = self.table.game
        return REFEREES[ruleset](
            game_id=game.game_id,
            secret=self.table.secret,
            options=self.options,
            players={seat: at.player_id for seat, at in game.seats.items()},
            seeds={s: at.client_seed for s, at in game.seats.items() if at.client_seed},
            turn_seconds=game.turn_seconds,
            version=game.version + 1,
        )

    # -- playing

    def play(self) -> Iterator[list[Recorded]]:
        """Play the game to its end, giving each step's events once they are checked."""
        host = self.table.game.host
        events = self.table.do(StartGame(PLAYERS[0]))
        assert events[0].type == "game.started"
        assert events[0].data == {"seats": self.referee.seats}
        assert host == 0
        expected = self.referee.start(host)
        yield self.settle(events, expected, skip=1)
        while not self.referee.over:
            yield self.step()

    def settle(
        self, events: list[Recorded], expected: list[Any], skip: int = 0
    ) -> list[Recorded]:
        found = [same((event.type, event.by, event.data)) for event in events[skip:]]
        wanted = [same(event) for event in expected]
        assert found == wanted
        if events:
            self.referee.taken(events[-1].at)
        assert self.table.game.version == self.referee.version
        return events

    def step(self) -> list[Recorded]:
        rng, table, referee = self.rng, self.table, self.referee
        humans = [s for s in referee.active if referee.players[s] is not None]
        if self.trouble:
            away = sorted(referee.away & set(humans))
            if rng.random() < 0.04 * self.trouble:
                return self.settle(table.expire(), referee.expire())
            if away and rng.random() < 0.08:
                seat = rng.choice(away)
                return self.settle(table.back(seat), referee.back(seat))
            if rng.random() < 0.005 * self.trouble:
                seat = rng.choice(humans)
                return self.settle(table.resign(seat), referee.resign(seat))
            if rng.random() < 0.04 * self.trouble and table.game.ruleset == "halleluja":
                seat = rng.choice(humans)
                word = {"type": "exclaim", "word": rng.choice(WORLDLY)}
                if referee.allows(seat, word):
                    return self.settle(table.move(seat, **word), referee.move(seat, word))
        seat = referee.mover
        move = self.said(rng.choice(referee.moves()))
        return self.settle(table.do(self.as_command(seat, move)), referee.move(seat, move))

    def said(self, move: dict[str, Any]) -> dict[str, Any]:
        """The move as this game's players would send it: with a call, or freely written."""
        rng, referee = self.rng, self.referee
        if move["type"] == "play":
            if rng.random() < self.pious:
                return referee.with_call(move)
            word = rng.choice((*PIOUS, *WORLDLY, None, None, None))
            named = {**move, "call": word} if word else move
            return named if referee.allows(referee.mover, named) else move
        if "units" in move and rng.random() < 0.3:
            return {**move, "units": rng.sample(move["units"], len(move["units"]))}
        if move["type"] == "take" and rng.random() < 0.3:
            short = {"type": "take"}
            return short if referee.allows(referee.mover, short) else move
        return move

    def as_command(self, seat: int, move: dict[str, Any]) -> Any:
        player, round_, turn = self.referee.players[seat], self.referee.round, self.referee.number
        if player is None:
            return BotMove(seat, move, round_, turn)
        if self.rng.random() < 0.5:
            return MakeMove(player, move, round_, turn)
        return MakeMove(player, move)

    # -- trying what is and what is not allowed

    def check_legal(self) -> None:
        """One seat to move, with the moves that the second referee finds, all of them accepted."""
        game, referee = self.table.game, self.referee
        assert game.turn is not None
        assert (game.round, game.turn.seat, game.turn.number) == (
            referee.round, referee.mover, referee.number,
        )  # fmt: skip
        moves = list(legal_moves(game, referee.mover))
        assert moves
        assert moves == referee.moves()
        for seat in game.seats:
            if seat != referee.mover:
                assert legal_moves(game, seat) == []

    def check_accepted(self, most: int = 40) -> None:
        moves = self.referee.moves()
        for move in self.rng.sample(moves, min(most, len(moves))):
            assert self.try_out(self.referee.mover, move) is None, move

    def check_refused(self, tries: int) -> None:
        """Random moves, most of them wrong: accepted exactly when the second referee allows."""
        humans = [s for s, player in self.referee.players.items() if player is not None]
        for _ in range(tries):
            seat = self.rng.choice([self.referee.mover, *humans])
            if self.referee.players[seat] is None:
                continue
            move = self.random_move()
            refusal = self.try_out(seat, move)
            allowed = self.referee.allows(seat, move)
            assert (refusal is None) == allowed, (seat, move, refusal and refusal.detail)
            if refusal is not None:
                assert refusal.rule
                if seat not in self.referee.active:
                    assert refusal.code == "forbidden"
                elif move["type"] != "exclaim" and seat != self.referee.mover:
                    # It names no turn: after the seat's own ran out it is a late one.
                    late = self.table.game.expired[seat] > 0
                    assert refusal.code == ("turn-expired" if late else "not-your-turn")
                else:
                    assert refusal.code == "illegal-move"

    def try_out(self, seat: int, move: dict[str, Any]) -> Refused | None:
        context = Context(self.table.secret, self.table.now)
        player = self.referee.players[seat]
        game = self.table.game
        command = (
            BotMove(seat, move, game.round, game.turn.number)
            if player is None
            else MakeMove(player, move)
        )
        try:
            decision = decide(game, command, context)
        except Refused as refusal:
            return refusal
        assert decision.events
        assert decision.game.version == game.version + len(decision.events)
        return None

    def random_move(self) -> dict[str, Any]:
        """A well-formed move of the game, near the position or far from it."""
        rng, referee = self.rng, self.referee
        if self.table.game.ruleset == "halleluja":
            hand = rng.choice((referee.hands[referee.mover], naive.CARDS))
            kinds: list[dict[str, Any]] = [{"type": "play", "card": rng.choice(hand)}] * 5
            kinds += [{"type": "draw"}, {"type": "keep"}]
            kinds += [{"type": "exclaim", "word": rng.choice(WORLDLY)}]
            move = dict(rng.choice(kinds))
            if move["type"] == "play" and rng.random() < 0.3:
                move["wish"] = rng.choice(naive.SYMBOLS)
            if move["type"] == "play" and rng.random() < 0.3:
                move["call"] = rng.choice((*PIOUS, *WORLDLY))
            return move
        units = rng.choice((referee.hands[referee.mover], naive.UNITS))
        count = rng.choice((1, 1, 2, len(referee.arena) or 1, len(referee.arena) + 1))
        kind = rng.choice(("lead", "beat", "beat", "take"))
        move = {"type": kind}
        if kind != "take":
            move["units"] = rng.sample(units, min(count, len(units)))
        if kind == "take" or (kind == "beat" and rng.random() < 0.7):
            pool = referee.arena if referee.arena and rng.random() < 0.8 else naive.UNITS
            move["take"] = rng.choice(pool)
        return move
