"""The record: every event is as the catalogue says, and in canonical JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.canonical import canonical
from domain.events import CATALOGUE
from domain.game import evolve, fold, new_game
from domain.times import from_micros, to_micros

from . import naive
from .gallery import random_games, records
from .positions import dump, started

# The contract's list: type -> (always there, sometimes there).
CONTRACT = {
    "game.created": (
        "ruleset ruleset_version options turn_seconds max_seats visibility commitment",
        "spectator_delay_seconds sandbox"),
    "seat.taken": ("seat", "player_id bot client_seed"),
    "seat.seeded": ("seat client_seed", ""),
    "seat.ready": ("seat", ""),
    "seat.left": ("seat", "host"),
    "table.changed": ("", "options turn_seconds max_seats spectator_delay_seconds"),
    "game.started": ("seats", ""),
    "round.dealt": (
        "round first scores active away expired voids hands undealt salt turn",
        "dealer turned_up ahead_ms"),
    "round.won": ("round seat scores reason", ""),
    "round.void": ("round reason", ""),
    "turn.expired": ("seat due_at", ""),
    "turn.extended": ("seat seconds reason", ""),
    "clock.advanced": ("ahead_ms until_ms", ""),
    "seat.away": ("seat", ""),
    "seat.back": ("seat", ""),
    "seat.resigned": ("seat", "turn"),
    "card.played": ("seat card", "wish call turn"),
    "cards.drawn": ("seat reason count cards salt", "turn"),
    "card.kept": ("seat", "turn"),
    "turn.skipped": ("seat", "turn"),
    "turn.passed": ("seat", "turn"),
    "word.exclaimed": ("seat word", ""),
    "pile.reshuffled": ("count draw_pile salt", "turn"),
    "battalion.led": ("seat units strength", "turn"),
    "battalion.beaten": ("seat units strength discarded", "captured turn"),
    "arena.taken": ("seat captured discarded", "turn"),
    "game.won": ("seat scores reason secret", ""),
    "game.drawn": ("reason secret", ""),
    "game.abandoned": ("reason secret", ""),
    "game.cancelled": ("reason", ""),
}  # fmt: skip
HIDDEN = {
    "round.dealt": {"hands", "undealt", "salt"},
    "cards.drawn": {"cards", "salt"},
    "pile.reshuffled": {"draw_pile", "salt"},
}
REASONS = {
    "round.won": {"emptied", "limit"},
    "round.void": {"repetition", "limit"},
    "turn.extended": {"outage"},
    "cards.drawn": {"no-match", "annoyed", "forgotten-call", "worldly-call"},
    "game.won": {"rounds", "resignations", "void-rounds"},
    "game.drawn": {"void-rounds"},
    "game.abandoned": {"no-players"},
    "game.cancelled": {"empty"},
}
KEYS = st.characters(max_codepoint=127)
HEX32 = re.compile(r"[0-9a-f]{32}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@pytest.fixture(scope="module")
def tables():
    played = []
    for play in random_games(20):
        for _ in play.play():
            pass
        played.append(play.table)
    return [*records(), *played]


def test_the_catalogue_is_the_contracts_list():
    assert set(CATALOGUE) == set(CONTRACT)
    for type, (always, sometimes) in CONTRACT.items():
        fields = {field.name: field for field in CATALOGUE[type].fields}
        assert {n for n, field in fields.items() if field.required} == set(always.split()), type
        assert {n for n, field in fields.items() if not field.required} == set(sometimes.split())
        hidden = {n for n, field in fields.items() if field.visibility != "public"}
        assert hidden == HIDDEN.get(type, set()), type
        assert CATALOGUE[type].type == type
        assert CATALOGUE[type].meaning
        assert all(field.meaning for field in fields.values())
        if type in REASONS:
            assert set(fields["reason"].values) == REASONS[type]


def test_every_event_is_as_the_contract_says(tables):
    met = set()
    for table in tables:
        for event in table.log:
            met.add(event.type)
            always, sometimes = (set(names.split()) for names in CONTRACT[event.type])
            assert always <= set(event.data) <= always | sometimes, event
            if event.type in REASONS:
                assert event.data["reason"] in REASONS[event.type]
            assert None not in event.data.values()
    assert met == set(CONTRACT)


def test_every_event_with_a_hidden_part_carries_its_salt(tables):
    salts = set()
    for table in tables:
        for event in table.log:
            assert ("salt" in event.data) == (event.type in HIDDEN)
            if event.type in HIDDEN:
                assert event.data["salt"] == naive.salt(table.secret, event.version)
                assert HEX32.fullmatch(event.data["salt"])
                salts.add((table.secret, event.data["salt"]))
    assert len(salts) > 100


def test_who_made_it_happen(tables):
    """`seat` is absent in `game.created` only; a player is named by its id."""
    for table in tables:
        players = {}
        for event in table.log:
            assert set(event.by) <= {"kind", "seat", "player_id"}
            assert event.by["kind"] in ("player", "clock", "bot")
            if event.type == "seat.taken":
                players[event.data["seat"]] = event.data.get("player_id")
                assert ("bot" in event.data) != ("player_id" in event.data)
            if event.type == "game.created":
                assert set(event.by) == {"kind", "player_id"}
                continue
            assert event.by["seat"] in players
            if event.by["kind"] == "player":
                assert event.by["player_id"] == players[event.by["seat"]]
            if event.by["kind"] == "bot":
                assert players[event.by["seat"]] is None
                assert "player_id" not in event.by
            if event.type in ("turn.expired", "seat.away"):
                assert event.by["kind"] == "clock"
                assert event.by["seat"] == event.data["seat"]
            if event.type in ("seat.back", "seat.resigned", "word.exclaimed"):
                assert event.by["kind"] == "player"
                assert event.by["seat"] == event.data["seat"]
            if event.type in ("card.played", "card.kept", "battalion.led", "battalion.beaten"):
                assert event.by["seat"] == event.data["seat"]


def test_numbers_of_seats_are_keyed_by_strings_and_name_all_who_started(tables):
    for table in tables:
        seats = []
        for event in table.log:
            if event.type == "game.started":
                seats = event.data["seats"]
                assert seats == sorted(seats)
            for name in ("scores", "expired"):
                if name in event.data:
                    assert set(event.data[name]) == {str(seat) for seat in seats}
            if event.type == "round.dealt":
                assert set(event.data["hands"]) == {str(seat) for seat in event.data["active"]}
                assert event.data["active"] == sorted(event.data["active"])
                assert event.data["away"] == sorted(event.data["away"])
                assert set(event.data["away"]) <= set(event.data["active"])


def test_counts_and_orders(tables):
    for table in tables:
        for event in table.log:
            data = event.data
            if event.type == "cards.drawn":
                assert data["count"] == len(data["cards"]) > 0
            if event.type == "pile.reshuffled":
                assert data["count"] == len(data["draw_pile"]) > 0
            for name in ("units", "discarded"):
                if name in data:
                    assert data[name] == sorted(data[name])
            if "strength" in data:
                powers = sorted((unit[-1] for unit in data["units"]), reverse=True)
                assert data["strength"] == int("".join(powers))
            if event.type == "turn.expired":
                assert TIME.fullmatch(data["due_at"])
                assert to_micros(data["due_at"]) < to_micros(event.at)


def test_turns_are_begun_once_and_in_order(tables):
    """Each turn that an event carries is the next number of its round."""
    for table in tables[len(records()) :]:  # of whole games: set-up positions start anywhere
        number = None
        for event in table.log:
            turn = event.data.get("turn")
            if turn is None:
                continue
            assert set(turn) == {"seat", "number"}
            if event.type != "round.dealt":
                assert turn["number"] == number + 1
            elif number is not None:
                assert turn == {"seat": event.data["first"], "number": 1}
            number = turn["number"]


def test_the_secret_is_published_at_the_end_and_fits_the_commitment(tables):
    for table in tables:
        published = [event.data["secret"] for event in table.log if "secret" in event.data]
        if table.game.over and table.game.status != "cancelled":
            assert published == [table.secret.hex()]
            assert "secret" in table.log[-1].data
            commitment = naive.commitment(bytes.fromhex(published[0]), table.game.game_id)
            assert table.log[0].data["commitment"] == commitment
        else:
            assert not published


def test_events_are_plain_json(tables):
    """No floats, no nulls, no keys but strings; canonical as RFC 8785 says."""

    def check(value):
        assert isinstance(value, (dict, list, str, int))
        if isinstance(value, dict):
            assert all(isinstance(name, str) for name in value)
            check(list(value.values()))
        elif isinstance(value, list):
            for entry in value:
                check(entry)

    for table in tables:
        for event in table.log:
            body = {
                "game_id": event.game_id, "version": event.version, "type": event.type,
                "at": event.at, "by": event.by, "data": event.data,
            }  # fmt: skip
            check(event.data)
            check(event.by)
            assert canonical(body) == rfc8785.dumps(body)
            assert canonical(body).startswith(b'{"at":')
            assert json.loads(canonical(body)) == body


@given(
    st.recursive(
        st.one_of(st.booleans(), st.integers(-(2**53) + 1, 2**53 - 1), st.text()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(KEYS), inner),
        max_leaves=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_canonical_json(value):
    """Any text in it; keys are ASCII, as all in the record are."""
    assert canonical(value) == rfc8785.dumps(value)


def test_canonical_form():
    assert canonical({"b": 1, "a": [True, -3], "A": 4}) == b'{"A":4,"a":[true,-3],"b":1}'
    assert canonical("\u20ac$\x0f\nA'B\"\\\x7f/") == '"\u20ac$\\u000f\\nA\'B\\"\\\\\x7f/"'.encode()


# ---- folding


def test_a_fold_is_the_game(tables):
    for table in tables:
        assert dump(fold(table.game.game_id, table.log)) == dump(table.game)


def test_evolving_step_by_step_is_folding(tables):
    for table in tables[:8]:
        game = new_game(table.game.game_id)
        assert game.version == 0
        for event in table.log:
            assert evolve(game, event) is game
            assert game.version == event.version
        assert dump(game) == dump(table.game)


def test_the_game_can_be_seen_as_it_stood_after_any_event(tables):
    """Also in the middle of what was appended at once: between a start and its deal, say."""
    for table in tables:
        game = new_game(table.game.game_id)
        for event in table.log:
            game = evolve(game, event)
            if event.version == 1:
                continue  # the host is not seated yet
            seen = dump(game)
            assert seen["spectator"]["version"] == event.version
            assert seen["spectator"]["status"] == game.status


def test_a_copy_does_not_change_with_its_game(tables):
    for table in tables:
        whole = [e for e, after in zip(table.log, table.log[1:], strict=False) if e.at != after.at]
        for cut in {whole[len(whole) // 2].version, whole[-1].version}:
            game = fold(table.game.game_id, table.log[:cut])
            copy, before = game.copy(), dump(game)
            for event in table.log[cut:]:
                evolve(game, event)
            assert dump(copy) == before
            for event in table.log[cut:]:
                evolve(copy, event)
            assert dump(copy) == dump(game)


def test_a_record_survives_json(tables):
    """As it comes back from a store: through its canonical bytes."""
    for table in tables:
        stored = [
            replace(
                event,
                data=json.loads(canonical(event.data)),
                by=json.loads(canonical(event.by)),
            )
            for event in table.log
        ]
        assert dump(fold(table.game.game_id, stored)) == dump(table.game)


def test_a_gap_in_the_record_is_noticed():
    log = started("vallelujah", 3).log
    with pytest.raises(ValueError, match="version"):
        fold(log[0].game_id, [*log[:2], *log[3:]])


@given(st.integers(0, 4_102_444_800_000_000))
@settings(max_examples=100, deadline=None)
def test_times(micros):
    text = from_micros(micros)
    assert TIME.fullmatch(text)
    assert to_micros(text) == micros
