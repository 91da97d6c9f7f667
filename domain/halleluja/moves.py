"""Which moves of Halleluja are legal, how they are listed, and what shape they have."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..evolution import AnyEvent
from ..masks import numbers
from ..refusals import VALIDATION, Refused, fault
from ..ruleset import Move, Reason, because
from ..state import Game
from .cards import (
    ANNOYED,
    CARDS,
    FIGURE_MASKS,
    MITRE,
    NAMES,
    NUMBER,
    SITTING,
    SYMBOLS,
    figure,
    symbol,
)
from .round import WORLDLY_WORDS, HallelujaRound

PIOUS_WORDS = ("amen", "halleluja")
WORDS = PIOUS_WORDS + WORLDLY_WORDS

_FIELDS: dict[str, dict[str, tuple[bool, tuple[str, ...]]]] = {
    "play": {"card": (True, CARDS), "wish": (False, SYMBOLS), "call": (False, WORDS)},
    "draw": {},
    "keep": {},
    "exclaim": {"word": (True, WORLDLY_WORDS)},
}
"""Each type of move, its fields, whether they must be there and what they may be."""


def check_shape(move: Move) -> None:
    """Refuse what is no move of Halleluja in any position."""
    type_ = move.get("type")
    fields = _FIELDS.get(type_) if isinstance(type_, str) else None
    if fields is None:
        errors = [fault("type", "must be one of {values}", values=", ".join(_FIELDS))]
        raise Refused(VALIDATION, "That is no move of Halleluja.", errors=errors)
    errors = [
        fault(name, "does not belong to {type}", type=type_)
        for name in move
        if name != "type" and name not in fields
    ]
    for name, (required, values) in fields.items():
        if name in move:
            if move[name] not in values:
                errors.append(fault(name, "must be one of {values}", values=", ".join(values)))
        elif required:
            errors.append(fault(name, "is missing"))
    if errors:
        raise Refused(VALIDATION, "That is no move of Halleluja.", errors=errors)


def may_play(play: HallelujaRound, seat: int) -> int:
    """The mask of the cards that `seat`, whose turn it is, may play now."""
    hand = play.hands[seat]
    if play.pending:
        return hand & FIGURE_MASKS[ANNOYED]
    if play.drawn is not None:
        return 1 << play.drawn
    return hand & play.fitting


def _plays(card: int) -> tuple[Move, ...]:
    plain: Move = {"type": "play", "card": NAMES[card]}
    if figure(card) != MITRE:
        return (plain,)
    # In JCS bytes a further field sorts before the closing brace.
    return (*({**plain, "wish": wish} for wish in SYMBOLS), plain)


_PLAYS = tuple(_plays(card) for card in range(32))
DRAW: Move = {"type": "draw"}
KEEP: Move = {"type": "keep"}
_ONLY_DRAWING = (DRAW,)


@lru_cache(maxsize=1 << 14)
def _plays_of(allowed: int) -> tuple[Move, ...]:
    return tuple(move for card in numbers(allowed) for move in _PLAYS[card])


def canonical(game: Game, seat: int) -> Sequence[Move]:
    """Every legal move, fully specified, in the order of their JCS bytes."""
    play: HallelujaRound = game.play
    plays = _plays_of(may_play(play, seat))
    if play.drawn is not None:
        return (*plays, KEEP)
    if play.pending:
        return (*plays, DRAW)
    return plays or _ONLY_DRAWING


DUE_CALLS = {2: "amen", 1: "halleluja"}
"""The call that is due with a card, by how many cards the hand has before."""


def due_call(play: HallelujaRound, seat: int) -> str | None:
    """The call that is due when `seat` plays a card now."""
    return DUE_CALLS.get(play.hands[seat].bit_count())


def listed(game: Game, play: HallelujaRound, seat: int) -> list[dict[str, Any]]:
    """The legal moves for a client: wishes grouped, with the call that is due and the rules."""
    allowed = may_play(play, seat)
    call = due_call(play, seat)
    entries = [_listed_play(game, play, card, call) for card in numbers(allowed)]
    if play.drawn is not None:
        entries.append({"move": KEEP, "rules": ["halleluja.drawn-card"]})
    elif play.pending:
        entries.append({"move": DRAW, "rules": ["halleluja.annoyed-stacks"]})
    elif not entries:
        rule = "halleluja.draw" if play.available else "halleluja.pass"
        entries.append({"move": DRAW, "rules": [rule]})
    return entries


def _listed_play(game: Game, play: HallelujaRound, card: int, call: str | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "move": {"type": "play", "card": NAMES[card]},
        "rules": rules_of_play(game, play, card, call),
    }
    if figure(card) == MITRE:
        entry["wish_from"] = list(SYMBOLS)
    if call is not None:
        entry["call_due"] = call
    return entry


def rules_of_play(game: Game, play: HallelujaRound, card: int, call: str | None) -> list[str]:
    """The ids of the rules that make the play of `card` legal and say what it does."""
    if play.pending:
        rules = ["halleluja.annoyed-stacks"]
    elif _matches(play, card):
        rules = ["halleluja.match"]
    else:
        rules = ["halleluja.mitre-wild"]
    if play.drawn is not None:
        rules.append("halleluja.drawn-card")
    kind = figure(card)
    if kind == ANNOYED and not play.pending:
        rules.append("halleluja.annoyed")
    elif kind == SITTING:
        rules.append("halleluja.sitting")
    elif kind == MITRE:
        rules.append("halleluja.mitre")
    if call is not None:
        rules.append("halleluja.calls")
    return rules


def reason(game: Game, play: HallelujaRound, seat: int, move: Move) -> Reason:
    """Why the legal `move` is legal."""
    type_ = move["type"]
    if type_ == "exclaim":
        heard = play.worldly.get(seat, 0)
        return because(
            ["halleluja.worldly-words", "halleluja.three-words"],
            "A worldly word can slip out at any time, for three cards.",
            word=move["word"],
            heard=heard,
        )
    if type_ == "play":
        return _reason_of_play(game, play, seat, NUMBER[move["card"]])
    if type_ == "keep":
        assert play.drawn is not None
        drawn = NAMES[play.drawn]
        return because(["halleluja.drawn-card"], "You drew {drawn} and may keep it.", drawn=drawn)
    if play.pending:
        return because(
            ["halleluja.annoyed-stacks"],
            "You face {pending_draw} cards and may draw them.",
            pending_draw=play.pending,
        )
    facts = {"top": NAMES[play.top], "symbol_in_force": SYMBOLS[play.symbol_in_force]}
    if not play.available:
        return because(["halleluja.pass"], "You can neither play nor draw: you pass.", **facts)
    return because(["halleluja.draw"], "You hold no card that you may play.", **facts)


def _reason_of_play(game: Game, play: HallelujaRound, seat: int, card: int) -> Reason:
    call = due_call(play, seat)
    name, top, in_force = NAMES[card], NAMES[play.top], SYMBOLS[play.symbol_in_force]
    facts: dict[str, Any] = {"card": name, "top": top, "symbol_in_force": in_force}
    if call is not None:
        facts["call_due"] = call
    if play.pending:
        facts["pending_draw"] = play.pending
    rules = rules_of_play(game, play, card, call)
    if play.pending:
        return because(rules, "{card} hands the {pending_draw} cards on.", **facts)
    if symbol(card) == play.symbol_in_force:
        return because(rules, "{card} has the symbol in force, {symbol_in_force}.", **facts)
    if figure(card) == figure(play.top):
        return because(rules, "{card} has the figure of the top card, {top}.", **facts)
    return because(rules, "At this table {card} may be played on any card.", **facts)


def _matches(play: HallelujaRound, card: int) -> bool:
    return figure(card) == figure(play.top) or symbol(card) == play.symbol_in_force


def move_of(event: AnyEvent) -> Move | None:
    """The move that `event` itself is, if it is one."""
    data = event.data
    match event.type:
        case "card.played":
            move: Move = {"type": "play", "card": data["card"]}
            for name in ("wish", "call"):
                if name in data:
                    move[name] = data[name]
            return move
        case "cards.drawn" if data["reason"] in ("no-match", "annoyed"):
            # A neighbour's E makes a seat draw that has not moved.
            return dict(DRAW) if data["seat"] == event.by["seat"] else None
        case "turn.passed":
            return dict(DRAW) if data["seat"] == event.by["seat"] else None
        case "card.kept":
            return dict(KEEP)
        case "word.exclaimed":
            return {"type": "exclaim", "word": data["word"]}
    return None


def number_of(move: Move) -> int:
    """The number of the card that a `play` names."""
    return NUMBER[move["card"]]
