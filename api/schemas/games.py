"""Tables and games: what a host asks for, and what a caller sees."""

from __future__ import annotations

from typing import Any

import marshmallow
from marshmallow import fields, validate

from domain.bots import BOTS
from domain.lobby import SPECTATOR_DELAY_SECONDS, TURN_SECONDS
from domain.registry import RULESETS
from domain.rules import Option
from domain.wording import Sentence

from .fields import (
    Answered,
    Boolean,
    Integer,
    QueryBoolean,
    QueryInteger,
    Request,
    boolean,
    client_seed,
    hash_,
    integer,
    invite_code,
    many,
    nested,
    one_of,
    open_text,
    page_cursor,
    page_limit,
    text,
    texts,
    time,
    uuid,
)
from .moves import LegalMove

RULESET_IDS = tuple(RULESETS)
STATUSES = ("lobby", "active", "finished", "cancelled", "abandoned")
VISIBILITIES = ("public", "private")
MOST_SEATS = max(rules.seats[1] for rules in RULESETS.values())
LEAST_SEATS = min(rules.seats[0] for rules in RULESETS.values())


def _option_fields() -> dict[str, fields.Field[Any]]:
    owners: dict[str, list[tuple[str, Option]]] = {}
    for rules in RULESETS.values():
        for option in rules.options:
            owners.setdefault(option.name, []).append((rules.title, option))
    return {name: _option_field(each) for name, each in owners.items()}


def _option_field(owners: list[tuple[str, Option]]) -> fields.Field[Any]:
    option = owners[0][1]
    games = ", ".join(title for title, _ in owners)
    defaults = ", ".join(f"{title} {str(each.default).lower()}" for title, each in owners)
    metadata = {"description": f"{option.meaning} For {games}; default: {defaults}."}
    if option.type == "boolean":
        return Boolean(metadata=metadata)
    least = min(each.minimum or 0 for _, each in owners)
    most = max(each.maximum or 0 for _, each in owners)
    return Integer(metadata=metadata, validate=validate.Range(least, most))


TableOptions = type(
    "TableOptions",
    (Request,),
    {"__doc__": "Settings of the table; those left out keep their value.", **_option_fields()},
)

OptionsInForce = type(
    "OptionsInForce",
    (Answered,),
    {"__doc__": "All settings of the table that are in force.", **_option_fields()},
)


def _turn_seconds(**more: Any) -> Integer:
    return integer("Seconds for each turn.", validate=validate.Range(*TURN_SECONDS), **more)


def _max_seats(**more: Any) -> Integer:
    return integer(
        "How many seats the table has.", validate=validate.Range(LEAST_SEATS, MOST_SEATS), **more
    )


def _spectator_delay(**more: Any) -> Integer:
    return integer(
        "By how many seconds spectators see the match later than its seats; 0 for not at all.",
        validate=validate.Range(*SPECTATOR_DELAY_SECONDS),
        **more,
    )


_DELAY = (
    "By how many seconds who has no seat sees the match later, from the first deal on. To a "
    "spectator all of this is as it was then. Absent where there is no delay."
)


class NewGame(Request):
    """A table to open."""

    ruleset = one_of(
        "Which game.", RULESET_IDS, required=True, metadata={"examples": ["halleluja"]}
    )
    options = nested(TableOptions)
    turn_seconds = _turn_seconds(load_default=60)
    max_seats = _max_seats()
    visibility = one_of(
        "Who may see it: anyone, or only its seats and whom they invite.",
        VISIBILITIES,
        load_default="public",
    )
    spectator_delay_seconds = _spectator_delay(load_default=0)
    deal = text(
        "Sandbox players only: the name of the deal, 1 to 64 of a to z, 0 to 9 and `-` within. The "
        "same name and the same seats, seeds and options give the same cards. A new one if left "
        "out.",
        validate=validate.Length(1, 64),
        metadata={"examples": ["four-mitres"]},
    )


class TableChange(Request):
    """What the host changes; the rest stays."""

    options = nested(TableOptions)
    turn_seconds = _turn_seconds()
    max_seats = _max_seats()
    spectator_delay_seconds = _spectator_delay()


class NewSeat(Request):
    """Nothing or a seed to sit down oneself; as host, `bot` to seat a computer player."""

    client_seed = client_seed("Your own part in the shuffle.")
    invite = invite_code()
    bot = one_of("The kind of computer player to seat.", tuple(BOTS))

    @marshmallow.validates_schema
    def _bots_need_nothing(self, data: dict[str, Any], **_: Any) -> None:
        if "bot" in data:
            for name in ("client_seed", "invite"):
                if name in data:
                    raise marshmallow.ValidationError(Sentence("Does not go with bot."), name)


class SeatChange(Request):
    """What one changes of one's own seat."""

    client_seed = client_seed("Your own part in the shuffle, in place of an earlier one.")
    ready = boolean(
        "True: you are ready again.",
        validate=validate.Equal(
            True, error=Sentence("can only be true; a change of the table is what unsets it")
        ),
    )


class EmptyObject(Request):
    """An empty object; the body can also be left out."""


class PlayerRef(Answered):
    """A player."""

    player_id = uuid("The player.", required=True)
    name = text("The player's name; absent once the player is erased.")


class Seat(Answered):
    """A seat that is taken."""

    seat = integer("Its number, from 0.", required=True)
    player = nested(PlayerRef)
    bot = open_text("The kind of computer player, in place of `player`.", tuple(BOTS))
    status = open_text(
        "How it stands.", ("seated", "ready", "active", "away", "resigned"), required=True
    )
    score = integer("Rounds won, from the start on.")
    hand_size = integer("How many cards it holds, from the start on.")
    hand = texts("What it holds; only once the game is over.")


class You(Answered):
    """What only the caller's own seat sees."""

    seat = integer("The caller's seat.", required=True)
    hand = texts("The caller's cards, in the unshuffled order; from the start on.")
    legal_moves = many(LegalMove, "What the caller may do now; from the start on.")
    drawn = text("The card just drawn, to be played or kept.")


class RoundState(Answered):
    """The round in play."""

    number = integer("From 1.", required=True)
    first = integer("The seat that began it.", required=True)


class TurnState(Answered):
    """The running turn."""

    seat = integer("Whose turn it is.", required=True)
    number = integer("From 1 in each round.", required=True)
    due_at = time("When its time runs out.", required=True)
    remaining_ms = integer(
        "Milliseconds left when this was answered, never below 0.", required=True
    )
    pending_draw = integer("Cards that this seat must draw, or answer with an E.")


class Arena(Answered):
    """The battalion to beat."""

    units = texts("Its units, in byte order.", required=True)
    strength = integer("Its powers, high to low, as one number.", required=True)
    seat = integer("Whose it is.", required=True)


class TableTop(Answered):
    """What lies open: Halleluja's piles, or Vallelujah's arena and what is out of the round."""

    top = text("Halleluja: the top card of the discard pile.")
    symbol_in_force = text("Halleluja: the symbol to match.")
    wished = boolean("Halleluja: whether that symbol was wished for.")
    draw_pile = integer("Halleluja: cards in the draw pile.")
    discard_pile = integer("Halleluja: cards in the discard pile, the top one included.")
    arena = nested(Arena)
    discarded = texts("Vallelujah: the units that are out of the round, in byte order.")


class GameResult(Answered):
    """How the game ended."""

    outcome = open_text(
        "What it ended as.", ("won", "drawn", "abandoned", "cancelled"), required=True
    )
    winner = integer("The seat that won.")
    scores = fields.Dict(
        keys=fields.String(),
        values=Integer(),
        metadata={"description": "Rounds won, by seat number."},
    )
    reason = open_text(
        "Why it ended.",
        ("rounds", "resignations", "void-rounds", "no-players", "empty"),
        required=True,
    )


class Shuffle(Answered):
    """What makes every shuffle checkable."""

    commitment = hash_("SHA-256 of the secret and the game's id.", required=True)
    secret = hash_("The secret; only once the game is over.")


class ChainHead(Answered):
    """The last event."""

    version = integer("Its version.", required=True)
    hash = hash_("Its hash.", required=True)


MOST_ADVANCE = 30 * 24 * 3600
"""Seconds that one call can move a clock."""


class ClockChange(Request):
    """By how much the clock of a sandbox game goes forward."""

    advance_seconds = integer(
        "Seconds; the clock never goes back, and 366 days ahead at most in all.",
        required=True,
        validate=validate.Range(1, MOST_ADVANCE),
        metadata={"examples": [65]},
    )


class GameClock(Answered):
    """The clock of a sandbox game."""

    now = time("What it shows.", required=True)
    ahead_ms = integer("Milliseconds by which it is ahead of the real time.", required=True)


class Game(Answered):
    """A table or game as the caller may see it."""

    game_id = uuid("The game.", required=True)
    ruleset = open_text("Which game.", RULESET_IDS, required=True)
    ruleset_version = text(
        "The version of the rules that it pins.",
        required=True,
        metadata={"examples": ["halleluja/1"]},
    )
    status = open_text("How it stands.", STATUSES, required=True)
    version = integer("The version of the last event; also the ETag.", required=True)
    visibility = open_text("Who may see it.", VISIBILITIES, required=True)
    options = nested(OptionsInForce, required=True)
    turn_seconds = integer("Seconds for each turn.", required=True)
    max_seats = integer("How many seats the table has.", required=True)
    spectator_delay_seconds = integer(_DELAY)
    host = integer("The host's seat.")
    seats = many(Seat, "The seats that are taken, ascending.", required=True)
    you = nested(You)
    round = nested(RoundState)
    turn = nested(TurnState)
    table = nested(TableTop)
    result = nested(GameResult)
    shuffle = nested(Shuffle, required=True)
    head = nested(ChainHead, required=True)
    rematch = uuid("The game that players of this one went on to.")
    sandbox = boolean("True for a sandbox game; absent for real ones.")
    deal = text("The name of a sandbox game's deal.")
    clock = nested(GameClock)


class TurnSummary(Answered):
    """The running turn, in a list."""

    seat = integer("Whose turn it is.", required=True)
    due_at = time("When its time runs out.")


class SeatSummary(Answered):
    """A seat that is taken, in a list."""

    seat = integer("Its number, from 0.", required=True)
    player = nested(PlayerRef)
    bot = open_text("The kind of computer player, in place of `player`.", tuple(BOTS))
    status = open_text(
        "How it stands.", ("seated", "ready", "active", "away", "resigned"), required=True
    )


class GameSummary(Answered):
    """A table or game, in a list."""

    game_id = uuid("The game.", required=True)
    ruleset = open_text("Which game.", RULESET_IDS, required=True)
    ruleset_version = text("The version of the rules that it pins.", required=True)
    status = open_text("How it stands.", STATUSES, required=True)
    version = integer("The version of the last event.", required=True)
    visibility = open_text("Who may see it.", VISIBILITIES, required=True)
    options = nested(OptionsInForce, required=True)
    turn_seconds = integer("Seconds for each turn.", required=True)
    max_seats = integer("How many seats the table has.", required=True)
    spectator_delay_seconds = integer(_DELAY)
    host = integer("The host's seat.")
    seats = many(SeatSummary, "The seats that are taken, ascending.", required=True)
    turn = nested(TurnSummary)
    created_at = time("When the table was opened.", required=True)
    updated_at = time("When the last event was recorded.", required=True)
    rematch = uuid("The game that players of this one went on to.")
    sandbox = boolean("True for a sandbox game; absent for real ones.")


class GameList(Answered):
    """A page of tables and games."""

    items = many(GameSummary, "Newest first.", required=True)
    next_cursor = text("More follows: the value for `cursor`.")


class Invite(Answered):
    """An invite to a private table."""

    code = text("Give it to a friend: it lets its holder see the table and join.", required=True)
    game_id = uuid("The table.", required=True)


LONGEST_WAIT = 30
"""Seconds that a read can wait for something new."""


def wait(meaning: str) -> QueryInteger:
    """How long a read waits."""
    return QueryInteger(
        load_default=0,
        validate=validate.Range(0, LONGEST_WAIT),
        metadata={"description": f"Seconds to wait {meaning}."},
    )


class GamesQuery(Request):
    """Which games to list."""

    status = one_of("Only games that stand so.", STATUSES)
    ruleset = one_of("Only games of this ruleset.", RULESET_IDS)
    mine = QueryBoolean(metadata={"description": "Only games in which the caller has a seat."})
    turn = one_of("`me`: only games in which it is the caller's turn.", ("me",))
    cursor = page_cursor()
    limit = page_limit()
    wait = wait(
        "with `turn=me`: until there is such a game, or, with If-None-Match, until the page is "
        "another one"
    )

    @marshmallow.validates_schema
    def _waits_for_a_turn(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("wait") and "turn" not in data:
            raise marshmallow.ValidationError(Sentence("Goes with turn=me only."), "wait")
        if data.get("wait") and "cursor" in data:
            raise marshmallow.ValidationError(Sentence("Does not go with cursor."), "wait")


class GameQuery(Request):
    """How to see a private table that one is invited to."""

    invite = invite_code()


class StateQuery(GameQuery):
    """As whom to see an earlier state."""

    seat = QueryInteger(
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={"description": "Once the game is over: as that seat saw it."},
    )


class WaitingGameQuery(GameQuery):
    """How to see a table, and how long to wait until it has changed."""

    wait = wait("with If-None-Match, until the game has another ETag")
