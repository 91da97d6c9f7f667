"""Vallelujah, rule by rule, on positions made for it."""

from __future__ import annotations

from typing import Any

from domain.commands import MakeMove
from domain.game import legal_moves
from tests.domain.positions import Table, vallelujah

from .playthrough import playthrough
from .scribe import Scribe
from .table_scripts import show_deal

AVA, BEN, CORA = range(3)


@playthrough("deal", "vallelujah")
def deal(play: Scribe) -> None:
    """Dealing to six

    With six armies of nine no unit is left over.
    """
    show_deal(play, "vallelujah.units", "vallelujah.leader")


@playthrough("lead-beat-climb", "vallelujah")
def lead_beat_climb(play: Scribe) -> None:
    """The sheet's first example: a lead, a beat, and one unit more

    Ava's 4 falls to Ben's 7, and his 7 to two units of Cora's that make 82.
    """
    play.set_up(
        vallelujah(
            [
                ["gold-4", "coral-1", "coral-8", "slate-5"],
                ["azure-2", "azure-3", "azure-7", "coral-3"],
                ["forest-2", "forest-8", "crimson-1", "slate-6"],
            ]
        ),
        "",
        {"table.turn-order": "turn {seat 0"},
    )
    play.refuse_move(BEN, "lead", units=["azure-7"])
    play.move(AVA, "lead", units=["gold-4"], shows={"vallelujah.lead": "battalion.led"})
    play.refuse_move(BEN, "beat", units=["azure-3"])
    play.refuse_move(BEN, "beat", units=["azure-7", "coral-3"])
    play.refuse_move(BEN, "beat", units=["azure-7", "azure-3", "azure-2"])
    play.refuse_move(BEN, "take", take="gold-4", note="He can beat it, so he must.")
    play.refuse_move(BEN, "pass", note="There is no such move.")
    play.refuse_move(BEN, "beat", units=["azure-7", "azure-7"], take="gold-10", card="A-rose")
    play.move(
        BEN,
        "beat",
        units=["azure-7"],
        note="As many units, and stronger. The one fallen unit needs no naming.",
        shows={"vallelujah.capture": "captured gold-4", "vallelujah.count": "battalion.beaten"},
    )
    play.refuse_move(CORA, "beat", units=["azure-7"])
    play.move(
        CORA,
        "beat",
        units=["forest-2", "forest-8"],
        take="azure-7",
        note="One more unit, of one banner: 8 and 2 are read as 82.",
        shows={
            "vallelujah.strength": "strength 82",
            "vallelujah.battalion": "units forest-2 forest-8",
            "vallelujah.count": "battalion.beaten",
        },
    )
    play.refuse_move(AVA, "beat", units=["coral-8", "coral-1"], take="forest-8")
    play.refuse_move(AVA, "take", note="Two units lie there, so she must name hers.")
    play.refuse_move(AVA, "take", take="gold-4")
    play.move(
        AVA,
        "take",
        take="forest-8",
        note="She cannot beat it. The other unit is out of the round, and Ben leads.",
        shows={"vallelujah.take": "arena.taken"},
    )


@playthrough("cannot-go", "vallelujah")
def cannot_go(play: Scribe) -> None:
    """The sheet's second example: no way past a nine

    Ben cannot beat Ava's 9, takes it, and Ava leads again.
    """
    play.set_up(
        vallelujah([["crimson-9", "gold-3", "slate-2"], ["azure-8", "coral-5", "gold-6"]]),
    )
    play.move(
        AVA,
        "lead",
        units=["crimson-9"],
        shows={"vallelujah.take": "may take, take crimson-9"},
    )
    play.refuse_move(BEN, "beat", units=["azure-8"])
    play.refuse_move(BEN, "beat", units=["azure-8", "gold-6"])
    play.refuse_move(BEN, "lead", units=["gold-6"])
    play.refuse_move(BEN, "take", take="azure-8")
    play.move(
        BEN,
        "take",
        note="Taking is no skipping: the nine is his, the arena is empty, his turn is over.",
        shows={"vallelujah.take": "captured crimson-9"},
    )
    play.refuse_move(AVA, "lead", units=["gold-3", "slate-2"])
    play.move(AVA, "lead", units=["gold-3"], shows={"vallelujah.lead": "battalion.led"})


@playthrough("leading", "vallelujah")
def leading(play: Scribe) -> None:
    """Leading into the empty arena

    One unit, even where the whole army would be one battalion; then the option.
    """
    others = ["crimson-1", "crimson-3"]
    play.set_up(vallelujah([["gold-4", "gold-7"], others]))
    play.refuse_move(AVA, "lead", units=["gold-4", "gold-7"])
    play.refuse_move(AVA, "lead", units=["crimson-1"])
    play.refuse_move(AVA, "beat", units=["gold-7"])
    play.refuse_move(AVA, "take", take="gold-7")
    play.move(AVA, "lead", units=["gold-7"], shows={"vallelujah.own-units": "units gold-7"})

    all_in = {"lead_all": True, "rounds_to_win": 1}
    play.set_up(vallelujah([["coral-7", "gold-4", "gold-7"], others], options=all_in))
    play.refuse_move(AVA, "lead", units=["coral-7", "gold-4", "gold-7"])
    play.refuse_move(AVA, "lead", units=["coral-7", "gold-7"], note="Not the whole army.")

    play.set_up(
        vallelujah([["coral-7", "gold-7", "slate-7"], others], options=all_in),
        "",
        {"option.lead_all": "vallelujah.lead-all"},
    )
    play.move(
        AVA,
        "lead",
        units=["slate-7", "coral-7", "gold-7"],
        note="The whole army is led, and the round is won with it.",
        shows={"vallelujah.lead-all": "battalion.led", "vallelujah.win": "round.won"},
    )


@playthrough("beating", "vallelujah")
def beating(play: Scribe) -> None:
    """Beating three units

    Equal strength does not beat; a capture is a choice.
    """
    mine = [
        *("azure-5", "forest-5", "crimson-5", "crimson-3", "crimson-2", "crimson-1"),
        *("azure-9", "forest-9"),
    ]
    play.set_up(vallelujah([mine, ["gold-1"]], ["coral-5", "gold-5", "slate-5"]))
    play.refuse_move(
        AVA,
        "beat",
        units=["azure-5", "crimson-5", "forest-5"],
        take="gold-5",
        note="555 against 555.",
    )
    play.refuse_move(AVA, "beat", units=["azure-9", "forest-9"], take="gold-5")
    play.refuse_move(AVA, "beat", units=["azure-9", "forest-9", "crimson-5"], take="gold-5")
    beat = ["crimson-1", "crimson-2", "crimson-3", "crimson-5"]
    play.refuse_move(AVA, "beat", units=beat)
    play.refuse_move(AVA, "beat", units=beat, take="coral-6")
    play.move(
        AVA,
        "beat",
        units=["crimson-5", "crimson-1", "crimson-2", "crimson-3"],
        take="gold-5",
        note="Four units against three are always stronger: 5321.",
        shows={
            "vallelujah.count": "strength 5321",
            "vallelujah.capture": "captured gold-5, discarded coral-5 slate-5",
        },
    )


@playthrough("winning", "vallelujah")
def winning(play: Scribe) -> None:
    """Emptying the army

    A beat with the last units wins at once; the match goes on until enough rounds are won.
    """
    hands = [["gold-1", "gold-9"], ["crimson-4", "forest-4"], ["azure-6", "coral-2"]]
    arena = ["slate-2", "slate-3"]
    options = {"rounds_to_win": 2}
    play.set_up(vallelujah(hands, arena, options=options, first=2))
    play.refuse_move(AVA, "beat", units=["gold-1", "gold-9"], take="slate-3")
    play.move(
        AVA,
        "beat",
        units=["gold-1", "gold-9"],
        note="Nothing is captured. Cora led this round first, so Ava leads the next.",
        shows={
            "vallelujah.win": "battalion.beaten",
            "table.match": "round.won",
            "vallelujah.leader": "round.dealt",
        },
    )
    play.set_up(vallelujah(hands, arena, options=options, scores={0: 1, 2: 1}, round=3))
    play.move(
        AVA,
        "beat",
        units=["gold-1", "gold-9"],
        shows={"option.rounds_to_win": "game.won", "table.match": "game.won"},
    )
    play.set_up(vallelujah([["gold-9"], ["crimson-4", "forest-4"]], options={"rounds_to_win": 1}))
    play.move(AVA, "lead", units=["gold-9"], shows={"vallelujah.win": "round.won"})


@playthrough("repetition", "vallelujah")
def repetition(play: Scribe) -> None:
    """A round that would never end

    Three sevens and an eight between two seats: whoever leads a seven loses it to the eight,
    and whoever has shown the eight loses that. No other move is legal but the choice of the
    seven.
    """
    play.set_up(vallelujah([["coral-7", "slate-7"], ["crimson-8", "gold-7"]]))
    for _ in range(CYCLE):
        play.do(_only_move(play))
    play.do(
        _only_move(play),
        "The position stands for the third time.",
        {"vallelujah.repetition": "round.void", "table.void-rounds": "round.dealt"},
    )


CYCLE = 11
"""Turns of the cycle before the one in whose place the round is void."""


def _only_move(play: Scribe) -> MakeMove:
    return MakeMove(play.table.player(play.mover), legal_moves(play.game, play.mover)[0])


@playthrough("resigned-army", "vallelujah")
def resigned_army(play: Scribe) -> None:
    """The army of a seat that resigns

    It is out of play until the next deal, but for a battalion in the arena.
    """
    hands = [
        ["crimson-3", "crimson-9", "gold-2"],
        ["azure-6", "azure-8", "coral-1"],
        ["forest-7", "slate-4"],
    ]
    play.set_up(vallelujah(hands, to_move=1))
    play.move(BEN, "lead", units=["azure-6"])
    play.resign(
        BEN,
        "His battalion stays in the arena.",
        {"vallelujah.resigned-army": "arena {units azure-6"},
    )
    play.move(
        CORA,
        "beat",
        units=["forest-7"],
        note="It can be beaten, and captured from.",
        shows={"vallelujah.resigned-army": "captured azure-6"},
    )
    play.move(AVA, "beat", units=["crimson-9"])


@playthrough("endless", "vallelujah")
def endless(play: Scribe) -> None:
    """Rounds that reach their limit

    A round has 300 turns. Then the smallest army decides, and else nothing.
    """

    def at_limit(other: list[str], turn: int = 300, **more: Any) -> Table:
        return vallelujah([["gold-4", "slate-9"], other], turn=turn, **more)

    uneven, even = ["crimson-5", "forest-5", "coral-1"], ["crimson-5"]
    play.set_up(at_limit(uneven, 299))
    play.move(AVA, "lead", units=["gold-4"], note="Turn 300 may still be played.")
    play.move(
        BEN,
        "beat",
        units=["crimson-5"],
        note="Turn 301 would begin. Ava holds one unit, Ben three.",
        shows={"table.turn-limit": "reason limit", "table.turn-numbers": "turn {seat"},
    )
    lead = {"units": ["gold-4"]}

    play.set_up(at_limit(even))
    play.move(
        AVA,
        "lead",
        **lead,
        note="A tie: nobody scores, and the lead moves on.",
        shows={"table.turn-limit": "round.void", "table.void-rounds": "round.dealt"},
    )

    play.set_up(at_limit(uneven, voids=2))
    play.move(
        AVA,
        "lead",
        **lead,
        note="A won round ends the row of void ones.",
        shows={"table.void-rounds": "voids 0"},
    )

    play.set_up(at_limit(even, voids=2, scores={0: 1, 1: 1}))
    play.move(
        AVA,
        "lead",
        **lead,
        note="The third void round in a row, and nobody leads.",
        shows={"table.void-rounds": "game.drawn"},
    )

    play.set_up(at_limit(even, voids=2, scores={0: 1, 1: 2}))
    play.move(
        AVA,
        "lead",
        **lead,
        note="The third void round in a row, and Ben leads.",
        shows={"table.void-rounds": "game.won"},
    )
