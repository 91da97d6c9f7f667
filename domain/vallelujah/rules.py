"""Vallelujah's rules, options and terms, in our own words."""

from __future__ import annotations

from ..rules import Option, Rule, Term, table_options
from ..table_rules import TABLE_RULES

OPTIONS = (
    *table_options(rounds_to_win=3),
    Option(
        "lead_all",
        "boolean",
        False,
        "An army that is one battalion may be led whole, which wins the round.",
    ),
)

TERMS = (
    Term("banner", "crimson", "crimson"),
    Term("banner", "azure", "azure"),
    Term("banner", "forest", "forest"),
    Term("banner", "gold", "gold"),
    Term("banner", "slate", "slate"),
    Term("banner", "coral", "coral"),
)

RULES = (
    Rule(
        "vallelujah.units",
        "54 units: six banners, each with the powers 1 to 9. Two to six seats.",
        "rulebook",
    ),
    Rule(
        "vallelujah.deal",
        "Each seat gets an army of 9 units, one at a time from the leader on. The others stay out "
        "of play, unseen until the game is over.",
        "rulebook",
    ),
    Rule(
        "vallelujah.leader",
        "The first round's leader is drawn by lot; each later round is led by the next active seat "
        "after the last round's first leader.",
        "ruling",
    ),
    Rule("vallelujah.own-units", "A seat fields units of its own army.", "rulebook"),
    Rule(
        "vallelujah.lead",
        "Into an empty arena a seat leads exactly one unit. It can neither beat nor take there.",
        "rulebook",
    ),
    Rule(
        "vallelujah.lead-all",
        "Where the table plays it so, an army that is one battalion may be led whole.",
        "ruling",
    ),
    Rule(
        "vallelujah.battalion",
        "A battalion is units of one banner or units of one power.",
        "rulebook",
    ),
    Rule(
        "vallelujah.strength",
        "A battalion's strength is its powers, sorted high to low, read as one number. A beat must "
        "be strictly stronger.",
        "rulebook",
    ),
    Rule(
        "vallelujah.count",
        "A beat has as many units as the battalion in the arena, or one more.",
        "rulebook",
    ),
    Rule(
        "vallelujah.must-beat",
        "With a legal beat in hand a seat must beat; it may neither take nor pass.",
        "rulebook",
    ),
    Rule(
        "vallelujah.capture",
        "A beat captures exactly one unit of the beaten battalion, of the player's choice. The "
        "rest is out of the round.",
        "rulebook",
    ),
    Rule(
        "vallelujah.take",
        "A seat that cannot beat takes exactly one unit of the battalion in the arena. The rest is "
        "out of the round, the arena is empty, and the next active seat leads.",
        "rulebook",
    ),
    Rule(
        "vallelujah.win",
        "The round goes to a seat the moment its army is empty: a beat with the last units wins "
        "at once and captures nothing.",
        "interpretation",
    ),
    Rule(
        "vallelujah.repetition",
        "When a position stands for the third time at the start of a turn, the round is void.",
        "ruling",
    ),
    Rule(
        "vallelujah.resigned-army",
        "The army of a seat that resigns stays out of play until the next deal; a battalion of its "
        "stays in the arena.",
        "ruling",
    ),
    *TABLE_RULES,
)
