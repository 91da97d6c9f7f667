"""Leaving over HTTP, in every seat and every phase: the others play on, and all is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.api.asking import ask
from tests.api.matches import Match
from tests.api.server import Server, serving
from tests.databases import Scratch

RULESETS = ("halleluja", "vallelujah")
SEATS = 3


@pytest.fixture(scope="module")
def server(scratch: Scratch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(scratch, tmp_path_factory.mktemp("leaving")) as running:
        yield running


def before_any_move(match: Match, seat: int) -> None:
    """Nobody has moved."""


def on_its_turn(match: Match, seat: int) -> None:
    """It is the seat's turn, in the midst of a round."""
    match.move()
    while match.game()["turn"]["seat"] != seat:
        match.move()


def on_anothers_turn(match: Match, seat: int) -> None:
    """It is another's turn, in the midst of a round."""
    on_its_turn(match, seat)
    while match.game()["turn"]["seat"] == seat:
        match.move()


def right_after_its_move(match: Match, seat: int) -> None:
    """The seat has just moved, and the next turn has begun."""
    on_its_turn(match, seat)
    match.move()


def in_a_later_round(match: Match, seat: int) -> None:
    """A round is over, and the next one has been dealt."""
    for _ in range(2000):
        if match.game().get("round", {}).get("number") == 2:
            return
        match.move()
    raise AssertionError("the first round does not end")


PHASES = (before_any_move, on_its_turn, on_anothers_turn, right_after_its_move, in_a_later_round)


def by(match: Match, seat: int, method: str, rest: str, body: Any = None) -> Any:
    token = match.seats[seat].token
    return ask(match.port, method, f"{match.url}{rest}", body, token=token)


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("phase", PHASES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("seat", range(SEATS))
def test_a_seat_leaves_and_the_others_play_on(
    server: Server, ruleset: str, phase: Callable[[Match, int], None], seat: int
) -> None:
    match = Match.opened(server.port, SEATS, ruleset, options={"rounds_to_win": 2})
    match.start()
    phase(match, seat)
    gone = by(match, seat, "POST", "/resign", {})
    version = gone.body["version"]
    assert (gone.status, gone.body["seats"][seat]["status"]) == (200, "resigned")
    again = by(match, seat, "POST", "/resign", {})
    assert (again.status, again.body["version"]) == (200, version)
    assert gone.body["you"]["legal_moves"] == []
    for rest, body in (("/moves", {"type": "draw"}), ("/moves?dry_run=true", {"type": "take"})):
        assert by(match, seat, "POST", rest, body).code == "forbidden"
    by(match, seat, "POST", "/back", {})
    assert match.game()["version"] == version
    others = [each for each in range(SEATS) if each != seat]
    for _ in range(8):
        game = match.game(others[0])
        if game["status"] != "active":
            break
        assert game["turn"]["seat"] in others
        match.move()
    if match.game()["status"] == "active":
        by(match, others[0], "POST", "/resign", {})
        result = match.game()["result"]
        assert (result["winner"], result["reason"]) == (others[1], "resignations")
    report = ask(server.port, "GET", f"{match.url}/audit").body
    assert report["ok"], report
    events = match.seats[0].history(f"{match.path}/events")
    named = [each for each in events if each["version"] > version and each["type"] != "game.won"]
    assert all(each["by"].get("seat") != seat for each in named)
    dealt = [each for each in named if each["type"] == "round.dealt"]
    assert all(str(seat) not in each["data"]["hands"] for each in dealt)
    match.close()


@pytest.mark.parametrize("ruleset", RULESETS)
@pytest.mark.parametrize("seat", range(2))
@pytest.mark.parametrize("phase", PHASES[:4], ids=lambda each: each.__name__)
def test_of_two_the_other_wins_at_once(
    server: Server, ruleset: str, phase: Callable[[Match, int], None], seat: int
) -> None:
    match = Match.opened(server.port, 2, ruleset, options={"rounds_to_win": 9})
    match.start()
    phase(match, seat)
    over = by(match, seat, "POST", "/resign", {}).body
    assert (over["status"], over["result"]["winner"]) == ("finished", 1 - seat)
    assert "turn" not in over
    move = {"type": "draw" if ruleset == "halleluja" else "take"}
    assert by(match, 1 - seat, "POST", "/moves", move).code == "game-not-active"
    assert by(match, seat, "POST", "/resign", {}).body["version"] == over["version"]
    assert ask(server.port, "GET", f"{match.url}/audit").body["ok"]
    match.close()


@pytest.mark.parametrize("seat", range(SEATS))
def test_after_the_start_a_seat_is_not_given_up(server: Server, seat: int) -> None:
    match = Match.opened(server.port, SEATS)
    version = match.start()
    assert by(match, seat, "DELETE", "/seats/me").code == "not-in-lobby"
    assert match.game()["version"] == version
    match.close()


@pytest.mark.parametrize("seat", range(SEATS))
def test_in_the_lobby_a_seat_is_free_again(server: Server, seat: int) -> None:
    match = Match.opened(server.port, SEATS)
    left = by(match, seat, "DELETE", "/seats/me")
    assert left.status == 200
    assert "you" not in left.body
    game = match.game()
    assert [each["seat"] for each in game["seats"]] == [n for n in range(SEATS) if n != seat]
    assert game["host"] == (0 if seat else 1)
    assert by(match, seat, "DELETE", "/seats/me").body["version"] == game["version"]
    back = by(match, seat, "POST", "/seats", {})
    assert (back.status, back.body["you"]["seat"]) == (201, seat)
    assert back.body["host"] == (0 if seat else 1)
    match.close()


@pytest.mark.parametrize("ruleset", RULESETS)
def test_what_the_hand_of_one_who_left_holds_stays_hidden(server: Server, ruleset: str) -> None:
    match = Match.opened(server.port, SEATS, ruleset)
    match.start()
    hand = match.game(2)["you"]["hand"]
    by(match, 2, "POST", "/resign", {})
    for seat in (0, None):
        token = None if seat is None else match.seats[seat].token
        own = [] if seat is None else match.game(seat)["you"]["hand"]
        for rest in ("", "/events", "/states/5"):
            reply = ask(server.port, "GET", f"{match.url}{rest}", token=token)
            told = json.dumps(reply.body) + json.dumps(reply.headers)
            assert not [card for card in hand if f'"{card}"' in told and card not in own], rest
    match.close()
