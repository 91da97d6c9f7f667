"""The events that a game is made of, and who may see which part of them.

`CATALOGUE` lists every field of every type. Redaction shows what is listed here as public and
nothing else, so a field that nobody thought about stays hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Visibility = Literal["public", "hidden", "by-seat", "own"]
PUBLIC: Visibility = "public"
HIDDEN: Visibility = "hidden"
BY_SEAT: Visibility = "by-seat"
OWN: Visibility = "own"

Kind = Literal[
    "card",
    "cards",
    "figure",
    "integer",
    "options",
    "player",
    "sandbox",
    "seat",
    "seats",
    "seat-cards",
    "seat-numbers",
    "text",
    "time",
    "turn",
]


# Not frozen, nor a named tuple, only because both take longer to make, and each move makes one.
@dataclass(slots=True)
class Event:
    """What was decided, not stored yet: the store gives it its time and its hash."""

    version: int
    type: str
    by: dict[str, Any]
    data: dict[str, Any]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event as it stands in the record. `at` is RFC 3339, the hashes are lower-case hex."""

    game_id: str
    version: int
    type: str
    at: str
    by: dict[str, Any]
    data: dict[str, Any]
    prev_hash: str
    hash: str


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event's data.

    While the game runs, `public` is for everyone, `hidden` for nobody, `own` for the seat that the
    event is about, and of a `by-seat` object each seat gets its own entry.
    """

    name: str
    kind: Kind
    meaning: str
    required: bool = True
    visibility: Visibility = PUBLIC
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventType:
    """One type of event: what it says happened, and its data."""

    type: str
    meaning: str
    fields: tuple[Field, ...]


def _field(name: str, kind: Kind, meaning: str, **more: Any) -> Field:
    return Field(name, kind, meaning, **more)


def _optional(name: str, kind: Kind, meaning: str, **more: Any) -> Field:
    return Field(name, kind, meaning, required=False, **more)


_SEAT = _field("seat", "seat", "The seat that it is about.")
_TURN = _optional("turn", "turn", "The turn that begins with this event.")
_SALT = _field(
    "salt", "text", "Keeps the hash from giving the hidden part away.", visibility=HIDDEN
)
_SECRET = _field("secret", "text", "The game's secret, hex: every shuffle can be computed again.")
_SCORES = _field("scores", "seat-numbers", "Rounds won, of every seat that started.")
_SEED = _optional("client_seed", "text", "The seat's own seed for the shuffles, hex.")
_DELAY = _optional(
    "spectator_delay_seconds", "integer", "By how many seconds spectators see the match later."
)
_UNITS = _field("units", "cards", "The units of the battalion.")
_STRENGTH = _field("strength", "integer", "The battalion's powers, high to low, as one number.")

_TYPES = (
    EventType(
        "game.created",
        "A table was opened.",
        (
            _field("ruleset", "text", "The game that is played."),
            _field("ruleset_version", "text", "The version of its rules, for the whole match."),
            _field("options", "options", "All options in force."),
            _field("turn_seconds", "integer", "Seconds for each turn."),
            _field("max_seats", "integer", "How many seats the table has."),
            _field("visibility", "text", "Who may see it.", values=("public", "private")),
            _field("commitment", "text", "SHA-256 of the secret and the game's id, hex."),
            _DELAY,
            _optional("sandbox", "sandbox", "It is no real game: how it was made for tests."),
        ),
    ),
    EventType(
        "seat.taken",
        "A player or a computer player sat down.",
        (
            _SEAT,
            _optional("player_id", "player", "Who sat down."),
            _optional("bot", "text", "The kind of computer player."),
            _SEED,
        ),
    ),
    EventType(
        "seat.seeded",
        "A seat gave its own seed for the shuffles.",
        (_SEAT, _field("client_seed", "text", "The seed, hex.")),
    ),
    EventType("seat.ready", "A seat is ready again.", (_SEAT,)),
    EventType(
        "seat.left",
        "A seat was given up before the start.",
        (_SEAT, _optional("host", "seat", "The seat that is host from now on.")),
    ),
    EventType(
        "table.changed",
        "The host changed the table; the other players must say again that they are ready.",
        (
            _optional("options", "options", "All options now in force."),
            _optional("turn_seconds", "integer", "Seconds for each turn."),
            _optional("max_seats", "integer", "How many seats the table has."),
            _DELAY,
        ),
    ),
    EventType(
        "game.started",
        "The match began.",
        (_field("seats", "seats", "The seats that play, ascending."),),
    ),
    EventType(
        "round.dealt",
        "A round was dealt. It names all that outlives a round.",
        (
            _field("round", "integer", "The round's number, from 1."),
            _field("first", "seat", "The seat that begins or leads."),
            _optional("dealer", "seat", "The dealer."),
            _SCORES,
            _field("active", "seats", "The seats that have not resigned."),
            _field("away", "seats", "The seats that are away."),
            _field("expired", "seat-numbers", "Each seat's expired turns in a row."),
            _field("voids", "integer", "Void rounds in a row before this one."),
            _optional("turned_up", "card", "The first card of the discard pile."),
            _field("hands", "seat-cards", "The hands, as dealt.", visibility=BY_SEAT),
            _field("undealt", "cards", "What was not dealt, top first.", visibility=HIDDEN),
            _optional("ahead_ms", "integer", "Sandbox: milliseconds that the clock is ahead."),
            _SALT,
            _field("turn", "turn", "The round's first turn."),
        ),
    ),
    EventType(
        "round.won",
        "A seat won the round.",
        (
            _field("round", "integer", "The round's number."),
            _SEAT,
            _SCORES,
            _field("reason", "text", "Why it ended.", values=("emptied", "limit")),
        ),
    ),
    EventType(
        "round.void",
        "The round ended without a winner.",
        (
            _field("round", "integer", "The round's number."),
            _field("reason", "text", "Why it ended.", values=("repetition", "limit")),
        ),
    ),
    EventType(
        "turn.expired",
        "A turn's time ran out.",
        (_SEAT, _field("due_at", "time", "When the turn was due.")),
    ),
    EventType(
        "turn.extended",
        "A turn was given back time that the service had lost.",
        (
            _SEAT,
            _field("seconds", "integer", "Seconds given back."),
            _field("reason", "text", "Why.", values=("outage",)),
        ),
    ),
    EventType(
        "clock.advanced",
        "Sandbox: the host moved the game's clock forward. Its own time is by the clock before.",
        (
            _field("ahead_ms", "integer", "Milliseconds that the clock is ahead from now on."),
            _field("until_ms", "integer", "Milliseconds that it shall be ahead in the end."),
        ),
    ),
    EventType("seat.away", "A seat is away: its turns are played for it.", (_SEAT,)),
    EventType("seat.back", "A seat is no longer away.", (_SEAT,)),
    EventType("seat.resigned", "A seat left the match for good.", (_SEAT, _TURN)),
    EventType(
        "card.played",
        "A card was played.",
        (
            _SEAT,
            _field("card", "card", "The card."),
            _optional("wish", "text", "The symbol that was wished for."),
            _optional("call", "text", "The word that was called."),
            _TURN,
        ),
    ),
    EventType(
        "cards.drawn",
        "A seat drew cards.",
        (
            _SEAT,
            _field(
                "reason",
                "text",
                "Why it drew.",
                values=("no-match", "annoyed", "forgotten-call", "worldly-call"),
            ),
            _field("count", "integer", "How many."),
            _field("cards", "cards", "Which, in the order drawn.", visibility=OWN),
            _SALT,
            _TURN,
        ),
    ),
    EventType("card.kept", "A seat kept the card it drew.", (_SEAT, _TURN)),
    EventType("turn.skipped", "A seat was skipped.", (_SEAT, _TURN)),
    EventType("turn.passed", "A seat could neither play nor draw.", (_SEAT, _TURN)),
    EventType(
        "word.exclaimed",
        "A seat let a worldly word slip.",
        (_SEAT, _field("word", "text", "The word.")),
    ),
    EventType(
        "pile.reshuffled",
        "Cards were shuffled and laid under the draw pile.",
        (
            _field("count", "integer", "How many cards the draw pile now has."),
            _field("draw_pile", "cards", "The whole pile, top first.", visibility=HIDDEN),
            _SALT,
            _TURN,
        ),
    ),
    EventType("battalion.led", "A battalion was led.", (_SEAT, _UNITS, _STRENGTH, _TURN)),
    EventType(
        "battalion.beaten",
        "The battalion in the arena was beaten.",
        (
            _SEAT,
            _UNITS,
            _STRENGTH,
            _optional("captured", "card", "The unit that was captured."),
            _field("discarded", "cards", "The units that are out of the round."),
            _TURN,
        ),
    ),
    EventType(
        "arena.taken",
        "A seat could not beat, took a unit, and the arena was emptied.",
        (
            _SEAT,
            _field("captured", "card", "The unit that was taken."),
            _field("discarded", "cards", "The units that are out of the round."),
            _TURN,
        ),
    ),
    EventType(
        "game.won",
        "The match was won.",
        (
            _SEAT,
            _SCORES,
            _field("reason", "text", "Why.", values=("rounds", "resignations", "void-rounds")),
            _SECRET,
        ),
    ),
    EventType(
        "game.drawn",
        "The match ended as a draw.",
        (_field("reason", "text", "Why.", values=("void-rounds",)), _SECRET),
    ),
    EventType(
        "game.abandoned",
        "The match was given up.",
        (_field("reason", "text", "Why.", values=("no-players",)), _SECRET),
    ),
    EventType(
        "game.cancelled",
        "The table was closed before the start.",
        (_field("reason", "text", "Why.", values=("empty",)),),
    ),
)

CATALOGUE: dict[str, EventType] = {each.type: each for each in _TYPES}
