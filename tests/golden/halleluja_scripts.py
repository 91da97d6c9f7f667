"""Halleluja, rule by rule, on positions made for it."""

from __future__ import annotations

from typing import Any

from tests.domain.positions import Table, halleluja

from .playthrough import playthrough
from .scribe import Scribe
from .table_scripts import show_deal

AVA, BEN, CORA = range(3)


@playthrough("deal", "halleluja")
def deal(play: Scribe) -> None:
    """Dealing to four

    Every card is in one place, and only who holds it sees it.
    """
    show_deal(play, "halleluja.cards", "halleluja.dealer")


@playthrough("matching", "halleluja")
def matching(play: Scribe) -> None:
    """Matching, having to play, drawing

    Ben draws a card that fits and plays it, later one that he keeps; Cora's does not fit.
    """
    play.set_up(
        halleluja(
            [
                ["B-rose", "C-apple", "D-clover", "F-rose"],
                ["A-clover", "C-strawberry", "G-clover", "H-clover"],
                ["A-strawberry", "C-clover", "F-strawberry"],
            ],
            top="B-apple",
            pile=["D-rose", "E-strawberry", "F-apple", "F-clover", "A-apple", "B-strawberry"],
        ),
        "",
        {"halleluja.match": "may play, card B-rose", "table.turn-order": "turn {seat 0"},
    )
    play.refuse_move(AVA, "play", card="D-clover")
    play.refuse_move(AVA, "play", card="H-apple", note="It would fit, but she does not hold it.")
    play.refuse_move(AVA, "draw")
    play.refuse_move(AVA, "keep")
    play.refuse_move(AVA, "play", card="B-rose", wish="clover")
    play.refuse_move(BEN, "draw")
    play.refuse_move(AVA, "pass", note="There is no such move.")
    play.refuse_move(AVA, "play", card="Z-rose", wish="thistle", call="hooray", units=["gold-4"])
    play.move(
        AVA,
        "play",
        card="B-rose",
        note="The figure is that of the top card.",
        shows={"halleluja.match": "card.played", "halleluja.plain-figures": "table"},
    )
    play.refuse_move(BEN, "play", card="A-clover")
    play.move(
        BEN,
        "draw",
        note="Neither a B nor a rose in hand. The drawn card fits: Ben may play it, or keep it.",
        shows={"halleluja.draw": "cards.drawn", "halleluja.drawn-card": "may keep"},
    )
    play.refuse_move(BEN, "draw", note="One such draw in a turn.")
    play.refuse_move(BEN, "play", card="G-clover")
    play.move(BEN, "play", card="D-rose", shows={"halleluja.drawn-card": "card.played"})
    play.move(
        CORA,
        "draw",
        note="The drawn card does not fit, so the turn passes on.",
        shows={"halleluja.draw": "cards.drawn"},
    )
    play.move(AVA, "play", card="D-clover")
    play.move(
        BEN,
        "play",
        card="A-clover",
        note="The symbol is the one in force.",
        shows={"halleluja.match": "card.played"},
    )
    play.move(CORA, "play", card="A-strawberry")
    play.move(AVA, "draw")
    play.move(BEN, "play", card="C-strawberry")
    play.move(CORA, "play", card="F-strawberry")
    play.move(AVA, "play", card="F-rose", shows={"halleluja.plain-figures": "table"})
    play.move(BEN, "draw")
    play.move(
        BEN,
        "keep",
        note="A card that fits need not be played.",
        shows={"halleluja.drawn-card": "card.kept"},
    )


def _annoyed(**options: bool) -> Table:
    """Ava can play an E; so could Ben, if the table lets him."""
    return halleluja(
        [
            ["A-apple", "B-apple", "C-apple", "E-rose"],
            ["A-rose", "B-rose", "C-rose", "E-clover"],
            ["A-strawberry", "B-strawberry", "D-strawberry"],
        ],
        top="E-apple",
        pile=["F-rose", "D-clover", "F-clover", "H-clover", "A-clover", "B-clover"],
        options=options,
    )


@playthrough("annoyed", "halleluja")
def annoyed(play: Scribe) -> None:
    """The annoyed monk: the next seat draws two

    First as the sheet has it, then with the options: passed over, answered, and both.
    """
    play.set_up(
        _annoyed(),
        "The card that was turned up has no effect, an E neither.",
        {"halleluja.deal": "table"},
    )
    play.move(
        AVA,
        "play",
        card="E-rose",
        note="Ben draws two at once, then takes his turn.",
        shows={"halleluja.annoyed": "cards.drawn"},
    )
    play.move(BEN, "play", card="F-rose", note="He may play what he has just drawn.")

    play.set_up(_annoyed(annoyed_ends_turn=True))
    play.move(
        AVA,
        "play",
        card="E-rose",
        note="Ben draws and is passed over: his turn does not begin.",
        shows={
            "halleluja.annoyed-ends-turn": "cards.drawn",
            "option.annoyed_ends_turn": "turn {seat 2, number 2}",
            "table.turn-numbers": "turn {seat 2, number 2}",
        },
    )

    play.set_up(_annoyed(annoyed_stacks=True))
    play.move(
        AVA,
        "play",
        card="E-rose",
        note="Ben faces two cards: an E, or he draws them.",
        shows={"option.annoyed_stacks": "pending_draw 2"},
    )
    play.refuse_move(BEN, "play", card="A-rose")
    play.move(
        BEN,
        "play",
        card="E-clover",
        note="Cora faces the sum.",
        shows={"halleluja.annoyed-stacks": "pending_draw 4"},
    )
    play.refuse_move(CORA, "keep")
    play.move(
        CORA,
        "draw",
        note="She draws the sum, and then takes her turn.",
        shows={"halleluja.annoyed-stacks": "count 4"},
    )
    play.move(CORA, "play", card="D-clover")

    play.set_up(_annoyed(annoyed_stacks=True, annoyed_ends_turn=True))
    play.move(AVA, "play", card="E-rose")
    play.move(
        BEN,
        "draw",
        note="Both options: the draw is all of his turn.",
        shows={"halleluja.annoyed-ends-turn": "turn {seat 2"},
    )


def _last_card_of_the_pile(**options: bool) -> Table:
    """Ava's forgotten call draws the only card there is before her E takes effect."""
    hands = [["A-apple", "E-rose"], ["A-rose", "B-rose", "C-rose"], ["D-rose", "F-rose"]]
    return halleluja(hands, top="E-apple", pile=[], options=options)


@playthrough("annoyed-in-vain", "halleluja")
def annoyed_in_vain(play: Scribe) -> None:
    """The annoyed monk, with no card left to draw

    Ava forgets her call and so draws the last card there is; her E then finds none.
    """
    play.set_up(_last_card_of_the_pile())
    play.move(
        AVA,
        "play",
        card="E-rose",
        note="Nothing is drawn for the E, and nothing recorded; Ben takes his turn.",
        shows={"halleluja.reshuffle": "pile.reshuffled", "halleluja.annoyed": "turn {seat 1"},
    )
    play.set_up(_last_card_of_the_pile(annoyed_ends_turn=True))
    play.move(
        AVA,
        "play",
        card="E-rose",
        note="Where he would be passed over, a pass stands for the draw.",
        shows={"halleluja.annoyed-ends-turn": "turn.passed"},
    )
    play.set_up(_last_card_of_the_pile(annoyed_stacks=True))
    play.move(
        AVA,
        "play",
        card="E-rose",
        note="A pending draw for which there is no card has lapsed.",
        shows={"halleluja.annoyed-stacks": "game"},
    )


@playthrough("sitting", "halleluja")
def sitting(play: Scribe) -> None:
    """The sitting monk: the next seat is skipped

    Among three, then between two.
    """
    hands = [["H-rose", "A-apple", "B-apple"], ["A-rose", "B-rose"], ["C-rose", "H-clover"]]
    play.set_up(halleluja(hands, top="D-rose"))
    play.move(
        AVA,
        "play",
        card="H-rose",
        note="Ben is skipped, and his turn uses no number.",
        shows={
            "halleluja.sitting": "turn.skipped",
            "table.turn-numbers": "turn {seat 2, number 2}",
        },
    )
    play.set_up(halleluja(hands[:2], top="D-rose"))
    play.move(
        AVA,
        "play",
        card="H-rose",
        note="Between two the same seat plays again.",
        shows={"halleluja.sitting": "turn {seat 0, number 2}"},
    )


@playthrough("mitre", "halleluja")
def mitre(play: Scribe) -> None:
    """The monk with mitre and staff: a wish

    A wish is for the next card only, and a G must match like any card. Then the option.
    """
    hands = [
        ["A-rose", "D-clover", "F-rose", "G-apple", "G-rose"],
        ["A-clover", "B-strawberry", "D-rose", "G-clover"],
        ["A-strawberry", "C-clover", "D-strawberry"],
    ]
    play.set_up(halleluja(hands, top="C-rose"), "", {"halleluja.mitre": "may play, card G-rose"})
    play.refuse_move(AVA, "play", card="G-apple", wish="clover")
    play.move(
        AVA,
        "play",
        card="G-rose",
        wish="clover",
        shows={"halleluja.mitre": "symbol_in_force clover", "halleluja.wish": "wish clover"},
    )
    play.refuse_move(BEN, "play", card="D-rose", note="The printed rose is not in force.")
    play.move(
        BEN,
        "play",
        card="A-clover",
        note="With the next card the wish is over.",
        shows={"halleluja.wish": "wished no"},
    )
    play.move(CORA, "play", card="C-clover")
    play.refuse_move(AVA, "play", card="G-apple")
    play.refuse_move(AVA, "play", card="D-clover", wish="rose")
    play.move(AVA, "play", card="D-clover")
    play.move(
        BEN,
        "play",
        card="G-clover",
        note="Without a wish the printed symbol is in force.",
        shows={"halleluja.mitre": "symbol_in_force clover, wished no"},
    )

    play.set_up(
        halleluja(hands, top="H-clover", options={"mitre_wild": True}),
        "Where the table plays it so, a G goes on any card.",
        {
            "halleluja.mitre-wild": "may play, card G-apple",
            "option.mitre_wild": "may play, card G-rose",
        },
    )
    play.move(
        AVA,
        "play",
        card="G-apple",
        wish="strawberry",
        shows={"halleluja.mitre-wild": "card.played"},
    )
    play.move(BEN, "play", card="G-clover", wish="strawberry")


def _two_cards(**more: Any) -> Table:
    hands = [["A-rose", "B-rose"], ["C-apple", "C-rose", "D-clover", "D-rose", "F-rose"]]
    return halleluja(hands, top="H-rose", **more)


def _one_card(card: str = "A-rose") -> Table:
    hands = [[card], ["C-apple", "C-rose", "D-clover"]]
    return halleluja(hands, top="H-rose")


@playthrough("calls", "halleluja")
def calls(play: Scribe) -> None:
    """The calls of the last two cards

    Made, forgotten, mixed up, not due, and worldly.
    """
    play.set_up(_two_cards(), "", {"halleluja.calls": "call_due amen"})
    play.move(AVA, "play", card="A-rose", call="amen", shows={"halleluja.calls": "call amen"})
    play.move(BEN, "play", card="C-rose", call="halleluja", note="Not due: no effect.")
    play.move(
        AVA,
        "play",
        card="B-rose",
        call="halleluja",
        shows={"halleluja.win": "round.won", "halleluja.calls": "call halleluja"},
    )

    play.set_up(_two_cards(), "Amen is forgotten.")
    play.move(AVA, "play", card="A-rose", shows={"halleluja.calls": "reason forgotten-call"})

    play.set_up(_two_cards(), "The other pious word is no better.")
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="halleluja",
        shows={"halleluja.calls": "reason forgotten-call"},
    )

    play.set_up(_two_cards(), "A worldly word costs three cards, in place of the one.")
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="mau",
        shows={"halleluja.worldly-words": "reason worldly-call, count 3"},
    )
    play.move(
        BEN,
        "play",
        card="C-rose",
        call="mau-mau",
        note="Also where no call is due.",
        shows={"halleluja.worldly-words": "reason worldly-call, count 3"},
    )

    play.set_up(_one_card(), "The last card without its call.")
    play.move(
        AVA,
        "play",
        card="A-rose",
        note="The penalty comes before the win: Ava holds a card again and has not won.",
        shows={"halleluja.order": "reason forgotten-call"},
    )

    play.set_up(_one_card("E-rose"), "The last card is an E.")
    play.move(
        AVA,
        "play",
        card="E-rose",
        call="halleluja",
        note="The win comes before the effect: Ben draws nothing.",
        shows={"halleluja.order": "round.won", "halleluja.win": "round.won"},
    )


@playthrough("worldly-words", "halleluja")
def worldly_words(play: Scribe) -> None:
    """Worldly words at any time

    Ben lets three of them slip; Cora, who is away, comes back with one.
    """
    play.set_up(
        halleluja(
            [
                ["A-clover", "B-apple", "C-apple"],
                ["A-rose", "B-rose", "C-rose", "D-rose"],
                ["A-strawberry", "B-strawberry"],
            ],
            top="H-rose",
            pile=[
                *("F-rose", "D-clover", "F-clover", "G-clover", "H-clover", "C-clover"),
                *("D-strawberry", "F-strawberry", "E-strawberry", "H-strawberry", "C-strawberry"),
                *("D-apple", "F-apple", "B-clover"),
            ],
            away=(2,),
            expired={2: 2},
        )
    )
    play.move(AVA, "draw", note="A rose: Ava may play it or keep it.")
    play.move(
        BEN,
        "exclaim",
        word="mau",
        note="Out of turn. Neither the turn nor Ava's choice changes.",
        shows={"halleluja.worldly-words": "word.exclaimed"},
    )
    play.move(AVA, "exclaim", word="mau", note="In her own turn she can, too.")
    play.move(
        CORA,
        "exclaim",
        word="mau-mau",
        note="Who exclaims is back.",
        shows={"table.back": "seat.back"},
    )
    play.back(CORA)
    play.move(AVA, "keep")
    play.move(BEN, "play", card="A-rose", call="mau")
    play.move(CORA, "play", card="A-strawberry")
    play.move(BEN, "exclaim", word="mau-mau", note="The third of this round.")
    play.refuse_move(BEN, "exclaim", word="mau")
    play.refuse_move(BEN, "exclaim", word="amen", note="A pious word is no exclamation.")
    play.move(AVA, "play", card="A-clover")
    play.refuse_move(BEN, "play", card="D-clover", call="mau", note="Nor with a play.")


@playthrough("draw-pile", "halleluja")
def draw_pile(play: Scribe) -> None:
    """The draw pile runs out

    The discards under the top card are laid under it; what does not exist is not drawn.
    """
    hands = [["B-apple", "C-apple", "E-clover"], ["A-strawberry", "B-strawberry", "C-strawberry"]]
    play.set_up(halleluja(hands, top="A-clover", under=("A-apple", "A-rose"), pile=["B-clover"]))
    play.move(
        AVA,
        "play",
        card="E-clover",
        note="Two to draw and one there: three discards are shuffled and laid under it.",
        shows={"halleluja.reshuffle": "pile.reshuffled"},
    )

    play.set_up(halleluja(hands, top="A-clover", pile=[]))
    play.move(
        AVA,
        "play",
        card="E-clover",
        note="One card exists, so one is drawn.",
        shows={"halleluja.reshuffle": "count 1"},
    )

    play.set_up(
        halleluja([["B-apple", "C-apple"], ["A-strawberry", "B-strawberry"]], "D-clover", pile=[]),
        "Nothing fits and nothing can be drawn.",
        {"halleluja.pass": "may draw"},
    )
    play.move(AVA, "draw", shows={"halleluja.pass": "turn.passed"})


@playthrough("resigned-hand", "halleluja")
def resigned_hand(play: Scribe) -> None:
    """The hand of a seat that resigns

    It goes under the draw pile, or a pile could be drained by leaving.
    """
    hands = [
        ["A-apple", "B-apple", "E-rose"],
        ["A-rose", "B-rose", "E-clover"],
        ["A-strawberry", "D-rose", "D-strawberry"],
    ]
    pile = ["C-clover", "F-clover"]
    play.set_up(halleluja(hands, top="E-apple", pile=pile, options={"annoyed_stacks": True}))
    play.move(AVA, "play", card="E-rose")
    play.resign(
        BEN,
        "What Ben had to draw lapses with him, and Cora's turn begins.",
        {"halleluja.resigned-hand": "draw_pile", "table.resigning": "seat.resigned"},
    )
    play.move(CORA, "play", card="D-rose")


@playthrough("rounds", "halleluja")
def rounds(play: Scribe) -> None:
    """A match of more than one round

    The winner of a round scores, and the next one is dealt in the same instant.
    """
    last = [["A-rose"], ["B-clover", "C-clover"], ["D-clover", "F-clover"]]
    options = {"rounds_to_win": 2}
    play.set_up(halleluja(last, "H-rose", to_move=0, options=options))
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="halleluja",
        note="Cora dealt the round, so Ava deals the next and Ben begins it.",
        shows={"table.match": "round.won", "halleluja.dealer": "round.dealt"},
    )
    play.set_up(halleluja(last, "H-rose", options=options, scores={0: 1, 1: 1}, round=3))
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="halleluja",
        shows={"table.match": "game.won", "option.rounds_to_win": "game.won"},
    )


@playthrough("endless", "halleluja")
def endless(play: Scribe) -> None:
    """Rounds without an end

    A round has 500 turns. Then the smallest hand decides, and else nothing.
    """

    def at_limit(other: list[str], turn: int = 500, **more: Any) -> Table:
        return halleluja([["A-rose", "B-apple"], other], "H-rose", turn=turn, **more)

    uneven, even = ["C-rose", "D-clover"], ["C-rose"]
    play.set_up(at_limit(uneven, 499))
    play.move(AVA, "play", card="A-rose", call="amen", note="Turn 500 may still be played.")
    play.move(
        BEN,
        "play",
        card="C-rose",
        note="Turn 501 would begin. Ava holds fewer cards: the forgotten call decides.",
        shows={"table.turn-limit": "reason limit"},
    )

    play.set_up(at_limit(even))
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="amen",
        note="A tie: nobody scores, and the deal moves on.",
        shows={"table.turn-limit": "round.void", "table.void-rounds": "round.dealt"},
    )

    play.set_up(at_limit(uneven, voids=2, options={"rounds_to_win": 2}))
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="amen",
        note="A won round ends the row of void ones.",
        shows={"table.void-rounds": "voids 0"},
    )

    play.set_up(at_limit(even, voids=2))
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="amen",
        note="The third void round in a row, and nobody leads.",
        shows={"table.void-rounds": "game.drawn"},
    )

    play.set_up(at_limit(even, voids=2, scores={1: 1}, options={"rounds_to_win": 3}))
    play.move(
        AVA,
        "play",
        card="A-rose",
        call="amen",
        note="The third void round in a row, and Ben leads.",
        shows={"table.void-rounds": "game.won"},
    )
