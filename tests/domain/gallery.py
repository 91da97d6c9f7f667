"""Records in which every type of event comes up, rare ones included."""

from __future__ import annotations

from domain.commands import ChangeSeat, ChangeTable, LeaveSeat, StartGame
from domain.sandbox import secret_of

from .games import RandomGame
from .positions import PLAYERS, SECRET, Table, halleluja, lobby, vallelujah


def random_games(count: int) -> list[RandomGame]:
    """Games of both rulesets at every seat count, options at random, not yet begun."""
    plays = []
    for n in range(count):
        ruleset = ("halleluja", "vallelujah")[n % 2]
        seats = 2 + n // 2 % (3 if ruleset == "halleluja" else 5)
        names = ("mitre_wild", "annoyed_ends_turn", "annoyed_stacks")
        options = {name: bool(n >> i & 1) for i, name in enumerate(names, 1)}
        if ruleset == "vallelujah":
            options = {"lead_all": bool(n >> 1 & 1)}
        plays.append(RandomGame(ruleset, seats, options, seed=("gallery", n)))
    return plays


def a_restless_lobby() -> Table:
    """Seeds, changes, leaving; then the start and a turn that is given time back."""
    table = lobby("vallelujah", 3, bots=1, seeds={1: "0a"})
    table.do(ChangeSeat(PLAYERS[2], "ffff"))
    table.do(ChangeTable(PLAYERS[0], options={"lead_all": True}, turn_seconds=30, max_seats=5))
    table.do(ChangeSeat(PLAYERS[1], ready=True))
    table.do(LeaveSeat(PLAYERS[2]))
    table.do(StartGame(PLAYERS[0]))
    clock = {"kind": "clock", "seat": table.game.turn.seat}
    table.happened("turn.extended", clock, seat=clock["seat"], seconds=12, reason="outage")
    return table


def a_cancelled_lobby() -> Table:
    table = lobby("halleluja", 2)
    table.do(LeaveSeat(PLAYERS[1]))
    table.do(LeaveSeat(PLAYERS[0]))
    return table


def a_drawn_match() -> Table:
    table = vallelujah([["crimson-1", "crimson-2"], ["azure-9"]], turn=300, voids=2)
    table.move(0, "lead", units=["crimson-1"])
    return table


def an_abandoned_match() -> Table:
    """An away seat swears, everyone goes; on the way a draw, a pass, and a hand laid back."""
    table = halleluja(
        [["B-rose", "C-clover"], ["H-clover", "D-rose"], ["F-rose", "F-clover"], ["A-rose"]],
        "A-apple", pile=["F-apple"], away=(2,), expired={2: 2}, options={"away_after": 1},
    )  # fmt: skip
    table.move(0, "draw")
    table.move(0, "keep")
    table.move(1, "draw")
    table.resign(3)
    table.move(2, "exclaim", word="mau")
    while not table.game.over:
        table.expire()
    return table


def a_round_of_everything() -> Table:
    """Skips, penalties, a reshuffle and a drawn card that is kept."""
    table = halleluja(
        [
            ["E-rose", "H-rose", "G-apple", "B-apple"],
            ["E-clover", "D-rose", "C-strawberry"],
            ["F-clover", "A-clover", "C-rose"],
        ],
        "A-rose", pile=["A-strawberry", "F-strawberry", "B-clover"], under=("C-apple", "C-clover"),
    )  # fmt: skip
    table.move(0, "play", card="H-rose")
    table.move(2, "play", card="C-rose", call="mau")
    table.move(0, "play", card="E-rose")
    table.resign(1)
    return table


def a_sandbox_match() -> Table:
    """Dealt by name; its clock is moved a little, and beyond a turn's end."""
    table = lobby("vallelujah", 2, secret=secret_of("gallery"), deal="gallery")
    table.do(StartGame(PLAYERS[0]))
    table.advance(10_000)
    table.advance(50_000)
    table.expire()
    return table


def records() -> list[Table]:
    return [
        a_restless_lobby(), a_cancelled_lobby(), a_drawn_match(), an_abandoned_match(),
        a_round_of_everything(), a_sandbox_match(),
    ]  # fmt: skip


__all__ = ["SECRET", "random_games", "records"]
