"""How each type of move of Halleluja is judged, and recorded with what follows from it."""

from __future__ import annotations

from typing import Any

from .. import randomness
from ..refusals import Refused, illegal
from ..rounds import pass_turn, win_round
from ..ruleset import Move
from ..unfolding import Unfolding
from .cards import (
    ANNOYED,
    BIT,
    FIGURE,
    FIGURES,
    MITRE,
    NAMES,
    SITTING,
    SYMBOLS,
    names,
)
from .moves import DUE_CALLS, may_play
from .round import WORLDLY_WORDS, HallelujaRound

FORGOTTEN_CALL_COSTS = 1
WORLDLY_WORD_COSTS = 3
WORLDLY_WORDS_HEARD = 3
ANNOYED_DRAWS = 2


def _play_card(unfolding: Unfolding, seat: int, move: Move) -> None:
    game = unfolding.game
    play: HallelujaRound = game.play
    name = move["card"]
    if not BIT[name] & may_play(play, seat):
        raise _refusal(play, seat, name)
    kind = FIGURE[name]
    data: dict[str, Any] = {"seat": seat, "card": name}
    if "wish" in move:
        if kind != MITRE:
            wish = move["wish"]
            raise illegal("halleluja.wish", "Only a G carries a wish.", card=name, wish=wish)
        data["wish"] = move["wish"]
    call, due = move.get("call"), DUE_CALLS.get(play.hands[seat].bit_count())
    if call is not None:
        if call in WORLDLY_WORDS:
            _require_ears(play, seat, call)
        data["call"] = call
    unfolding.record("card.played", data)
    if call != due:
        if call in WORLDLY_WORDS:
            _draw(unfolding, seat, WORLDLY_WORD_COSTS, "worldly-call")
        elif due is not None:
            _draw(unfolding, seat, FORGOTTEN_CALL_COSTS, "forgotten-call")
    if not play.hands[seat]:
        win_round(unfolding, seat, "emptied")
    else:
        _EFFECTS[kind](unfolding, game.following[seat])


def _refusal(play: HallelujaRound, seat: int, name: str) -> Refused:
    """Why `seat`, whose turn it is, may not play the card `name`."""
    if not BIT[name] & play.hands[seat]:
        return illegal("halleluja.own-card", "You do not hold {card}.", card=name)
    if play.pending:
        return illegal(
            "halleluja.annoyed-stacks",
            "You face {pending_draw} cards: play an E, or draw them first.",
            card=name,
            pending_draw=play.pending,
        )
    if play.drawn is not None:
        drawn = NAMES[play.drawn]
        return illegal(
            "halleluja.drawn-card",
            "You have drawn {drawn}: play it or keep it.",
            card=name,
            drawn=drawn,
        )
    top, in_force = NAMES[play.top], SYMBOLS[play.symbol_in_force]
    return illegal(
        "halleluja.match",
        "{card} has neither the figure {top[0]} nor the symbol {symbol_in_force}.",
        card=name,
        top=top,
        symbol_in_force=in_force,
    )


def _require_ears(play: HallelujaRound, seat: int, word: str) -> None:
    if play.worldly.get(seat, 0) >= WORLDLY_WORDS_HEARD:
        raise illegal(
            "halleluja.three-words",
            "The Abbot has heard three worldly words from you in this round and hears no more.",
            word=word,
            heard=WORLDLY_WORDS_HEARD,
        )


def _skip(unfolding: Unfolding, neighbour: int) -> None:
    unfolding.record("turn.skipped", {"seat": neighbour})
    pass_turn(unfolding, unfolding.game.next_active(neighbour))


def _annoy(unfolding: Unfolding, neighbour: int) -> None:
    game = unfolding.game
    if not game.options["annoyed_stacks"]:
        drew = _draw(unfolding, neighbour, ANNOYED_DRAWS, "annoyed")
        if game.options["annoyed_ends_turn"]:
            if not drew:
                unfolding.record("turn.passed", {"seat": neighbour})
            neighbour = game.next_active(neighbour)
    pass_turn(unfolding, neighbour)


_EFFECTS = tuple(
    {SITTING: _skip, ANNOYED: _annoy}.get(kind, pass_turn) for kind in range(len(FIGURES))
)
"""What a card does to the next seat, by its figure."""


def _draw_card(unfolding: Unfolding, seat: int, move: Move) -> None:
    game = unfolding.game
    play: HallelujaRound = game.play
    if play.pending:
        _draw(unfolding, seat, play.pending, "annoyed")
        if game.options["annoyed_ends_turn"]:
            pass_turn(unfolding, game.next_active(seat))
        return
    if play.drawn is not None:
        drawn = NAMES[play.drawn]
        raise illegal(
            "halleluja.drawn-card",
            "You have drawn {drawn} already: play it or keep it.",
            drawn=drawn,
        )
    fitting = play.hands[seat] & play.fitting
    if fitting:
        raise illegal(
            "halleluja.must-play",
            "You hold a card that you may play, so you may not draw.",
            playable=names(fitting),
        )
    if not _draw(unfolding, seat, 1, "no-match"):
        unfolding.record("turn.passed", {"seat": seat})
    elif play.hands[seat] & play.fitting:
        # Nothing else fitted, so it is the drawn card that does; it may be played still.
        return
    pass_turn(unfolding, game.next_active(seat))


def _keep_card(unfolding: Unfolding, seat: int, move: Move) -> None:
    if unfolding.game.play.drawn is None:
        raise illegal("halleluja.drawn-card", "You have not drawn a card that you could keep.")
    unfolding.record("card.kept", {"seat": seat})
    pass_turn(unfolding, unfolding.game.next_active(seat))


def _exclaim(unfolding: Unfolding, seat: int, move: Move) -> None:
    _require_ears(unfolding.game.play, seat, move["word"])
    unfolding.record("word.exclaimed", {"seat": seat, "word": move["word"]})
    _draw(unfolding, seat, WORLDLY_WORD_COSTS, "worldly-call")


_name = NAMES.__getitem__


def _draw(unfolding: Unfolding, seat: int, count: int, reason: str) -> bool:
    """`seat` draws `count` cards, or as many as exist; whether it drew any."""
    play: HallelujaRound = unfolding.game.play
    if len(play.pile) < count and len(play.laid) > 1:
        under_top = [NAMES[card] for card in play.laid[:-1]]
        shuffled = unfolding.chance(randomness.RESHUFFLE, play.reshuffles).shuffled(under_top)
        record_pile(unfolding, play, shuffled)
    cards = [*map(_name, play.pile[: -count - 1 : -1])]
    if not cards:
        return False
    unfolding.record_hidden(
        "cards.drawn", {"seat": seat, "reason": reason, "count": len(cards), "cards": cards}
    )
    return True


def record_pile(unfolding: Unfolding, play: HallelujaRound, laid_under: list[str]) -> None:
    """The draw pile has the shuffled cards `laid_under` it now."""
    pile = [NAMES[card] for card in reversed(play.pile)] + laid_under
    unfolding.record_hidden("pile.reshuffled", {"count": len(pile), "draw_pile": pile})


PERFORMERS = {"play": _play_card, "draw": _draw_card, "keep": _keep_card, "exclaim": _exclaim}
