"""What a generator makes of the document, as it is in the Python package, plays whole matches."""

from __future__ import annotations

import importlib
import random
from pathlib import Path
from typing import Any

import pytest

from tests.api.server import Server

PACKAGE = "abbot_client.generated"
MOST_MOVES = 3000


def _operation(tag: str, name: str) -> Any:
    return importlib.import_module(f"{PACKAGE}.api.{tag}.{name}")


def _models() -> Any:
    return importlib.import_module(f"{PACKAGE}.models")


def _client(url: str, name: str) -> Any:
    """An authenticated client of a new player."""
    package = importlib.import_module(PACKAGE)
    nobody = package.Client(base_url=url, raise_on_unexpected_status=True)
    new = _models().NewPlayer(name=name)
    player = _operation("players", "register_player").sync(client=nobody, body=new)
    return package.AuthenticatedClient(
        base_url=url, token=player.token, raise_on_unexpected_status=True
    )


def test_every_module_of_it_can_be_imported(importable: Path) -> None:
    folder = importable.joinpath(*PACKAGE.split("."))
    modules = [path.relative_to(importable) for path in folder.rglob("*.py")]
    assert len(modules) > 100
    for path in modules:
        importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))


@pytest.mark.parametrize("ruleset", ["halleluja", "vallelujah"])
def test_it_plays_a_match(importable: Path, server: Server, ruleset: str) -> None:
    models, unset = _models(), importlib.import_module(f"{PACKAGE}.types").UNSET
    host, guest = _client(server.url, "Host"), _client(server.url, "Guest")
    new = models.NewGame(
        ruleset=models.NewGameRuleset(ruleset),
        options=models.TableOptions(rounds_to_win=1),
        turn_seconds=3600,
    )
    game = _operation("games", "create_game").sync(client=host, body=new)
    assert isinstance(game, models.Game), game
    sat = _operation("seats", "take_seat").sync(game.game_id, client=guest, body=models.NewSeat())
    assert isinstance(sat, models.Game), sat
    game = _operation("play", "start_game").sync(
        game.game_id, client=host, body=models.EmptyObject()
    )
    assert game.status == "active", game
    seats, dice, events = [host, guest], random.Random(7), 0
    for _ in range(MOST_MOVES):
        if game.status != "active":
            break
        mover = seats[game.turn.seat]
        listed = _operation("play", "list_legal_moves").sync(game.game_id, client=mover)
        entry = dice.choice(listed.legal_moves)
        move = entry.move
        if entry.take_from is not unset:
            move.take = dice.choice(entry.take_from)
        if entry.call_due is not unset:
            move.call = models.MoveCall(entry.call_due)
        made = _operation("play", "make_move").sync(game.game_id, client=mover, body=move)
        assert isinstance(made, models.MadeMove), made
        # Each event came as the class of its own type.
        assert not any(isinstance(event, models.OtherEvent) for event in made.events)
        events += len(made.events)
        game = made.game
    assert game.status == "finished", game
    page = _operation("events", "list_events").sync(game.game_id, client=guest, limit=1000)
    assert len(page.items) >= min(events, 1000)
    assert {type(event).__name__ for event in page.items} >= {"GameCreatedEvent", "GameWonEvent"}
