"""What every table does, whatever is played at it: the lobby, the clock, leaving, the end."""

from __future__ import annotations

from domain.commands import (
    ChangeSeat,
    ChangeTable,
    CreateGame,
    LeaveSeat,
    MakeMove,
    RemoveSeat,
    Resign,
    SeatBot,
    StartGame,
    TakeSeat,
)
from domain.game import bind, legal_moves, overdue
from domain.times import from_micros, plus_seconds, to_micros
from tests.domain import naive
from tests.domain.positions import PLAYERS, started

from .playthrough import playthrough
from .scribe import Scribe

AVA, BEN, CORA, DORA, EMIL, FINN = PLAYERS[:6]


def first_move(play: Scribe) -> dict[str, object]:
    """The first legal move of the seat to move."""
    return legal_moves(play.game, play.mover)[0]


def play_until(play: Scribe, seat: int) -> None:
    """Have the others play until `seat` is to move."""
    while play.mover != seat:
        play.play_some()


def other_than(play: Scribe) -> int:
    """A seat that is not to move."""
    return next(seat for seat in play.game.active if seat != play.mover)


@playthrough("lobby")
def lobby(play: Scribe) -> None:
    """The lobby: sitting down, seeds, being ready, leaving, and the start

    Ava opens a table and hands it over; it starts with a gap where she sat.
    """
    id_ = play.rules.id
    play.do(CreateGame(AVA, id_, {"rounds_to_win": 2}, turn_seconds=30, max_seats=4), after=0)
    play.refuse(StartGame(AVA))
    play.refuse(SeatBot(AVA, "deep-thought"))
    play.do(
        TakeSeat(BEN, "beef"),
        "A seed of one's own goes into every shuffle. Joining is being ready.",
        {"table.ready": "Ben, status ready"},
    )
    play.refuse(TakeSeat(BEN))
    play.refuse(TakeSeat(CORA, "not hex"))
    play.do(TakeSeat(CORA), "", {"table.seats": "seat.taken: seat 2"})
    play.refuse(SeatBot(CORA, "random"), "Only the host fills seats.")
    play.do(SeatBot(AVA, "random"))
    play.refuse(TakeSeat(DORA))
    play.refuse(MakeMove(BEN, _any_move(id_)), "There is no move to make before the start.")
    play.do(
        ChangeTable(AVA, {"pause_seconds": 0, "rounds_to_win": 2}, turn_seconds=20),
        "A change asks the other humans again.",
        {"table.ready": "Ben, status seated"},
    )
    play.do(ChangeTable(AVA, turn_seconds=20))
    play.refuse(StartGame(AVA))
    play.refuse(ChangeTable(AVA, {"rounds_to_win": 0, "house_rules": True}, 2, 9))
    play.refuse(ChangeTable(AVA, max_seats=3), "Nobody is unseated by a smaller table.")
    play.refuse(ChangeSeat(BEN, ready=False))
    play.do(ChangeSeat(BEN, ready=True), "", {"table.ready": "seat.ready"})
    play.do(ChangeSeat(BEN, "beef", ready=True))
    play.do(ChangeSeat(CORA, "00ff", ready=True))
    play.do(
        LeaveSeat(AVA),
        "The host leaves: the next human seat clockwise has the table.",
        {"table.leaving": "seat.left: seat 0, host 1"},
    )
    play.do(LeaveSeat(AVA))
    play.do(
        TakeSeat(DORA),
        "The lowest free seat is the one that Ava left.",
        {"table.seats": "seat.taken: seat 0"},
    )
    play.refuse(RemoveSeat(DORA, 1))
    play.do(RemoveSeat(BEN, 0), "Who was removed cannot come back to this table.")
    play.refuse(TakeSeat(DORA))
    play.do(RemoveSeat(BEN, 0))
    play.refuse(StartGame(CORA))
    events = play.do(
        StartGame(BEN),
        "Seats keep their numbers: the match is played by 1, 2 and 3.",
        {"table.seats": "game.started: seats 1 2 3", "table.shuffle": "undealt"},
    )
    deal = events[-1].data
    seeds = ["beef", "00ff", ""]

    def stream(purpose: str, number: int) -> object:
        used_for = {"purpose": purpose, "round_number": number, "n": 0, "seeds": seeds}
        return naive.words(naive.key(play.table.secret, play.game.game_id, **used_for))

    lot = naive.below(stream("lot", 0), 3)
    hands, _ = naive.deal(
        stream("deal", 1), list(play.rules.cards), [1, 2, 3], deal["first"], play.rules.hand_size
    )
    again = {str(seat): hand for seat, hand in hands.items()} == deal["hands"]
    again &= deal.get("dealer", deal["first"]) == (1, 2, 3)[lot]
    play.claim(
        "the lot and the hands, computed again from the secret and the seeds, are the same",
        again,
        {"table.shuffle": "computed again"},
    )
    play.do(StartGame(BEN))
    play.refuse(TakeSeat(EMIL))
    play.refuse(LeaveSeat(CORA))
    play.refuse(ChangeTable(BEN, turn_seconds=60))


@playthrough("cancelled")
def cancelled(play: Scribe) -> None:
    """A lobby that nobody is left in

    The last human takes the table along: computer players wait for nobody.
    """
    play.do(CreateGame(AVA, play.rules.id), after=0)
    play.do(SeatBot(AVA, "greedy"))
    play.do(
        RemoveSeat(AVA, 0),
        "Removing oneself is leaving.",
        {"table.leaving": "game.cancelled"},
    )
    play.refuse(TakeSeat(BEN))
    play.refuse(MakeMove(AVA, _any_move(play.rules.id)))


@playthrough("clock")
def clock(play: Scribe) -> None:
    """The turn's time: it runs out, a seat is away and comes back

    Thirty seconds a turn, twenty more for the first look at the deal, away after three.
    """
    options = {"pause_seconds": 20, "away_after": 3}
    table = started(play.rules.id, 2, options=options, turn_seconds=30)
    due = str(table.game.due_at)
    play.set_up(table, "", {"option.pause_seconds": f"due_at {due}"})
    slow = play.mover
    play.claim(
        "the round's first turn is due 30 + 20 seconds after the deal",
        due == plus_seconds(table.log[-1].at, 50),
        {"table.turn-timer": "30 + 20"},
    )
    late = from_micros(to_micros(due) + 1)
    play.claim(
        f"a move at {due} is in time, at {late} it is late",
        not overdue(play.game, due) and overdue(play.game, late),
        {"table.turn-timer": "is in time"},
    )
    first = first_move(play)
    play.expire(
        "The turn is played for the seat: a legal move, picked by the game's secret.",
        {"table.auto-pick": "turn.expired"},
    )
    pick = play.table.log[-1] if play.table.log[-1].by["kind"] == "clock" else None
    play.claim("the pick is by the clock, for the seat", pick is not None)
    named = {"round": 1, "turn": 1}
    play.refuse(
        MakeMove(play.table.player(slow), first, **named), "A move for the turn that ran out:"
    )
    play_until(play, slow)
    play.refuse(MakeMove(play.table.player(other_than(play)), first_move(play)))
    play.happened(
        "turn.extended",
        {"kind": "clock", "seat": slow},
        "Time that an outage took is given back.",
        {"table.turn-timer": "turn.extended"},
        seat=slow,
        seconds=45,
        reason="outage",
    )
    play.expire()
    play_until(play, slow)
    play.expire(
        "The third expired turn in a row.",
        {"table.away": "seat.away", "option.away_after": "seat.away"},
    )
    present = play.mover
    events = play.play_some(
        "The turn of the seat that is away is played in the same instant.",
        {"table.away": "by clock"},
    )
    assert present == play.mover
    assert not [event for event in events if event.type == "turn.expired"]
    play.back(slow, "", {"table.back": "seat.back"})
    play.back(slow)
    play_until(play, slow)
    first = first_move(play)
    stale = {"round": 1, "turn": play.game.turn.number - 1}
    play.refuse(MakeMove(play.table.player(slow), first, **stale), "A move for a turn gone by:")
    twice = bind(play.game, MakeMove(play.table.player(slow), first))
    play.do(
        twice,
        "Of two equal moves sent at the same time one counts.",
        {"table.turn-named": "command"},
        title="The same move twice",
    )
    play.refuse(twice)


@playthrough("abandoned")
def abandoned(play: Scribe) -> None:
    """Nobody left to play with: every human away

    Ava and Ben with a computer player; one missed turn and a seat is away.
    """
    play.set_up(started(play.rules.id, 2, bots=1, options={"away_after": 1}))
    present = {0, 1}
    while not play.game.over:
        if play.mover not in present:
            play.play_some()
            continue
        last = len(present) == 1
        present.discard(play.mover)
        shows = {"table.abandoned": "game.abandoned", "table.over": "result"}
        play.expire("", shows if last else {"option.away_after": "seat.away"})
    play.refuse(MakeMove(AVA, _any_move(play.rules.id)))
    play.do(LeaveSeat(FINN), title="A stranger leaves a seat that they do not hold")


@playthrough("resigning")
def resigning(play: Scribe) -> None:
    """Leaving a match that runs: seats resign until one is left

    Four players; one leaves out of turn, one in their turn, and the third leaves the match to
    the last.
    """
    play.set_up(started(play.rules.id, 4))
    play.refuse(Resign(EMIL), "Who holds no seat has none to give up.")
    gone = play.game.next_active(play.mover)
    play.resign(
        gone,
        "Out of turn: the running turn goes on.",
        {"table.resigning": "seat.resigned"},
    )
    play.refuse(MakeMove(play.table.player(gone), first_move(play)), "Resigning is final.")
    play.resign(gone)
    play.play_some(
        "The seat that resigned is out of the turn order.",
        {"table.turn-order": "turn {seat"},
    )
    leaver = play.mover
    follows = play.game.next_active(leaver)
    play.resign(
        leaver,
        "In its turn: the next active seat begins one.",
        {"table.resigning": "seat.resigned", "table.turn-order": f"turn {{seat {follows}"},
    )
    play.resign(play.mover, "One seat is left.", {"table.last-seat": "game.won"})
    play.refuse(MakeMove(play.table.player(play.game.active[0]), _any_move(play.rules.id)))

    play.set_up(started(play.rules.id, 1, bots=1))
    play.resign(
        0,
        "A computer player may be that last seat; this comes before abandoning.",
        {"table.last-seat": "game.won"},
    )

    play.set_up(started(play.rules.id, 1, bots=2))
    play.resign(0, "Computer players do not go on alone.", {"table.abandoned": "game.abandoned"})


def show_deal(play: Scribe, whole: str, opener: str) -> None:
    """A deal to as many seats as there can be. `whole` and `opener` are the ids of the rules on
    the set of cards and on who opens the round."""
    rules = play.rules
    play.set_up(
        started(rules.id, rules.seats[1], seeds={1: "aa", 3: "0123456789abcdef"}),
        "Everyone sees what was dealt to them, and nobody what is left.",
        {f"{rules.id}.deal": "hands 0", opener: "first"},
    )
    data = play.table.log[-1].data
    cards = [card for hand in data["hands"].values() for card in hand] + data["undealt"]
    cards += [data["turned_up"]] if "turned_up" in data else []
    play.claim(
        f"the hands and what is left are the {len(rules.cards)} cards, each once",
        sorted(cards) == sorted(rules.cards),
        {whole: "each once"},
    )


def _any_move(ruleset: str) -> dict[str, object]:
    """A well-formed move."""
    game = started(ruleset, 2).game
    return legal_moves(game, game.turn.seat)[0]
