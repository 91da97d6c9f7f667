"""The rules that both games share: the table, its turns, its timer and its end."""

from __future__ import annotations

from .rules import Rule

TABLE_RULES = (
    Rule(
        "table.seats",
        "Seats are numbered from 0. A newcomer takes the lowest free one, and nobody is ever "
        "renumbered. Clockwise is ascending and round again.",
        "ruling",
    ),
    Rule(
        "table.ready",
        "The host starts the match once every player is ready. Joining is being ready; a change "
        "of the table by the host asks the others again.",
        "ruling",
    ),
    Rule(
        "table.lobby",
        "Seats are taken and given up, and settings changed, before the start only. After it a "
        "player can resign, and the table stays as it is.",
        "ruling",
    ),
    Rule(
        "table.match",
        "A match goes to the first seat that has won the agreed number of rounds. The winner of a "
        "round scores 1, everyone else 0, and the next round is dealt at once.",
        "rulebook",
    ),
    Rule(
        "table.shuffle",
        "Every deal, reshuffle, lot and automatic pick is computed from the game's secret, which "
        "is committed to before the seats give their own seeds and published at the end.",
        "ruling",
    ),
    Rule(
        "table.turn-order",
        "Only the seat whose turn it is moves; then the next active seat clockwise.",
        "rulebook",
    ),
    Rule(
        "table.turn-numbers",
        "Turns are numbered from 1 in each round. A skipped seat's turn does not begin and uses "
        "no number.",
        "ruling",
    ),
    Rule(
        "table.turn-named",
        "A move that names a round and turn counts for that turn only, and of equal moves sent "
        "at the same time exactly one counts.",
        "ruling",
    ),
    Rule(
        "table.turn-timer",
        "A turn is due the table's turn seconds after the event that began it, and a round's first "
        "turn after the pause as well. A move exactly at the due time counts, a later one "
        "does not.",
        "rulebook",
    ),
    Rule(
        "table.auto-pick",
        "When a turn's time runs out it is played for the seat: legal moves are picked by the "
        "game's secret, each equally likely, until the turn has passed on.",
        "rulebook",
    ),
    Rule(
        "table.away",
        "A seat whose turns ran out as often in a row as agreed is away: this and each later turn "
        "is played for it at once, until it comes back.",
        "ruling",
    ),
    Rule(
        "table.back",
        "An away seat comes back by saying so or by an exclamation.",
        "ruling",
    ),
    Rule(
        "table.abandoned",
        "When no human seat is left that is neither away nor resigned, the match is abandoned "
        "without a winner.",
        "ruling",
    ),
    Rule(
        "table.leaving",
        "Before the start a seat is given up freely; a leaving host hands the table to the next "
        "human seat, and the last human to leave closes it.",
        "ruling",
    ),
    Rule(
        "table.resigning",
        "During the match a seat can only resign, at any time and for good. It is dealt no more, "
        "and what it had to draw lapses.",
        "ruling",
    ),
    Rule(
        "table.last-seat",
        "When one seat is left that has not resigned, it wins the match.",
        "ruling",
    ),
    Rule(
        "table.turn-limit",
        "A round ends when a turn beyond its limit would begin. It goes to the active seat with "
        "strictly the fewest cards in hand; with a tie the round is void.",
        "ruling",
    ),
    Rule(
        "table.void-rounds",
        "A void round scores nobody. Three in a row end the match for the active seat with "
        "strictly the highest score, else as a draw.",
        "ruling",
    ),
    Rule(
        "table.over",
        "Before the start and after the end there is no move to make.",
        "ruling",
    ),
)
