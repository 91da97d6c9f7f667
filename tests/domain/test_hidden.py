"""Nothing that a seat should not know reaches it: in views, events, refusals or legal moves.

Two ways to see it. Hidden cards are permuted among the other seats and the pile: for the viewer the
two worlds must be alike to the byte. And over whole games no hidden card's name may be found in
anything that the viewer gets.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

import pytest

from domain.commands import ComeBack, Context, MakeMove, Resign
from domain.events import CATALOGUE
from domain.game import decide, fold, legal_moves, listed_moves, view
from domain.redaction import EVERYTHING, SPECTATOR, Viewer, redact
from domain.refusals import Refused

from . import naive
from .gallery import random_games, records
from .naive import jcs
from .positions import PLAYERS, SECRET, halleluja, vallelujah
from .referee import WORLDLY
from .whereabouts import Whereabouts

CARD = re.compile(r'"((?:[A-H]-(?:apple|clover|rose|strawberry))|(?:[a-z]+-[1-9]))"')
HIDDEN_FIELDS = ("undealt", "draw_pile", "salt")


def cards_in(value):
    return set(CARD.findall(jcs(value).decode()))


def expected_redaction(event, seat):
    """By the contract's brackets, field by field."""
    data = {name: value for name, value in event.data.items() if name not in HIDDEN_FIELDS}
    if "hands" in data:
        own = {str(seat): data["hands"][str(seat)]} if str(seat) in data["hands"] else {}
        data["hands"] = own
        if not own:
            del data["hands"]
    if event.type == "cards.drawn" and event.data["seat"] != seat:
        del data["cards"]
    return data


def refusal_facts(refusal):
    return {
        "code": refusal.code, "rule": refusal.rule, "detail": refusal.detail,
        "facts": refusal.facts, "errors": refusal.errors,
    }  # fmt: skip


def tries(game, rng, seat, player):
    """What a seat may send in, most of it out of turn or against the rules."""
    cards = naive.CARDS if game.ruleset == "halleluja" else naive.UNITS
    commands = [ComeBack(player), MakeMove(player, {"type": "draw"}, 1, 1)]
    kinds = [{"type": "draw"}, {"type": "keep"}, {"type": "take"}]
    kinds += [{"type": "exclaim", "word": word} for word in WORLDLY]
    for card in rng.sample(cards, 8):
        if game.ruleset == "halleluja":
            kinds.append({"type": "play", "card": card})
            kinds.append({"type": "play", "card": card, "call": "mau"})
        else:
            kinds.append({"type": "lead", "units": [card]})
            kinds.append({"type": "beat", "units": [card]})
            kinds.append({"type": "take", "take": card})
    kinds += legal_moves(game, seat)[:6]
    return commands + [MakeMove(player, move) for move in kinds]


def answer(table, game, command, viewer):
    """What the viewer gets back: the redacted events and the new view, or the refusal.

    None where the worlds must differ in public: the viewer's own new cards, a new deal, a game
    that is over, and what is picked from the hand of a seat that is away.
    """
    try:
        decision = decide(game, command, Context(table.secret, table.now))
    except Refused as refusal:
        return refusal_facts(refusal)
    events = []
    for event in decision.events:
        if event.type == "cards.drawn" and event.data["seat"] == viewer.seat:
            return None
        if event.type == "round.dealt" or event.by["kind"] == "clock" or decision.game.over:
            return None
        events.append(redact(table_event(table, event), viewer, over=False))
    return [events, view(decision.game, viewer)]


def table_event(table, event):
    template = table.log[-1]
    return replace(
        template, version=event.version, type=event.type, by=event.by, data=event.data
    )


class Worlds:
    """A record up to some version, and the same with the hidden cards of its round permuted."""

    def __init__(self, table, version, viewer, rng):
        self.viewer = viewer
        self.log = table.log[:version]
        deal = max(i for i, event in enumerate(self.log) if event.type == "round.dealt")
        known = set()
        for event in self.log[deal:]:
            known |= cards_in(expected_redaction(event, viewer.seat))
        whole = {card for event in self.log[deal:] for card in cards_in(event.data)}
        self.hidden = sorted(whole - known)
        mixed = rng.sample(self.hidden, len(self.hidden))
        self.mapping = dict(zip(self.hidden, mixed, strict=True))
        self.other = [
            *self.log[:deal],
            *(replace(event, data=self.permuted(event.data)) for event in self.log[deal:]),
        ]

    def permuted(self, value):
        if isinstance(value, dict):
            return {name: self.permuted(entry) for name, entry in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.permuted(entry) for entry in value]
        return self.mapping.get(value, value) if isinstance(value, str) else value


def compare_worlds(table, version, viewer, rng):
    """Fold both worlds and compare everything that reaches the viewer, byte by byte."""
    worlds = Worlds(table, version, viewer, rng)
    here, there = (fold(table.game.game_id, log) for log in (worlds.log, worlds.other))
    for mine, yours in zip(worlds.log, worlds.other, strict=True):
        assert jcs(redact(mine, viewer, False)) == jcs(redact(yours, viewer, False))
    assert jcs(view(here, viewer)) == jcs(view(there, viewer))
    if viewer.seat is None:
        return worlds
    whole_append = version == len(table.log) or table.log[version].at != table.log[version - 1].at
    for function in (legal_moves, listed_moves):
        one, other = (list(function(game, viewer.seat)) for game in (here, there))
        assert jcs(one) == jcs(other)
    if not whole_append:
        return worlds  # nobody can send a move in the middle of an append
    player = here.seats[viewer.seat].player_id
    for command in tries(here, rng, viewer.seat, player) if player else []:
        one, other = (answer(table, game, command, viewer) for game in (here, there))
        assert jcs(one) == jcs(other), command
    for seat in here.active:
        player = here.seats[seat].player_id
        if seat == viewer.seat or player is None:
            continue
        commands = [Resign(player)]
        if here.ruleset == "halleluja":
            commands.append(MakeMove(player, {"type": "exclaim", "word": "mau"}))
        for command in commands:
            one, other = (answer(table, game, command, viewer) for game in (here, there))
            assert jcs(one) == jcs(other), command
    return worlds


def running_versions(table):
    """The versions at which a round runs."""
    first = next((e.version for e in table.log if e.type == "round.dealt"), None)
    if first is None:
        return []
    last = table.log[-1].version - (1 if table.game.over else 0)
    return list(range(first, last + 1))


def viewers(table):
    return [SPECTATOR, *(Viewer(seat) for seat in sorted(table.game.seats))]


def test_permuting_hidden_cards_changes_nothing_for_the_viewer():
    rng = random.Random("permutations")
    tables = records()
    for play in random_games(16):
        for _ in play.play():
            pass
        tables.append(play.table)
    met, moved = Counter(), 0
    for table in tables:
        versions = running_versions(table)
        met.update(event.type for event in table.log)
        for viewer in viewers(table):
            for version in rng.sample(versions, min(4, len(versions))):
                worlds = compare_worlds(table, version, viewer, rng)
                moved += sum(card != other for card, other in worlds.mapping.items())
            # Also what no round has: the lobby and the end, as if the game still ran.
            for event in table.log:
                shown = redact(event, viewer, False)
                expected = expected_redaction(event, viewer.seat)
                # Whether a spectator's deal has no hands or an empty object is left open.
                assert {"hands": {}, **shown["data"]} == {"hands": {}, **expected}
    assert set(CATALOGUE) == set(met), set(CATALOGUE) ^ set(met)
    assert moved > 2000


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_a_permutation_at_every_version_of_one_round(seat):
    """Down to single swaps, at every point of a game of each kind."""
    rng = random.Random(f"each {seat}")
    for play in random_games(4):
        for _ in play.play():
            pass
        for version in running_versions(play.table)[:120:3]:
            compare_worlds(play.table, version, Viewer(seat), rng)


def hidden_from(places, seat):
    held = [*places.hands.items(), *places.left.items()]
    cards = {card for other, hand in held if other != seat for card in hand}
    return cards | set(places.pile)


def test_no_hidden_card_is_named_in_anything_a_seat_gets():
    """Nor a salt, nor the secret, that would let it be guessed."""
    for play in random_games(12):
        table, places = play.table, Whereabouts(play.table.game.ruleset)
        for events in play.play():
            for event in events:
                places.follow(event)
            if table.game.over:
                continue
            secrets = [table.secret.hex(), *(e.data["salt"] for e in events if "salt" in e.data)]
            for viewer in viewers(table):
                seen = view(table.game, viewer)
                assert not cards_in(seen) & hidden_from(places, viewer.seat)
                new = [redact(event, viewer, False) for event in events]
                assert not cards_in(new) & still_hidden(events, places, viewer.seat)
                text = jcs([seen, new]).decode()
                assert not [secret for secret in secrets if secret in text]


def still_hidden(events, places, seat):
    """Hidden now, and not seen on the table or in the seat's hand during these events."""
    public = set()
    for event in events:
        public |= cards_in(expected_redaction(event, seat))
    return hidden_from(places, seat) - public


def test_a_refusal_names_no_card_that_its_sender_does_not_know():
    for play in random_games(12):
        table, places, rng = play.table, Whereabouts(play.table.game.ruleset), random.Random(1)
        for events in play.play():
            for event in events:
                places.follow(event)
            if table.game.over or rng.random() > 0.15:
                continue
            for seat in table.game.active:
                player = table.game.seats[seat].player_id
                for command in tries(table.game, rng, seat, player) if player else []:
                    try:
                        decide(table.game, command, Context(table.secret, table.now))
                    except Refused as refusal:
                        sent = cards_in(getattr(command, "move", {}))
                        text = jcs(refusal_facts(refusal)).decode()
                        unknown = hidden_from(places, seat) - sent
                        assert not [card for card in unknown if card in text], text
                        assert table.secret.hex() not in text


def test_whether_another_holds_a_card_cannot_be_asked():
    """Playing a card that one does not hold is refused alike wherever that card is."""
    def refusal(where):
        hands = [["B-rose", "A-apple"], ["D-clover", "D-rose"], ["F-rose", "H-clover"]]
        pile = ["H-rose", "H-apple"]
        (hands[1] if where == "hand" else pile)[0] = "A-strawberry"
        (pile if where == "hand" else hands[1])[0] = "D-clover"
        table = halleluja(hands, "A-clover", pile=pile)
        return refusal_facts(table.refused(table.command(0, "play", card="A-strawberry")))

    assert refusal("hand") == refusal("pile")


def test_a_draw_of_another_shows_its_count_only():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=["F-rose", "F-apple"]
    )
    table.move(0, "draw")
    own, other, spectator = (table.redacted(seat)[-1]["data"] for seat in (0, 1, None))
    assert own["cards"] == ["F-rose"]
    public = {"seat": 0, "reason": "no-match", "count": 1, "turn": {"seat": 1, "number": 2}}
    assert other == spectator == public
    assert "salt" not in own


def test_a_drawn_card_that_fits_is_seen_by_its_seat_alone():
    table = halleluja(
        [["B-rose", "C-clover"], ["D-clover", "D-rose"]], "A-apple", pile=["F-apple", "F-rose"]
    )
    table.move(0, "draw")
    assert table.seen(0)["you"]["drawn"] == "F-apple"
    for seat in (1, None):
        assert "F-apple" not in jcs(table.seen(seat)).decode()
        assert "drawn" not in table.seen(seat).get("you", {})


def test_redaction_keeps_everything_else_of_an_event():
    table = vallelujah([["gold-1", "gold-2"], ["azure-1", "azure-2"]])
    for event in table.log:
        shown = redact(event, Viewer(1), False)
        assert set(shown) == {
            "game_id", "version", "type", "at", "by", "data", "prev_hash", "hash",
        }  # fmt: skip
        for name in ("game_id", "version", "type", "at", "by", "prev_hash", "hash"):
            assert shown[name] == getattr(event, name)


def test_an_unknown_type_or_field_is_hidden():
    table = vallelujah([["gold-1", "gold-2"], ["azure-1", "azure-2"]])
    event = table.log[-1]
    odd = replace(event, type="hand.shown", data={"seat": 0, "cards": ["gold-1"]})
    assert cards_in(redact(odd, Viewer(1), False)) == set()
    more = replace(event, data={**event.data, "notes": ["gold-1"]})
    assert "notes" not in redact(more, Viewer(1), False)["data"]
    assert redact(more, Viewer(1), True)["data"]["notes"] == ["gold-1"]


def test_redaction_changes_no_event():
    table = vallelujah([["gold-1", "gold-2"], ["azure-1", "azure-2"]])
    before = jcs([event.data for event in table.log])
    shown = [redact(event, Viewer(0), False) for event in table.log]
    assert shown
    assert jcs([event.data for event in table.log]) == before


def test_after_the_game_everything_is_open_to_everyone():
    for play in random_games(4):
        for _ in play.play():
            pass
        table, places = play.table, Whereabouts(play.table.game.ruleset)
        for event in table.log:
            places.follow(event)
        for viewer in viewers(table):
            for event in table.log:
                assert redact(event, viewer, True)["data"] == event.data
            seen = view(table.game, viewer)
            assert seen["shuffle"]["secret"] == table.secret.hex()
            for entry in seen["seats"]:
                if entry["seat"] in table.game.active:
                    assert sorted(entry["hand"]) == sorted(places.hands[entry["seat"]])


def test_an_auditor_may_see_everything_while_the_game_runs():
    table = vallelujah([["gold-1", "gold-2"], ["azure-1", "azure-2"]])
    for event in table.log:
        assert redact(event, EVERYTHING, False)["data"] == event.data
    assert SECRET.hex() not in jcs(view(table.game, EVERYTHING)).decode()


def test_a_private_tables_players_are_no_more_informed():
    """Visibility decides who may look, not what is seen."""
    table = halleluja([["A-rose", "B-rose"], ["C-rose", "D-rose"]], "F-rose")
    assert PLAYERS[1] in jcs(table.seen(0)).decode()
    assert "C-rose" not in jcs(table.seen(0)).decode()
