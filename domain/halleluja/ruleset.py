"""Halleluja, version 1: how moves are judged and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import randomness
from ..evolution import TABLE_EVOLVERS, AnyEvent
from ..refusals import illegal
from ..ruleset import TURN_GOES_ON, After, Move, Reason, Ruleset
from ..state import Game
from ..unfolding import Unfolding
from . import moves
from .cards import ANNOYED, CARDS, FIGURES, MITRE, NAMES, SITTING, SYMBOLS, figure, names
from .round import EVOLVERS, WORLDLY_WORDS, HallelujaRound, dealt, playable
from .rules import OPTIONS, RULES

FORGOTTEN_CALL_COSTS = 1
WORLDLY_WORD_COSTS = 3
WORLDLY_WORDS_HEARD = 3
ANNOYED_DRAWS = 2


class Halleluja(Ruleset):
    """Halleluja under the rules of its sheet and the rulings on it."""

    id = "halleluja"
    version = 1
    title = "Halleluja"
    seats = (2, 4)
    cards = CARDS
    hand_size = 5
    has_dealer = True
    turns_up = True
    turn_limit = 500
    options = OPTIONS
    rules = RULES
    evolvers = TABLE_EVOLVERS | EVOLVERS
    free_moves = frozenset({"exclaim"})

    def dealt(self, game: Game, data: Mapping[str, Any]) -> HallelujaRound:
        return dealt(game, data)

    def turn_began(self, game: Game) -> None:
        play: HallelujaRound = game.play
        play.drawn = None
        play.lapse()

    def seat_resigned(self, game: Game, seat: int) -> None:
        if game.turn is not None and game.turn.seat == seat:
            game.play.pending = 0

    def after_resignation(self, unfolding: Unfolding, seat: int) -> None:
        play: HallelujaRound = unfolding.game.play
        hand = names(play.hands[seat])
        shuffled = unfolding.chance(randomness.RESHUFFLE, play.reshuffles).shuffled(hand)
        _record_pile(unfolding, play, shuffled)

    def may_repeat(self, game: Game, move: Move) -> bool:
        # Whoever has drawn what was pending, and may still play, may have to draw once more.
        stays = game.options["annoyed_stacks"] and not game.options["annoyed_ends_turn"]
        return super().may_repeat(game, move) or (stays and move.get("type") == "draw")

    def check_shape(self, move: Move) -> None:
        moves.check_shape(move)

    def perform(self, unfolding: Unfolding, seat: int, move: Move) -> After:
        return _PERFORM[move["type"]](unfolding, seat, move)

    def legal_moves(self, game: Game, seat: int) -> list[Move]:
        return moves.canonical(game, game.play, seat)

    def listed_moves(self, game: Game, seat: int) -> list[dict[str, Any]]:
        return moves.listed(game, game.play, seat)

    def reason(self, game: Game, seat: int, move: Move) -> Reason:
        return moves.reason(game, game.play, seat, move)

    def move_of(self, event: AnyEvent) -> Move | None:
        return moves.move_of(event)

    def with_due_call(self, game: Game, seat: int, move: Move) -> Move:
        call = moves.due_call(game.play, seat) if move["type"] == "play" else None
        return move if call is None else {**move, "call": call}

    def hand(self, game: Game, seat: int) -> list[str]:
        return names(game.play.hands[seat])

    def hand_count(self, game: Game, seat: int) -> int:
        return int(game.play.hands[seat].bit_count())

    def table_view(self, game: Game) -> dict[str, Any]:
        play: HallelujaRound = game.play
        return {
            "top": NAMES[play.top],
            "symbol_in_force": SYMBOLS[play.symbol_in_force],
            "wished": play.wish is not None,
            "draw_pile": len(play.pile),
            "discard_pile": len(play.laid),
        }

    def own_view(self, game: Game, seat: int) -> dict[str, Any]:
        drawn = game.play.drawn
        if drawn is None or game.turn is None or game.turn.seat != seat:
            return {}
        return {"drawn": NAMES[drawn]}

    def turn_view(self, game: Game) -> dict[str, Any]:
        pending = game.play.pending
        return {"pending_draw": pending} if pending else {}


def _play_card(unfolding: Unfolding, seat: int, move: Move) -> After:
    game = unfolding.game
    play: HallelujaRound = game.play
    card = moves.number_of(move)
    call = move.get("call")
    _judge_play(game, play, seat, move, card)
    due = moves.due_call(play, seat)
    data: dict[str, Any] = {"seat": seat, "card": move["card"]}
    if "wish" in move:
        data["wish"] = move["wish"]
    if call is not None:
        data["call"] = call
    unfolding.record("card.played", data)
    if call in WORLDLY_WORDS:
        _draw(unfolding, seat, WORLDLY_WORD_COSTS, "worldly-call")
    elif due is not None and call != due:
        _draw(unfolding, seat, FORGOTTEN_CALL_COSTS, "forgotten-call")
    if not play.hands[seat]:
        return After(winner=seat)
    return _take_effect(unfolding, seat, figure(card))


def _judge_play(game: Game, play: HallelujaRound, seat: int, move: Move, card: int) -> None:
    bit = 1 << card
    name = NAMES[card]
    if not bit & play.hands[seat]:
        raise illegal("halleluja.own-card", f"You do not hold {name}.", card=name)
    if play.pending and figure(card) != ANNOYED:
        raise illegal(
            "halleluja.annoyed-stacks",
            f"You face {play.pending} cards: play an E, or draw them first.",
            card=name,
            pending_draw=play.pending,
        )
    if play.drawn is not None and card != play.drawn:
        drawn = NAMES[play.drawn]
        raise illegal(
            "halleluja.drawn-card",
            f"You have drawn {drawn}: play it or keep it.",
            card=name,
            drawn=drawn,
        )
    if not bit & playable(game, play):
        top, in_force = NAMES[play.top], SYMBOLS[play.symbol_in_force]
        raise illegal(
            "halleluja.match",
            f"{name} has neither the figure {FIGURES[figure(play.top)]} nor the symbol {in_force}.",
            card=name,
            top=top,
            symbol_in_force=in_force,
        )
    if "wish" in move and figure(card) != MITRE:
        raise illegal("halleluja.wish", "Only a G carries a wish.", card=name, wish=move["wish"])
    if move.get("call") in WORLDLY_WORDS:
        _require_ears(play, seat, move["call"])


def _require_ears(play: HallelujaRound, seat: int, word: str) -> None:
    if play.worldly.get(seat, 0) >= WORLDLY_WORDS_HEARD:
        raise illegal(
            "halleluja.three-words",
            "The Abbot has heard three worldly words from you in this round and hears no more.",
            word=word,
            heard=WORLDLY_WORDS_HEARD,
        )


def _take_effect(unfolding: Unfolding, seat: int, kind: int) -> After:
    game = unfolding.game
    neighbour = game.next_active(seat)
    if kind == SITTING:
        unfolding.record("turn.skipped", {"seat": neighbour})
        return After(game.next_active(neighbour))
    if kind != ANNOYED or game.options["annoyed_stacks"]:
        return After(neighbour)
    drew = _draw(unfolding, neighbour, ANNOYED_DRAWS, "annoyed")
    if not game.options["annoyed_ends_turn"]:
        return After(neighbour)
    if not drew:
        unfolding.record("turn.passed", {"seat": neighbour})
    return After(game.next_active(neighbour))


def _draw_card(unfolding: Unfolding, seat: int, move: Move) -> After:
    game = unfolding.game
    play: HallelujaRound = game.play
    if play.pending:
        _draw(unfolding, seat, play.pending, "annoyed")
        ends = game.options["annoyed_ends_turn"]
        return After(game.next_active(seat)) if ends else TURN_GOES_ON
    if play.drawn is not None:
        drawn = NAMES[play.drawn]
        raise illegal(
            "halleluja.drawn-card",
            f"You have drawn {drawn} already: play it or keep it.",
            drawn=drawn,
        )
    fitting = play.hands[seat] & playable(game, play)
    if fitting:
        raise illegal(
            "halleluja.must-play",
            "You hold a card that you may play, so you may not draw.",
            playable=names(fitting),
        )
    if not _draw(unfolding, seat, 1, "no-match"):
        unfolding.record("turn.passed", {"seat": seat})
        return After(game.next_active(seat))
    assert play.drawn is not None
    fits = 1 << play.drawn & playable(game, play)
    return TURN_GOES_ON if fits else After(game.next_active(seat))


def _keep_card(unfolding: Unfolding, seat: int, move: Move) -> After:
    if unfolding.game.play.drawn is None:
        raise illegal("halleluja.drawn-card", "You have not drawn a card that you could keep.")
    unfolding.record("card.kept", {"seat": seat})
    return After(unfolding.game.next_active(seat))


def _exclaim(unfolding: Unfolding, seat: int, move: Move) -> After:
    _require_ears(unfolding.game.play, seat, move["word"])
    unfolding.record("word.exclaimed", {"seat": seat, "word": move["word"]})
    _draw(unfolding, seat, WORLDLY_WORD_COSTS, "worldly-call")
    return TURN_GOES_ON


_PERFORM = {"play": _play_card, "draw": _draw_card, "keep": _keep_card, "exclaim": _exclaim}


def _draw(unfolding: Unfolding, seat: int, count: int, reason: str) -> bool:
    """`seat` draws `count` cards, or as many as exist; whether it drew any."""
    play: HallelujaRound = unfolding.game.play
    if len(play.pile) < count and len(play.laid) > 1:
        under_top = [NAMES[card] for card in play.laid[:-1]]
        shuffled = unfolding.chance(randomness.RESHUFFLE, play.reshuffles).shuffled(under_top)
        _record_pile(unfolding, play, shuffled)
    cards = [NAMES[card] for card in play.pile[: -count - 1 : -1]]
    if not cards:
        return False
    unfolding.record_hidden(
        "cards.drawn", {"seat": seat, "reason": reason, "count": len(cards), "cards": cards}
    )
    return True


def _record_pile(unfolding: Unfolding, play: HallelujaRound, laid_under: list[str]) -> None:
    pile = [NAMES[card] for card in reversed(play.pile)] + laid_under
    unfolding.record_hidden("pile.reshuffled", {"count": len(pile), "draw_pile": pile})
