"""Halleluja's rules, options and terms, in our own words."""

from __future__ import annotations

from ..rules import Option, Rule, Term, table_options
from ..table_rules import TABLE_RULES

OPTIONS = (
    *table_options(rounds_to_win=1),
    Option(
        "mitre_wild",
        "boolean",
        False,
        "A G may be played on any card.",
    ),
    Option(
        "annoyed_ends_turn",
        "boolean",
        False,
        "Who draws for an E does not play as well: the turn passes on.",
    ),
    Option(
        "annoyed_stacks",
        "boolean",
        False,
        "Who would draw for an E may answer with an E; the next seat then faces the sum.",
    ),
)

TERMS = (
    Term("figure", "A", "the understanding Abbot"),
    Term("figure", "B", "the cheerful Cook"),
    Term("figure", "C", "the grumpy Old Man"),
    Term("figure", "D", "the dancing Brother"),
    Term("figure", "E", "the annoyed little monk"),
    Term("figure", "F", "the little monk in the garden"),
    Term("figure", "G", "the little monk with mitre and abbot's staff"),
    Term("figure", "H", "the sitting little monk"),
    Term("symbol", "apple", "apple"),
    Term("symbol", "clover", "clover"),
    Term("symbol", "rose", "rose"),
    Term("symbol", "strawberry", "strawberry"),
)

RULES = (
    Rule(
        "halleluja.cards",
        "32 cards: the figures A to H, each with apple, clover, rose and strawberry. "
        "Two to four seats.",
        "rulebook",
    ),
    Rule(
        "halleluja.deal",
        "Each seat gets 5 cards, one at a time from the dealer's left. The next card is turned up, "
        "without effect or wish; the rest is the draw pile.",
        "rulebook",
    ),
    Rule(
        "halleluja.dealer",
        "The first dealer is drawn by lot; each later deal is by the next active seat. The seat "
        "after the dealer begins.",
        "ruling",
    ),
    Rule("halleluja.own-card", "A seat plays one card of its own hand.", "rulebook"),
    Rule(
        "halleluja.match",
        "A card may be played if it has the top card's figure or the symbol in force.",
        "rulebook",
    ),
    Rule(
        "halleluja.must-play",
        "A seat that holds a card it may play must play one; it may not draw instead.",
        "interpretation",
    ),
    Rule(
        "halleluja.draw",
        "A seat that holds no card it may play draws one, once in its turn.",
        "rulebook",
    ),
    Rule(
        "halleluja.drawn-card",
        "A drawn card that may be played may be played at once or kept, and no other card may. "
        "Keeping it, or drawing one that does not fit, ends the turn.",
        "interpretation",
    ),
    Rule(
        "halleluja.pass",
        "A turn that can neither play nor draw a card passes.",
        "ruling",
    ),
    Rule(
        "halleluja.plain-figures",
        "A, B, C, D and F have no effect.",
        "rulebook",
    ),
    Rule(
        "halleluja.annoyed",
        "After an E the next seat draws two cards and then takes its turn.",
        "rulebook",
    ),
    Rule(
        "halleluja.annoyed-ends-turn",
        "Where the table plays it so, the seat that draws for an E is passed over.",
        "ruling",
    ),
    Rule(
        "halleluja.annoyed-stacks",
        "Where the table plays it so, a seat that faces an E answers with an E or draws the sum "
        "before anything else.",
        "ruling",
    ),
    Rule("halleluja.sitting", "After an H the next seat is skipped.", "rulebook"),
    Rule(
        "halleluja.mitre",
        "Who plays a G may wish for a symbol, which is in force until the next card is played. "
        "A G must match like any card.",
        "interpretation",
    ),
    Rule(
        "halleluja.mitre-wild",
        "Where the table plays it so, a G may be played on any card.",
        "ruling",
    ),
    Rule("halleluja.wish", "Only a G carries a wish.", "rulebook"),
    Rule(
        "halleluja.reshuffle",
        "When the draw pile has too few cards, the discards under the top card are shuffled and "
        "laid under what is left. If that is still too few, as many as exist are drawn.",
        "ruling",
    ),
    Rule(
        "halleluja.resigned-hand",
        "The hand of a seat that resigns is shuffled and laid under the draw pile.",
        "ruling",
    ),
    Rule(
        "halleluja.calls",
        "Playing down to one card calls for “Amen!”, playing the last one for “Halleluja!”. "
        "A call that is missing or the wrong one of the two costs one card.",
        "rulebook",
    ),
    Rule(
        "halleluja.worldly-words",
        "A worldly “Mau!” or “Mau-Mau!” costs three cards, whenever it slips out.",
        "rulebook",
    ),
    Rule(
        "halleluja.three-words",
        "The Abbot hears three worldly words from a seat in a round, and no fourth.",
        "ruling",
    ),
    Rule(
        "halleluja.order",
        "After a play comes the call's penalty, then the win, then the figure's effect.",
        "interpretation",
    ),
    Rule(
        "halleluja.win",
        "The round goes to the first seat whose hand is empty once its call has been judged.",
        "rulebook",
    ),
    *TABLE_RULES,
)
